// SPDX-License-Identifier: Apache-2.0
// Ends of connections named by process: what records say, who wins, what is hostile, what is
// waited for. The test plays the process that looks.
#include "capture/endpoints.h"
#include "capture/packet.h"
#include "capture/processes/look.h"
#include "capture/processes/processes.h"
#include "tests/unit/test.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static BbAddress at(const char *text)
{
    BbAddress address;
    ck_assert_msg(bb_address_parse(text, &address), "%s", text);
    return address;
}

// peer NULL: one that waits.
static BbSocketKey key_of(const char *local, guint16 port, const char *peer, guint16 peer_port)
{
    BbSocketKey key = {.local = at(local), .port = port, .protocol = BB_SOCKET_TCP};
    if (peer) {
        key.peer = at(peer);
        key.peer_port = peer_port;
    }
    return key;
}

static BbRecord socket_of(const char *name, BbSocketKey key)
{
    BbRecord record = {.kind = BB_RECORD_SOCKET, .key = key};
    g_strlcpy(record.name, name, sizeof record.name);
    return record;
}

static BbRecord here(const char *address)
{
    return (BbRecord){.kind = BB_RECORD_HERE, .key.local = at(address)};
}

// ---- records ------------------------------------------------------------------------------------

START_TEST(records_come_back)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    BbRecord out[] = {here("10.0.0.1"),
                      socket_of("nginx.service", key_of("::1", 80, "10.0.0.2", 40000)),
                      {.kind = BB_RECORD_LOOKED, .number = 77}};
    for (guint i = 0; i < G_N_ELEMENTS(out); i++)
        bb_record_append(bytes, &out[i]);
    BbCursor cursor = bb_cursor(bytes->data, bytes->len);
    BbRecord record;
    for (guint i = 0; i < G_N_ELEMENTS(out); i++) {
        ck_assert(bb_record_take(&cursor, &record));
        ck_assert_int_eq(record.kind, out[i].kind);
        ck_assert_uint_eq(record.number, out[i].number);
        ck_assert_str_eq(record.name, out[i].name);
        ck_assert(memcmp(&record.key, &out[i].key, sizeof record.key) == 0);
    }
    ck_assert(!bb_record_take(&cursor, &record) && bb_cursor_ok(&cursor));
    for (guint size = 1; size < bytes->len; size++) {
        g_autofree guint8 *exact = g_memdup2(bytes->data, size);
        cursor = bb_cursor(exact, size);
        while (bb_record_take(&cursor, &record))
            ck_assert_uint_le(strlen(record.name), BB_RECORD_NAME);
    }
}
END_TEST

START_TEST(records_that_are_none)
{
    static const char *const names[] = {"", "a b", "a/b", "a\nb", "\xff", "a\x7f"};
    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        BbRecord bad = socket_of(names[i], key_of("::1", 80, NULL, 0)), record;
        bb_record_append(bytes, &bad);
        BbCursor cursor = bb_cursor(bytes->data, bytes->len);
        ck_assert(!bb_record_take(&cursor, &record) && !bb_cursor_ok(&cursor));
    }
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    BbRecord kind = {.kind = BB_RECORD_KINDS}, record;
    bb_record_append(bytes, &kind);
    BbCursor cursor = bb_cursor(bytes->data, bytes->len);
    ck_assert(!bb_record_take(&cursor, &record) && !bb_cursor_ok(&cursor));
}
END_TEST

// ---- the table ----------------------------------------------------------------------------------

static void apply(BbProcessTable *table, BbRecord record)
{
    bb_process_table_apply(table, &record);
}

static const char *find(const BbProcessTable *table, BbSocketKey key, bool is_server)
{
    const char *name = bb_process_table_find(table, &key, is_server);
    return name ? name : "-";
}

START_TEST(servers_are_who_waits_and_clients_who_is_connected)
{
    g_autoptr(BbProcessTable) table = bb_process_table_new();
    apply(table, here("10.0.0.1"));
    apply(table, socket_of("web", key_of("0.0.0.0", 80, NULL, 0)));
    apply(table, socket_of("admin", key_of("10.0.0.1", 80, NULL, 0)));
    apply(table, socket_of("dual", key_of("::", 90, NULL, 0)));
    apply(table, socket_of("curl", key_of("10.0.0.1", 40000, "10.0.0.9", 443)));
    apply(table, socket_of("wget", key_of("10.0.0.1", 40000, "10.0.0.8", 443)));
    ck_assert_str_eq(find(table, key_of("10.0.0.1", 80, "10.0.0.9", 5), true), "admin");
    ck_assert_str_eq(find(table, key_of("127.0.0.1", 80, "127.0.0.1", 5), true), "web");
    ck_assert_str_eq(find(table, key_of("10.0.0.1", 90, "10.0.0.9", 5), true), "dual");
    ck_assert_str_eq(find(table, key_of("::1", 90, "::1", 5), true), "dual");
    ck_assert_str_eq(find(table, key_of("::1", 80, "::1", 5), true), "-"); // 0.0.0.0 is IPv4
    ck_assert_str_eq(find(table, key_of("10.0.0.5", 80, "10.0.0.9", 5), true), "-"); // not ours
    ck_assert_str_eq(find(table, key_of("10.0.0.1", 40000, "10.0.0.9", 443), false), "curl");
    ck_assert_str_eq(find(table, key_of("10.0.0.1", 40000, "10.0.0.8", 443), false), "wget");
    ck_assert_str_eq(find(table, key_of("10.0.0.1", 40000, "10.0.0.7", 443), false), "-");
    BbSocketKey datagram = key_of("10.0.0.1", 80, "10.0.0.9", 5);
    datagram.protocol = BB_SOCKET_UDP;
    ck_assert_str_eq(find(table, datagram, true), "-");
    apply(table, (BbRecord){.kind = BB_RECORD_GONE, .key = key_of("10.0.0.1", 80, NULL, 0)});
    ck_assert_str_eq(find(table, key_of("10.0.0.1", 80, "10.0.0.9", 5), true), "web");
    apply(table, socket_of("other", key_of("0.0.0.0", 80, NULL, 0)));
    ck_assert_str_eq(find(table, key_of("10.0.0.1", 80, "10.0.0.9", 5), true), "other");
}
END_TEST

START_TEST(who_alone_calls_a_server_is_inferred)
{
    g_autoptr(BbProcessTable) table = bb_process_table_new();
    BbSocketKey unseen = key_of("10.0.0.1", 50000, "10.0.0.9", 443);
    for (guint16 i = 1; i <= BB_PROCESS_TABLE_CALLS; i++) {
        ck_assert_ptr_null(bb_process_table_infer(table, &unseen));
        apply(table, socket_of("php", key_of("10.0.0.1", i, "10.0.0.9", 443)));
    }
    ck_assert_str_eq(bb_process_table_infer(table, &unseen), "php");
    BbSocketKey other = key_of("10.0.0.1", 50000, "10.0.0.9", 80);
    ck_assert_ptr_null(bb_process_table_infer(table, &other));
    apply(table, socket_of("curl", key_of("10.0.0.1", 99, "10.0.0.9", 443)));
    ck_assert_ptr_null(bb_process_table_infer(table, &unseen));
    apply(table, socket_of("php", key_of("10.0.0.1", 98, "10.0.0.9", 443)));
    ck_assert_ptr_null(bb_process_table_infer(table, &unseen));
}
END_TEST

START_TEST(the_table_has_an_end)
{
    g_autoptr(BbProcessTable) table = bb_process_table_new();
    for (guint i = 0; i < BB_PROCESS_TABLE_SOCKETS + 10; i++)
        apply(table, socket_of("x", key_of("10.0.0.1", (guint16)(1 + i % 60000), "10.0.0.2",
                                           (guint16)(1 + i / 60000))));
    ck_assert_uint_eq(bb_process_table_sockets(table), BB_PROCESS_TABLE_SOCKETS);
    g_autoptr(BbProcessTable) names = bb_process_table_new();
    for (guint i = 0; i < BB_PROCESS_TABLE_NAMES + 10; i++) {
        g_autofree char *name = g_strdup_printf("n%u", i);
        apply(names, socket_of(name, key_of("10.0.0.1", (guint16)(1 + i), NULL, 0)));
    }
    ck_assert_uint_eq(bb_process_table_sockets(names), BB_PROCESS_TABLE_NAMES);
}
END_TEST

// ---- from another process -----------------------------------------------------------------------

typedef struct Stage {
    int fd; // of who looks
    BbProcesses *processes;
    BbNames *names;
    BbNodes *nodes;
} Stage;

static Stage stage_new(void)
{
    int fds[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
    Stage stage = {.fd = fds[1], .names = bb_names_new()};
    stage.processes = bb_processes_new(fds[0], "web1");
    stage.nodes = bb_nodes_new(stage.names, false);
    bb_nodes_set_processes(stage.nodes, stage.processes);
    return stage;
}

static void stage_free(Stage *stage)
{
    if (stage->fd >= 0)
        close(stage->fd);
    bb_processes_free(stage->processes);
    bb_nodes_free(stage->nodes);
    bb_names_free(stage->names);
}

static void tell(const Stage *stage, const BbRecord *records, guint count)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    for (guint i = 0; i < count; i++)
        bb_record_append(bytes, &records[i]);
    ck_assert_int_eq(send(stage->fd, bytes->data, bytes->len, 0), (int)bytes->len);
}

// Sockets that are there from the beginning.
static void tell_first(const Stage *stage)
{
    const BbRecord records[] = {
        here("10.0.0.1"),
        socket_of("nginx.service", key_of("0.0.0.0", 80, NULL, 0)),
        socket_of("curl", key_of("10.0.0.1", 40000, "10.0.0.1", 80)),
        {.kind = BB_RECORD_LOOKED},
    };
    tell(stage, records, G_N_ELEMENTS(records));
    ck_assert(bb_processes_wait(stage->processes, 10 * G_USEC_PER_SEC));
}

static const char *node(const Stage *stage, const char *client, guint16 client_port,
                        const char *server, guint16 server_port, guint end)
{
    BbEndpoints ends = {.address = {at(client), at(server)},
                        .port = {client_port, server_port},
                        .transport = BB_TRANSPORT_TCP};
    return bb_names_text(stage->names,
                         bb_endpoints_node(&ends, stage->nodes, stage->names, end, end == 1));
}

START_TEST(ends_are_named_by_process)
{
    Stage stage = stage_new();
    tell_first(&stage);
    ck_assert_str_eq(node(&stage, "10.0.0.1", 40000, "10.0.0.1", 80, 0), "web1/curl");
    ck_assert_str_eq(node(&stage, "10.0.0.1", 40000, "10.0.0.1", 80, 1), "web1/nginx.service");
    ck_assert_str_eq(node(&stage, "10.0.0.7", 40000, "10.0.0.1", 80, 0), "10.0.0.7");
    ck_assert_uint_eq(bb_processes_counts(stage.processes).unknown, 0);
    ck_assert_str_eq(node(&stage, "10.0.0.1", 40001, "10.0.0.7", 80, 0), "10.0.0.1");
    ck_assert_uint_eq(bb_processes_counts(stage.processes).unknown, 1);
    stage_free(&stage);
}
END_TEST

START_TEST(ends_of_other_networks_are_not_of_this_host)
{
    Stage stage = stage_new();
    tell_first(&stage);
    BbEndpoints ends = {.address = {at("10.0.0.9"), at("10.0.0.1")},
                        .port = {5, 80},
                        .vlan = 12,
                        .transport = BB_TRANSPORT_TCP};
    guint32 name = bb_endpoints_node(&ends, stage.nodes, stage.names, 1, true);
    ck_assert_str_eq(bb_names_text(stage.names, name), "10.0.0.1@vlan12");
    ends.vlan = 0;
    ends.has_vni = true;
    name = bb_endpoints_node(&ends, stage.nodes, stage.names, 1, true);
    ck_assert_str_eq(bb_names_text(stage.names, name), "10.0.0.1@vni0");
    ck_assert_uint_eq(bb_processes_counts(stage.processes).unknown, 0);
    stage_free(&stage);
}
END_TEST

START_TEST(servers_have_ports_where_these_are_asked_for)
{
    Stage stage = stage_new();
    tell_first(&stage);
    BbNodes *nodes = stage.nodes;
    stage.nodes = bb_nodes_new(stage.names, true);
    bb_nodes_set_processes(stage.nodes, stage.processes);
    ck_assert_str_eq(node(&stage, "10.0.0.1", 40000, "10.0.0.1", 80, 1), "web1/nginx.service:80");
    ck_assert_str_eq(node(&stage, "10.0.0.1", 40000, "10.0.0.1", 80, 0), "web1/curl");
    bb_nodes_free(nodes);
    stage_free(&stage);
}
END_TEST

START_TEST(clients_that_are_gone_are_inferred_and_counted)
{
    Stage stage = stage_new();
    tell_first(&stage);
    const BbRecord more[] = {socket_of("curl", key_of("10.0.0.1", 40001, "10.0.0.1", 80)),
                             socket_of("curl", key_of("10.0.0.1", 40002, "10.0.0.1", 80)),
                             {.kind = BB_RECORD_HIDDEN}};
    tell(&stage, more, 3);
    g_autofree char *warning = NULL; // behind it, they are known
    while (!(warning = bb_processes_take_warning(stage.processes)))
        g_usleep(1000);
    ck_assert_str_eq(node(&stage, "10.0.0.1", 40009, "10.0.0.1", 80, 0), "web1/curl");
    ck_assert_uint_eq(bb_processes_counts(stage.processes).inferred, 1);
    ck_assert_uint_eq(bb_processes_counts(stage.processes).unknown, 0);
    stage_free(&stage);
}
END_TEST

START_TEST(what_the_user_says_of_address_and_port_wins)
{
    Stage stage = stage_new();
    tell_first(&stage);
    BbHost whole = {.address = at("10.0.0.1"), .prefix = 128, .name = "host"};
    BbHost port = {.address = at("10.0.0.1"), .prefix = 128, .port = 80, .name = "shop"};
    bb_nodes_add(stage.nodes, &whole);
    bb_nodes_add(stage.nodes, &port);
    ck_assert_str_eq(node(&stage, "10.0.0.1", 40000, "10.0.0.1", 80, 1), "shop");
    ck_assert_str_eq(node(&stage, "10.0.0.1", 40000, "10.0.0.1", 80, 0), "web1/curl");
    ck_assert_str_eq(node(&stage, "10.0.0.1", 40001, "10.0.0.7", 81, 0), "host");
    stage_free(&stage);
}
END_TEST

START_TEST(a_connection_keeps_its_name_to_its_end)
{
    Stage stage = stage_new();
    tell_first(&stage);
    BbEndpoints ends = {.address = {at("10.0.0.1"), at("10.0.0.7")},
                        .port = {40001, 80},
                        .transport = BB_TRANSPORT_TCP};
    ck_assert_str_eq(node(&stage, "10.0.0.1", 40001, "10.0.0.7", 80, 0), "10.0.0.1");
    const BbRecord late[] = {socket_of("late", key_of("10.0.0.1", 40001, "10.0.0.7", 80)),
                             {.kind = BB_RECORD_LOOKED, .number = 1000}};
    tell(&stage, late, 2);
    for (guint i = 0; i < 100; i++) {
        ck_assert_str_eq(node(&stage, "10.0.0.1", 40001, "10.0.0.7", 80, 0), "10.0.0.1");
        g_usleep(1000);
    }
    ck_assert_uint_eq(bb_processes_counts(stage.processes).unknown, 1);
    bb_endpoints_end(&ends, stage.nodes);
    ck_assert_str_eq(node(&stage, "10.0.0.1", 40001, "10.0.0.7", 80, 0), "web1/late");
    stage_free(&stage);
}
END_TEST

// Who looks is asked, and is waited for, but not longer than that, nor at once again.
START_TEST(an_answer_is_waited_for_a_while)
{
    Stage stage = stage_new();
    tell_first(&stage);
    g_usleep(2 * BB_PROCESSES_WAIT_US * 100 / BB_PROCESSES_WAIT_PERCENT);
    for (guint16 port = 1; port <= 50; port++)
        ck_assert_str_eq(node(&stage, "10.0.0.1", port, "10.0.0.7", 80, 0), "10.0.0.1");
    ck_assert_uint_ge(bb_processes_counts(stage.processes).waits, 1);
    ck_assert_uint_le(bb_processes_counts(stage.processes).waits, 3);
    ck_assert_int_ge(bb_processes_counts(stage.processes).waited_us, BB_PROCESSES_WAIT_US / 2);
    char nudge[16];
    ck_assert_int_eq(recv(stage.fd, nudge, sizeof nudge, MSG_DONTWAIT), 1);
    stage_free(&stage);
}
END_TEST

static gpointer answer(gpointer data)
{
    const Stage *stage = data;
    char nudge[16];
    if (recv(stage->fd, nudge, sizeof nudge, 0) != 1)
        return NULL;
    const BbRecord records[] = {socket_of("asked", key_of("10.0.0.1", 1, "10.0.0.7", 80)),
                                {.kind = BB_RECORD_LOOKED, .number = 1}};
    tell(stage, records, 2);
    return NULL;
}

START_TEST(an_answer_comes_in_time)
{
    // The machine may be slow: then it came late, and that is seen.
    for (guint i = 0; i < 20; i++) {
        Stage stage = stage_new();
        tell_first(&stage);
        g_usleep(2 * BB_PROCESSES_WAIT_US * 100 / BB_PROCESSES_WAIT_PERCENT);
        GThread *thread = g_thread_new("looker", answer, &stage);
        g_autofree char *name = g_strdup(node(&stage, "10.0.0.1", 1, "10.0.0.7", 80, 0));
        g_thread_join(thread);
        stage_free(&stage);
        if (strcmp(name, "web1/asked") == 0)
            return;
        ck_assert_str_eq(name, "10.0.0.1");
    }
    ck_abort_msg("no answer came within %d us, 20 times", BB_PROCESSES_WAIT_US);
}
END_TEST

// Waits for a warning that has the text.
static void expect_warning(const Stage *stage, const char *text)
{
    g_autofree char *warning = NULL;
    for (guint i = 0; i < 5000 && !warning; i++) {
        warning = bb_processes_take_warning(stage->processes);
        if (!warning)
            g_usleep(1000);
    }
    ck_assert_msg(warning && strstr(warning, text), "%s", warning ? warning : "no warning");
}

START_TEST(an_end_is_a_warning)
{
    Stage stage = stage_new();
    tell_first(&stage);
    close(stage.fd);
    stage.fd = -1;
    expect_warning(&stage, "has ended");
    ck_assert_str_eq(node(&stage, "10.0.0.1", 40000, "10.0.0.1", 80, 0), "web1/curl");
    ck_assert_str_eq(node(&stage, "10.0.0.1", 1, "10.0.0.7", 80, 0), "10.0.0.1");
    ck_assert_uint_eq(bb_processes_counts(stage.processes).waits, 0);
    stage_free(&stage);
}
END_TEST

START_TEST(what_is_no_record_ends_it)
{
    Stage stage = stage_new();
    tell_first(&stage);
    ck_assert_int_eq(send(stage.fd, "nonsense", 8, 0), 8);
    expect_warning(&stage, "has ended");
    stage_free(&stage);
}
END_TEST

START_TEST(want_of_rights_is_said_once)
{
    Stage stage = stage_new();
    const BbRecord records[] = {
        {.kind = BB_RECORD_HIDDEN}, {.kind = BB_RECORD_HIDDEN}, {.kind = BB_RECORD_LOOKED}};
    tell(&stage, records, 3);
    ck_assert(bb_processes_wait(stage.processes, 10 * G_USEC_PER_SEC));
    expect_warning(&stage, "CAP_SYS_PTRACE");
    ck_assert_ptr_null(bb_processes_take_warning(stage.processes));
    stage_free(&stage);
}
END_TEST

// ---- addresses that come and go -----------------------------------------------------------------

typedef struct Place {
    char *root, *trie;
    BbLook *look;
    BbProcessTable *table;
    gint64 now_us;
    guint told; // records on addresses
} Place;

static void take_record(const BbRecord *record, gpointer user)
{
    Place *place = user;
    place->told += record->kind == BB_RECORD_HERE || record->kind == BB_RECORD_LEFT;
    bb_process_table_apply(place->table, record);
}

// What /proc/net/fib_trie says from now on: those addresses, 10.0.0.N up to count, and a look.
static void look_at(Place *place, guint count)
{
    g_autoptr(GString) text = g_string_new("Local:\n");
    for (guint i = 1; i <= count; i++)
        g_string_append_printf(text, "     |-- 10.0.0.%u\n        /32 host LOCAL\n", i);
    ck_assert(g_file_set_contents(place->trie, text->str, -1, NULL));
    bb_look_run(place->look, place->now_us += 3600 * (gint64)G_USEC_PER_SEC);
}

static bool has(const Place *place, const char *address)
{
    const BbAddress wanted = at(address);
    return bb_process_table_is_local(place->table, &wanted);
}

START_TEST(addresses_come_and_go)
{
    Place place = {.root = g_dir_make_tmp("processes-XXXXXX", NULL),
                   .table = bb_process_table_new()};
    g_autofree char *self = g_build_filename(place.root, "self", NULL);
    g_autofree char *net = g_build_filename(self, "net", NULL);
    place.trie = g_build_filename(net, "fib_trie", NULL);
    ck_assert_int_eq(g_mkdir_with_parents(net, 0700), 0);
    int proc = open(place.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    place.look = bb_look_new(proc, -1, take_record, &place);
    const BbRecord beyond = {.kind = BB_RECORD_BEYOND, .key.local = at("10.0.0.99")};
    bb_process_table_apply(place.table, &beyond);
    look_at(&place, 3);
    ck_assert(has(&place, "10.0.0.1") && has(&place, "10.0.0.3") && !has(&place, "10.0.0.4"));
    look_at(&place, 3);
    ck_assert_uint_eq(place.told, 3);
    look_at(&place, 2); // one moves to another host
    ck_assert(has(&place, "10.0.0.2") && !has(&place, "10.0.0.3"));
    look_at(&place, 2);
    ck_assert_uint_eq(place.told, 4);
    look_at(&place, 4); // and comes back
    ck_assert(has(&place, "10.0.0.3") && has(&place, "10.0.0.4"));
    look_at(&place, BB_LOOK_ADDRESSES + 1); // more than are listed: nobody knows
    look_at(&place, 0);                     // it could not be read
    ck_assert(has(&place, "10.0.0.1") && has(&place, "10.0.0.99"));
    look_at(&place, 1);
    ck_assert(has(&place, "10.0.0.1") && !has(&place, "10.0.0.2") && has(&place, "10.0.0.99"));
    const BbRecord shared = {.kind = BB_RECORD_BEYOND, .key.local = at("10.0.0.1")};
    bb_process_table_apply(place.table, &shared);
    look_at(&place, 2); // an empty list would be one that could not be read
    bb_process_table_apply(place.table,
                           &(BbRecord){.kind = BB_RECORD_LEFT, .key.local = at("10.0.0.1")});
    ck_assert(has(&place, "10.0.0.1"));
    bb_look_free(place.look);
    (void)close(proc);
    (void)g_unlink(place.trie);
    (void)g_rmdir(net);
    (void)g_rmdir(self);
    (void)g_rmdir(place.root);
    bb_process_table_free(place.table);
    g_free(place.trie);
    g_free(place.root);
}
END_TEST

TEST_MAIN("processes", addresses_come_and_go, records_come_back, records_that_are_none,
          servers_are_who_waits_and_clients_who_is_connected, who_alone_calls_a_server_is_inferred,
          the_table_has_an_end, ends_are_named_by_process,
          clients_that_are_gone_are_inferred_and_counted,
          ends_of_other_networks_are_not_of_this_host, servers_have_ports_where_these_are_asked_for,
          what_the_user_says_of_address_and_port_wins, a_connection_keeps_its_name_to_its_end,
          an_answer_is_waited_for_a_while, an_answer_comes_in_time, an_end_is_a_warning,
          what_is_no_record_ends_it, want_of_rights_is_said_once)
