// SPDX-License-Identifier: Apache-2.0
// Pseudonyms: nothing of the old names is left, equal names stay equal, ports and times as asked.
#include "merge/pseudonyms.h"

#include "data/random.h"
#include "tests/unit/scratch.h"
#include "tests/unit/traces.h"

#include <arpa/inet.h>

static const char trace[] =
    "# bbtrace text 1\n"
    "1.0 CALL_SENT secretweb db.secret:5432 secret17 op=SELECT%20secret status=ok bytes=7 "
    "conn=10.0.0.1:99-10.0.0.2:5432 off=12 obs=secretweb proto=postgresql path=secretpath "
    "parent=secret3 x=secret recv=1.5 end=1.25\n"
    "2.0 RET_SENT db.secret:5432 secretweb secret17 parent=-\n";

static Messages *rename_all(const Messages *all, BbPseudonymOptions options)
{
    Messages *renamed = messages_new();
    bb_names_free(renamed->names);
    renamed->names = all->names; // lent: see forget
    g_autoptr(BbPseudonyms) pseudonyms = bb_pseudonyms_new(&options, renamed->names);
    for (guint i = 0; i < all->messages->len; i++) {
        BbMessage message = *message_at(all, i);
        bb_pseudonyms_apply(pseudonyms, &message);
        messages_keep(renamed, message);
    }
    return renamed;
}

static char *text_of(const Messages *all)
{
    g_autofree char *path = temp_path();
    char *text = NULL;
    write_path(path, BB_TRACE_TEXT, all, 0);
    ck_assert(g_file_get_contents(path, &text, NULL, NULL));
    g_unlink(path);
    return text;
}

// The text of a trace under other names.
static char *rename_text(const char *text, BbPseudonymOptions options)
{
    g_autoptr(Messages) all = read_text(text);
    ck_assert_msg(!all->error, "%s", all->error ? all->error->message : "");
    Messages *renamed = rename_all(all, options);
    char *found = text_of(renamed);
    renamed->names = bb_names_new(); // forget the lent table
    messages_free(renamed);
    return found;
}

#define KEY(text) .key = text, .key_size = strlen(text)

START_TEST(known_pseudonyms)
{
    // HMAC-SHA-256 with the key "k", of "node\0secretweb" and so on, by another program
    g_autofree char *found = rename_text(trace, (BbPseudonymOptions){KEY("k")});
    ck_assert_str_eq(found,
                     "# bbtrace text 1\n"
                     "1.000000 CALL_SENT ncbe2783a879b n6dfae636af83 e63d37762c019e7c "
                     "recv=1.500000 end=1.250000 op=op-582a1ad2f63c status=ok bytes=7 "
                     "conn=c3300b021c60e off=12 obs=ncbe2783a879b proto=postgresql "
                     "path=fcb565429eb87004 parent=eb7379421c349151\n"
                     "2.000000 RET_SENT n6dfae636af83 ncbe2783a879b e63d37762c019e7c parent=-\n");
}
END_TEST

START_TEST(nothing_is_left)
{
    g_autofree char *found = rename_text(trace, (BbPseudonymOptions){KEY("k")});
    g_autofree char *ports = rename_text(trace, (BbPseudonymOptions){KEY("k"), .keep_ports = true});
    ck_assert_ptr_null(strstr(found, "secret"));
    ck_assert_ptr_null(strstr(found, "5432"));
    ck_assert_ptr_null(strstr(found, "10.0.0"));
    ck_assert_ptr_null(strstr(ports, "secret"));
    ck_assert_ptr_null(strstr(ports, "10.0.0"));
    ck_assert_ptr_nonnull(strstr(found, " status=ok bytes=7 "));
    ck_assert_ptr_nonnull(strstr(found, " off=12 "));
    ck_assert_ptr_nonnull(strstr(found, " proto=postgresql "));
    ck_assert_ptr_nonnull(strstr(found, " parent=-"));
}
END_TEST

// Two observers' sightings of a datagram still are one, and nobody can try what it was.
START_TEST(prints_of_datagrams_are_keyed)
{
    const char *datagram = "# bbtrace text 1\n1.0 MSG_SENT a b - conn=a:9-b:53 off=4294967303\n";
    const BbPseudonymOptions ways[] = {
        {KEY("k")},
        {KEY("k"), .labels = BB_LABELS_KEEP},
        {KEY("k"), .only_labels = true},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(ways); i++) {
        g_autofree char *found = rename_text(datagram, ways[i]);
        g_autofree char *again = rename_text(datagram, ways[i]);
        const char *off = strstr(found, " off=");
        ck_assert_ptr_nonnull(off);
        ck_assert_str_eq(found, again);
        guint64 print = g_ascii_strtoull(off + 5, NULL, 10);
        ck_assert_uint_eq(print >> 32, BB_OFFSET_PRINT >> 32);
        ck_assert_uint_ne(print, 4294967303);
    }
    g_autofree char *keyless =
        rename_text(datagram, (BbPseudonymOptions){.labels = BB_LABELS_OFF, .only_labels = true});
    ck_assert_ptr_null(strstr(keyless, " off="));
    g_autofree char *kept =
        rename_text(datagram, (BbPseudonymOptions){.labels = BB_LABELS_KEEP, .only_labels = true});
    ck_assert_ptr_nonnull(strstr(kept, " off=4294967303"));
}
END_TEST

START_TEST(keys_part_names)
{
    g_autofree char *one = rename_text(trace, (BbPseudonymOptions){KEY("one")});
    g_autofree char *again = rename_text(trace, (BbPseudonymOptions){KEY("one")});
    g_autofree char *two = rename_text(trace, (BbPseudonymOptions){KEY("two")});
    ck_assert_str_eq(one, again);
    ck_assert_str_ne(one, two);
}
END_TEST

// What stands where node, receiver and conn of the first message stood.
static void assert_ends(const char *sender, const char *conn, const char *form)
{
    g_autofree char *text = g_strdup_printf(
        "# bbtrace text 1\n1.0 MSG_SENT %s h - conn=%s\n1.0 MSG_SENT h - -\n", sender, conn);
    g_autofree char *found = rename_text(text, (BbPseudonymOptions){KEY("k"), .keep_ports = true});
    g_auto(GStrv) lines = g_strsplit(found, "\n", -1);
    g_auto(GStrv) words = g_strsplit(lines[1], " ", -1), host = g_strsplit(lines[2], " ", -1);
    g_autoptr(GString) shape = g_string_new(words[2]);
    g_string_append_printf(shape, " %s", words[5] ? words[5] : "");
    (void)g_string_replace(shape, host[2], "H", 0);
    for (gsize i = 0; i + 13 <= shape->len; i++) // pseudonyms of others
        if (strchr("nc", shape->str[i]) && strspn(shape->str + i + 1, "0123456789abcdef") >= 12)
            g_string_erase(shape, (gssize)i + 1, 12);
    ck_assert_str_eq(shape->str, form);
}

START_TEST(ports_are_kept_where_wanted)
{
    assert_ends("h", "h:1-h:65535", "H conn=H:1-H:65535");
    assert_ends("h:80", "h:1-x:2", "H:80 conn=H:1-n:2");
    assert_ends("[h]:80", "[h]:1-[x]:2", "H:80 conn=H:1-n:2"); // as IPv6 addresses with ports
    assert_ends("fe80::1", "[fe80::1]:5-h:6", "n conn=n:5-H:6");
    assert_ends("h-1:80", "a-h:1-b-h:2", "n:80 conn=n:1-n:2"); // names may have a dash
    assert_ends("h:123456", "h-h", "n conn=c");                // no port, no connection
    assert_ends("h:", "h:1-h", "n conn=H:1-H");
    assert_ends(":80", "h", "n conn=c");
}
END_TEST

// What stands where the node stood.
static char *node_of(const char *node, BbPseudonymOptions options)
{
    g_autofree char *text = g_strdup_printf("# bbtrace text 1\n1.0 MSG_SENT %s x -\n", node);
    g_autofree char *found = rename_text(text, options);
    g_auto(GStrv) words = g_strsplit(found, " ", -1);
    return g_strdup(words[5]);
}

#define PREFIXES                        \
    (BbPseudonymOptions)                \
    {                                   \
        KEY("k"), .keep_prefixes = true \
    }

START_TEST(known_addresses)
{
    // Bit for bit with HMAC-SHA-256 under "k" of "address\0", 4 or 6, n and n bits, by another
    // program
    static const char *const pairs[][2] = {{"10.0.0.1", "34.165.6.212"},
                                           {"10.0.0.2", "34.165.6.215"},
                                           {"fe80::1", "6064:fbf7:8535:1b0a:30dd:ceeb:a853:cf10"},
                                           {"::", "a59d:8b6b:348b:df7f:1bdb:6a22:3f03:62d6"}};
    for (guint i = 0; i < G_N_ELEMENTS(pairs); i++) {
        g_autofree char *found = node_of(pairs[i][0], PREFIXES);
        ck_assert_str_eq(found, pairs[i][1]);
    }
}
END_TEST

static guint common_bits(const guint8 *a, const guint8 *b, guint bits)
{
    guint n = 0;
    while (n < bits && ((a[n / 8] ^ b[n / 8]) >> (7 - n % 8) & 1) == 0)
        n++;
    return n;
}

// Two addresses have as much in common afterwards as before: no more, no less.
static void check_family(int family, guint bits, BbRandom *random)
{
    guint8 plain[2][16], found[2][16];
    char text[2][INET6_ADDRSTRLEN];
    for (guint round = 0; round < 200; round++) {
        for (guint i = 0; i < 16; i++)
            plain[0][i] = plain[1][i] = (guint8)bb_random_bits(random);
        guint differ = (guint)(bb_random_bits(random) % bits);
        plain[1][differ / 8] ^= (guint8)(0x80u >> (differ % 8));
        for (guint i = differ / 8 + 1; i < 16; i++)
            plain[1][i] = (guint8)bb_random_bits(random);
        for (guint i = 0; i < 2; i++) {
            g_autofree char *renamed =
                node_of(inet_ntop(family, plain[i], text[i], sizeof text[i]), PREFIXES);
            ck_assert_msg(inet_pton(family, renamed, found[i]) == 1, "%s", renamed);
        }
        ck_assert_uint_eq(common_bits(plain[0], plain[1], bits), differ);
        ck_assert_uint_eq(common_bits(found[0], found[1], bits), differ);
    }
}

START_TEST(prefixes_are_kept_where_wanted)
{
    BbRandom random = bb_random_start(test_seed("pseudonyms"));
    check_family(AF_INET, 32, &random);
    check_family(AF_INET6, 128, &random);
}
END_TEST

// In names that are more than an address.
START_TEST(addresses_in_names)
{
    static const char *const shapes[][2] = {{"10.0.0.1@vlan12", "A@n"},
                                            {"10.0.0.1:80", "A@n"},
                                            {"[fe80::1]:80", "B@n"},
                                            {"fe80::1@vni5", "B@n"},
                                            {"10.0.0.1.example", "n"},
                                            {"10.0.0.256", "n"},
                                            {"web:80", "n"},
                                            {"[10.0.0.1]", "n"},
                                            {"@x", "n"}};
    g_autofree char *v4 = node_of("10.0.0.1", PREFIXES), *v6 = node_of("fe80::1", PREFIXES);
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(shapes); i++) {
        char *found = node_of(shapes[i][0], PREFIXES);
        g_autoptr(GString) shape = g_string_new(found);
        ck_assert(g_hash_table_add(seen, found)); // each another
        if (g_str_has_prefix(shape->str, v4))
            g_string_prepend_c(g_string_erase(shape, 0, (gssize)strlen(v4)), 'A');
        else if (g_str_has_prefix(shape->str, v6))
            g_string_prepend_c(g_string_erase(shape, 0, (gssize)strlen(v6)), 'B');
        ck_assert_uint_eq(shape->len, strlen(shapes[i][1]) + 12);
        g_string_truncate(shape, shape->len - 12);
        ck_assert_str_eq(shape->str, shapes[i][1]);
    }
    BbPseudonymOptions ports = PREFIXES;
    ports.keep_ports = true;
    g_autofree char *with4 = node_of("10.0.0.1:80", ports), *with6 = node_of("[fe80::1]:80", ports);
    g_autofree char *want4 = g_strconcat(v4, ":80", NULL), *want6 = g_strdup_printf("[%s]:80", v6);
    ck_assert_str_eq(with4, want4);
    ck_assert_str_eq(with6, want6);
}
END_TEST

START_TEST(labels_as_wanted)
{
    g_autofree char *kept =
        rename_text(trace, (BbPseudonymOptions){KEY("k"), .labels = BB_LABELS_KEEP});
    g_autofree char *off =
        rename_text(trace, (BbPseudonymOptions){KEY("k"), .labels = BB_LABELS_OFF});
    g_autofree char *all = rename_text(trace, (BbPseudonymOptions){KEY("k")});
    g_autofree char *only = rename_text(trace, (BbPseudonymOptions){KEY("k"), .only_labels = true});
    g_autoptr(GString) hashed = g_string_new(all), without = g_string_new(all);
    (void)g_string_replace(hashed, "op=op-582a1ad2f63c", "op=SELECT%20secret", 1);
    (void)g_string_replace(without, "op=op-582a1ad2f63c ", "", 1);
    ck_assert_str_eq(kept, hashed->str);
    ck_assert_str_eq(off, without->str);
    ck_assert_ptr_nonnull(strstr(only, " op=op-582a1ad2f63c "));
    ck_assert_ptr_nonnull(strstr(only, " secretweb db.secret:5432 secret17 "));
    ck_assert_ptr_nonnull(strstr(only, " conn=10.0.0.1:99-10.0.0.2:5432 "));
}
END_TEST

START_TEST(notes_say_what_was_done)
{
    const struct {
        BbPseudonymOptions options;
        const char *note;
    } cases[] = {
        {{0}, "anonymized: names of nodes, operations, ids and connections are pseudonyms"},
        {{.labels = BB_LABELS_KEEP, .keep_ports = true},
         "anonymized: names of nodes, ids and connections are pseudonyms; labels of operations are "
         "kept; ports are kept"},
        {{.labels = BB_LABELS_OFF, .keep_prefixes = true},
         "anonymized: names of nodes, ids and connections are pseudonyms; labels of operations "
         "were left out; common prefixes of addresses are kept"},
        {{.only_labels = true}, "labels of operations are hashed with a key"},
        {{.only_labels = true, .labels = BB_LABELS_OFF}, "labels of operations were left out"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *note = bb_pseudonyms_note(&cases[i].options);
        ck_assert_str_eq(note, cases[i].note);
    }
}
END_TEST

START_TEST(times_move)
{
    static const char text[] = "# bbtrace text 1\n5.0 MSG_SENT a b - recv=6.0 end=7.0\n";
    g_autofree char *late =
        rename_text(text, (BbPseudonymOptions){KEY("k"), .shift_ns = 3600000000000});
    g_autofree char *early =
        rename_text(text, (BbPseudonymOptions){KEY("k"), .shift_ns = -6000000000});
    ck_assert_ptr_nonnull(strstr(late, "\n3605.000000 "));
    ck_assert_ptr_nonnull(strstr(late, " recv=3606.000000 end=3607.000000\n"));
    ck_assert_ptr_nonnull(strstr(early, "\n0.000000 "));
    ck_assert_ptr_nonnull(strstr(early, " recv=0.000000 end=1.000000\n"));
}
END_TEST

START_TEST(clipped_times_are_counted)
{
    g_autoptr(BbNames) names = bb_names_new();
    BbPseudonymOptions options = {KEY("k"), .shift_ns = 10};
    g_autoptr(BbPseudonyms) pseudonyms = bb_pseudonyms_new(&options, names);
    BbMessage message = bb_message_empty();
    message.time_ns = G_MAXINT64 - 10;
    message.end_ns = G_MAXINT64 - 9;
    bb_pseudonyms_apply(pseudonyms, &message);
    ck_assert_int_eq(message.time_ns, G_MAXINT64);
    ck_assert_int_eq(message.end_ns, G_MAXINT64);
    ck_assert_int_eq(message.recv_ns, BB_TIME_NONE);
    ck_assert_uint_eq(bb_pseudonyms_clipped(pseudonyms), 1);
    ck_assert(!bb_id_is_known(message.id) && !message.conn && !message.sender && !message.op);
}
END_TEST

// More ids than are kept for when they come again.
START_TEST(many_ids)
{
    g_autoptr(BbNames) names = bb_names_new();
    BbPseudonymOptions options = {KEY("k")};
    g_autoptr(BbPseudonyms) pseudonyms = bb_pseudonyms_new(&options, names);
    g_autofree BbId *first = g_new(BbId, 100000);
    g_autoptr(GHashTable) seen = g_hash_table_new(g_int64_hash, g_int64_equal);
    for (guint round = 0; round < 2; round++) {
        for (guint i = 0; i < 100000; i++) {
            BbMessage message = bb_message_empty();
            message.id = bb_id_number(i);
            message.path = bb_id_number(i);
            bb_pseudonyms_apply(pseudonyms, &message);
            if (bb_id_equal(message.id, message.path))
                ck_abort_msg("id and path %u are one", i);
            if (round == 0) {
                first[i] = message.id;
                g_hash_table_add(seen, &first[i].number);
            } else if (!bb_id_equal(first[i], message.id)) {
                ck_abort_msg("id %u has two pseudonyms", i);
            }
        }
    }
    ck_assert_uint_eq(g_hash_table_size(seen), 100000);
}
END_TEST

START_TEST(the_map)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(Messages) all = read_text("# bbtrace text 1\n1.0 MSG_SENT b a - op=x,y obs=c\n"
                                        "1.0 MSG_SENT a b -\n");
    g_autoptr(GError) error = NULL;
    g_autofree char *text = NULL;
    const char *path = scratch_path(scratch, "map");
    BbPseudonymOptions options = {KEY("k")};
    GStatBuf found;
    g_autoptr(BbPseudonyms) pseudonyms = bb_pseudonyms_new(&options, all->names);
    for (guint i = 0; i < all->messages->len; i++)
        bb_pseudonyms_apply(pseudonyms, &g_array_index(all->messages, BbMessage, i));
    ck_assert(bb_pseudonyms_write_map(pseudonyms, path, &error));
    ck_assert(g_file_get_contents(path, &text, NULL, NULL));
    ck_assert_int_eq(g_stat(path, &found), 0);
    ck_assert_uint_eq(found.st_mode & 0777, 0600);
    g_auto(GStrv) lines = g_strsplit(text, "\r\n", -1);
    ck_assert_uint_eq(g_strv_length(lines), 6);
    ck_assert_str_eq(lines[0], "kind,name,pseudonym");
    ck_assert(g_str_has_prefix(lines[1], "node,a,n"));
    ck_assert_str_eq(lines[1] + strlen("node,a,"),
                     bb_names_text(all->names, message_at(all, 0)->receiver));
    ck_assert(g_str_has_prefix(lines[2], "node,b,n"));
    ck_assert(g_str_has_prefix(lines[3], "node,c,n"));
    ck_assert(g_str_has_prefix(lines[4], "op,\"x,y\",op-"));
    ck_assert(!bb_pseudonyms_write_map(pseudonyms, "/nowhere/map", &error));
    ck_assert(strstr(error->message, "/nowhere/map"));
    g_clear_error(&error);
    ck_assert(!bb_pseudonyms_write_map(pseudonyms, "/dev/full", &error));
}
END_TEST

TEST_MAIN("pseudonyms", known_pseudonyms, nothing_is_left, prints_of_datagrams_are_keyed,
          keys_part_names, ports_are_kept_where_wanted, known_addresses,
          prefixes_are_kept_where_wanted, addresses_in_names, labels_as_wanted,
          notes_say_what_was_done, times_move, clipped_times_are_counted, many_ids, the_map)
