// SPDX-License-Identifier: Apache-2.0
// Exports that can be read back: what they look like, and that nothing is lost on the way.
#include "tests/unit/exchange.h"

// Has every field.
static Messages *full_message(void)
{
    Messages *all = messages_new();
    BbMessage message = {
        .time_ns = 1047680084482205123,
        .recv_ns = 1047680084482300000,
        .end_ns = G_MAXINT64,
        .bytes = G_MAXUINT64 - 1,
        .id = bb_id_parse(all->names, "id37"),
        .path = bb_id_parse(all->names, "00000000deadbeef"),
        .parent = bb_id_parse(all->names, "-"),
        .offset = 0,
        .conn = "1.2.3.4:5-6.7.8.9:80",
        .extra = "k=v%20w x=y",
        .sender = bb_names_intern(all->names, "node A"),
        .receiver = bb_names_intern(all->names, "-"),
        .op = bb_names_intern(all->names, "say \"hi\", you\n\\"),
        .status = bb_names_intern(all->names, "\xff<"),
        .proto = bb_names_intern(all->names, "http"),
        .observer = bb_names_intern(all->names, "\xc3\xa4"),
        .file = bb_names_intern(all->names, "in one.pcap"),
        .frame = G_MAXUINT32,
        .kind = BB_CALL,
        .at_receiver = true,
    };
    messages_keep(all, message);
    bb_counters_add(all->counters, "tcp.gaps", G_MAXUINT64);
    bb_network_add(all->network, &(BbNetworkEdge){.client = message.sender,
                                                  .server = message.status,
                                                  .connections = 3,
                                                  .packets = G_MAXUINT64,
                                                  .to_client = {1, 2, 2, 2}});
    bb_network_add(all->network, &(BbNetworkEdge){.server = message.receiver});
    return all;
}

static Messages *empty_message(void)
{
    Messages *all = messages_new();
    BbMessage message = bb_message_empty();
    message.time_ns = 0;
    message.id.form = BB_ID_DASH; // as absent
    messages_keep(all, message);
    return all;
}

static void assert_export(const char *form, Messages *all, const char *wanted)
{
    g_autoptr(Messages) taken = all;
    g_autofree char *text = export_text(form, taken);
    ck_assert_str_eq(text, wanted);
}

START_TEST(json_lines)
{
    assert_export("jsonl", full_message(),
                  "{\"time_ns\": 1047680084482205123, \"kind\": \"call\", \"seen\": \"receiver\", "
                  "\"from\": \"node A\", \"to\": \"-\", \"id\": \"id37\", "
                  "\"recv_ns\": 1047680084482300000, \"end_ns\": 9223372036854775807, "
                  "\"op\": \"say \\\"hi\\\", you\\n\\\\\", \"status_hex\": \"ff3c\", "
                  "\"bytes\": 18446744073709551614, \"conn\": \"1.2.3.4:5-6.7.8.9:80\", "
                  "\"off\": 0, \"obs\": \"\xc3\xa4\", \"proto\": \"http\", "
                  "\"file\": \"in one.pcap\", \"frame\": 4294967295, "
                  "\"path\": \"00000000deadbeef\", \"parent\": \"-\", "
                  "\"extra\": \"k=v%20w x=y\"}\n"
                  "{\"network\": \"tcp\", \"client\": \"node A\", \"server_hex\": \"ff3c\", "
                  "\"connections\": 3, \"packets\": 18446744073709551615, \"to_client\": 1, "
                  "\"to_client_sum_ns\": 2, \"to_client_least_ns\": 2, "
                  "\"to_client_most_ns\": 2}\n"
                  "{\"network\": \"tcp\", \"server\": \"-\"}\n"
                  "{\"counter\": \"tcp.gaps\", \"value\": 18446744073709551615}\n");
    assert_export("jsonl", empty_message(), "{\"time_ns\": 0, \"kind\": \"message\"}\n");
    assert_export("jsonl", messages_new(), "");
}
END_TEST

#define HEADER                                                                                   \
    "time_ns,kind,seen,from,to,id,recv_ns,end_ns,op,status,bytes,conn,off,obs,proto,file,frame," \
    "path,parent,extra\r\n"

START_TEST(csv)
{
    assert_export("csv", full_message(),
                  HEADER "1047680084482205123,call,receiver,node A,-,id37,1047680084482300000,"
                         "9223372036854775807,\"say \"\"hi\"\", you\n\\\",\xff<,"
                         "18446744073709551614,1.2.3.4:5-6.7.8.9:80,0,\xc3\xa4,http,"
                         "in one.pcap,4294967295,00000000deadbeef,-,k=v%20w x=y\r\n");
    assert_export("csv", empty_message(), HEADER "0,message,,,,,,,,,,,,,,,,,,\r\n");
    assert_export("csv", messages_new(), HEADER);
}
END_TEST

START_TEST(text_is_the_text_trace)
{
    assert_export("text", empty_message(), "# bbtrace text 1\n0.000000 MSG_SENT - - -\n");
}
END_TEST

static void assert_round_trip(const char *form, const Messages *all, bool all_told)
{
    g_autoptr(Scratch) scratch = scratch_new();
    const char *path = scratch_path(scratch, "out");
    export_path(form, path, all);
    g_autoptr(Messages) again = import_path(form, path, NULL, false);
    check_same(all, again, false);
    for (guint i = 0; i < bb_counters_count(all->counters); i++)
        ck_assert_uint_eq(bb_counters_get(again->counters, bb_counters_name(all->counters, i)),
                          all_told ? bb_counters_value(all->counters, i) : 0);
    if (!all_told)
        return;
    check_same_network(all, again);
    g_autofree char *before = export_text("text", all), *after = export_text("text", again);
    ck_assert_str_eq(before, after);
}

START_TEST(nothing_is_lost_between)
{
    guint32 seed = test_seed("export");
    g_autoptr(Messages) random = random_messages(seed, 3000);
    g_autoptr(Messages) empty = empty_message();
    random_network(random, seed, 300);
    ck_assert_uint_gt(bb_network_count(random->network), 20);
    assert_round_trip("jsonl", random, true);
    assert_round_trip("csv", random, false);
    empty->messages->len = 0; // of JSON Lines nothing is left, and import takes no empty file
    assert_round_trip("csv", empty, false);
}
END_TEST

static char *read_facts(const char *lines, const char *columns)
{
    g_autofree char *text = g_strconcat(lines, "{\"time_ns\": 1, \"from\": \"a\"}\n", NULL);
    return import_as_text("jsonl", text, columns, false);
}

static void assert_facts(const char *lines, const char *columns, const char *wanted)
{
    g_autofree char *text = read_facts(lines, columns);
    ck_assert_msg(strstr(text, wanted), "%s: %s", lines, text);
}

START_TEST(facts_of_others)
{
    // what a later version has is passed over, what is no fact is an error
    assert_facts("{\"network\": \"tcp\", \"server\": \"b\", \"tomorrow\": \"x\", \"packets\": 2, "
                 "\"client\": \"a\"}\n",
                 NULL, "MSG_SENT a - -\n# network a b packets=2\n");
    assert_facts("{\"network\": \"udp\"}\n", NULL, "in:1: facts on the network are not");
    assert_facts("{\"network\": 7}\n", NULL, "in:1: facts on the network are not");
    assert_facts("{\"network\": \"tcp\", \"packets\": \"2\"}\n", NULL, "no whole number");
    assert_facts("{\"network\": \"tcp\", \"packets\": -2}\n", NULL, "no whole number");
    assert_facts("{\"network\": \"tcp\", \"client\": 2}\n", NULL,
                 "a node of the network is no text");
    assert_facts("{\"network\": \"tcp\", \"client_hex\": \"f\"}\n", NULL, "hexadecimal");
    // keys that the user maps are fields
    assert_facts("{\"network\": \"n\", \"time_ns\": 0}\n", "columns=from=network",
                 "MSG_SENT n - -\n");
    assert_facts("{\"counter\": \"n\", \"time_ns\": 0}\n", "columns=from=counter",
                 "MSG_SENT n - -\n");
}
END_TEST

START_TEST(frames_are_numbers_from_1)
{
    assert_facts("{\"time_ns\": 0, \"frame\": 0}\n", NULL,
                 "the number of a frame is 1 to 4294967295");
    assert_facts("{\"time_ns\": 0, \"frame\": 4294967296}\n", NULL, "the number of a frame is");
    assert_facts("{\"time_ns\": 0, \"frame\": 4294967295, \"file\": \"x\"}\n", NULL,
                 "file=x frame=4294967295\n");
}
END_TEST

START_TEST(what_cannot_be_written_is_told)
{
    static const char *const forms[] = {"text", "jsonl", "csv"};
    g_autoptr(Messages) all = full_message();
    for (gsize i = 0; i < G_N_ELEMENTS(forms); i++) {
        const BbExporter *exporter = bb_exporter_find(forms[i]);
        g_autoptr(GError) error = NULL;
        ck_assert_ptr_null(exporter->open("/nowhere/x", all->names, &error));
        ck_assert(strstr(error->message, "/nowhere/x"));
        g_clear_error(&error);
        gpointer writing = exporter->open("/dev/full", all->names, &error);
        ck_assert_ptr_nonnull(writing);
        bool good = true;
        for (guint n = 0; good && n < 10000; n++) // more than all buffers
            good = exporter->push(writing, message_at(all, 0), &error);
        if (good)
            good = exporter->finish(writing, all->counters, &error);
        ck_assert(!good);
        ck_assert_msg(strstr(error->message, "/dev/full") && strstr(error->message, "space"), "%s",
                      error->message);
        exporter->free(writing);
    }
}
END_TEST

START_TEST(the_table)
{
    const BbExporter *exporter = NULL;
    gsize count = 0;
    for (; (exporter = bb_exporter_at(count)); count++) {
        ck_assert_ptr_eq(bb_exporter_find(exporter->name), exporter);
        ck_assert(exporter->about[0]);
        g_autofree char *file = g_strdup_printf("a.b/x.%s", exporter->endings[0]);
        ck_assert_ptr_eq(bb_exporter_of_file(file), exporter);
    }
    ck_assert_uint_eq(count, 4);
    ck_assert_ptr_null(bb_exporter_find("xml"));
    ck_assert_ptr_eq(bb_exporter_of_file("X.DB"), &bb_exporter_sqlite);
    static const char *const others[] = {"csv", "x.csv/y", "x.", "x.csv.gz", ""};
    for (gsize i = 0; i < G_N_ELEMENTS(others); i++)
        ck_assert_ptr_null(bb_exporter_of_file(others[i]));
}
END_TEST

TEST_MAIN("export", json_lines, csv, text_is_the_text_trace, nothing_is_lost_between,
          facts_of_others, frames_are_numbers_from_1, what_cannot_be_written_is_told, the_table)
