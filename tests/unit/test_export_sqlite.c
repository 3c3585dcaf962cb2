// SPDX-License-Identifier: Apache-2.0
// The SQLite export: what is in its tables and views, what it replaces and what it leaves alone.
#include <sqlite3.h>

#include "tests/unit/exchange.h"

// Rows as "a|b\n", blobs in hexadecimal, NULL as empty text.
static char *query(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    GString *out = g_string_new(NULL);
    ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, "%s",
                  sqlite3_errmsg(db));
    while (sqlite3_step(statement) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(statement); i++) {
            const char *text = (const char *)sqlite3_column_text(statement, i);
            g_string_append_printf(out, "%s%s", i ? "|" : "", text ? text : "");
        }
        g_string_append_c(out, '\n');
    }
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return g_string_free(out, FALSE);
}

static void assert_query(const char *path, const char *sql, const char *wanted)
{
    g_autofree char *found = query(path, sql);
    ck_assert_str_eq(found, wanted);
}

static Messages *some_calls(void)
{
    return read_text("# bbtrace text 1\n"
                     "1.000000 CALL_SENT a b 1 op=GET proto=http bytes=5 path=p parent=-\n"
                     "1.000100 CALL_RECV a b 1\n"
                     "1.000500 CALL_SENT a b 2 op=GET proto=http\n"
                     "1.001000 RET_SENT b a 1 status=200 recv=1.002 proto=http bytes=7\n"
                     "1.001500 CALL_SENT a b 1 op=PUT proto=http\n"
                     "1.001600 RET_SENT b a 1 status=500 proto=http\n"
                     "1.002000 MSG_SENT a c -\n"
                     "1.003000 RET_SENT b a 9 status=200 proto=http\n"
                     "# network a b connections=2 packets=9 to_server=1 to_server_sum_ns=7 "
                     "to_server_least_ns=7 to_server_most_ns=18446744073709551615\n"
                     "# network - d refused=1\n"
                     "# counter tcp_gaps 3\n# counter huge 18446744073709551614\n");
}

START_TEST(tables_and_views)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(Messages) all = some_calls();
    const char *path = scratch_path(scratch, "x.db");
    export_path("sqlite", path, all);
    assert_query(path, "SELECT * FROM nodes", "1|a\n2|b\n3|c\n4|d\n");
    assert_query(path, "SELECT * FROM network",
                 "1|2|2|0|0|0|9|0|0|0|1|7|7|18446744073709551615|0|0|0|0\n"
                 "|4|0|1|0|0|0|0|0|0|0|0|0|0|0|0|0|0\n");
    assert_query(path, "SELECT typeof(to_server_sum_ns), typeof(to_server_most_ns) FROM network",
                 "integer|text\ninteger|integer\n");
    assert_query(path, "SELECT * FROM counters", "tcp_gaps|3\nhuge|18446744073709551614\n");
    assert_query(
        path,
        "SELECT message, time_ns, kind, seen, sender, receiver, call, error, id FROM messages",
        "1|1000000000|call|sender|1|2||0|1\n2|1000100000|call|receiver|1|2|1|0|1\n"
        "3|1000500000|call|sender|1|2||0|2\n4|1001000000|return|sender|2|1|1|0|1\n"
        "5|1001500000|call|sender|1|2||0|1\n6|1001600000|return|sender|2|1|5|1|1\n"
        "7|1002000000|message|sender|1|3||0|\n8|1003000000|return|sender|2|1||0|9\n");
    assert_query(path,
                 "SELECT call, \"return\", latency_ns, caller, callee, op, status, error, "
                 "call_bytes, return_bytes, path, parent FROM calls ORDER BY call",
                 "1|4|2000000|a|b|GET|200|0|5|7|p|-\n3|||a|b|GET||0||||\n"
                 "5|6|100000|a|b|PUT|500|1||||\n");
    assert_query(path, "SELECT * FROM edges", "a|b|http|3|3|1|1050000.0|2000000\n");
    assert_query(path, "PRAGMA user_version", "2\n");
    assert_query(path, "PRAGMA integrity_check", "ok\n");
    assert_query(path, "PRAGMA foreign_key_check", "");
}
END_TEST

// The clock of b is behind. The last return of a call counts as it came behind it.
START_TEST(returns_stamped_before_their_calls)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(Messages) all = read_text("# bbtrace text 1\n"
                                        "1.0 RET_SENT b a 1 status=200\n"
                                        "1.1 CALL_SENT a b 1 op=GET\n"
                                        "2.0 RET_SENT b a 2\n"
                                        "2.1 CALL_SENT a b 2\n"
                                        "2.2 RET_SENT b a 2\n"
                                        "3.0 RET_SENT b a -\n"
                                        "3.1 CALL_SENT a b -\n");
    const char *path = scratch_path(scratch, "x.db");
    export_path("sqlite", path, all);
    assert_query(path, "SELECT call, \"return\", latency_ns, status FROM calls ORDER BY call",
                 "2|1|-100000000|200\n4|5|100000000|\n7|||\n");
    assert_query(path, "SELECT message FROM messages WHERE call IS NULL", "2\n3\n4\n6\n7\n");
}
END_TEST

// Both ends of each message on a line of its own; the clock of b is behind, so its call is first
// seen there.
START_TEST(calls_last_by_the_callers_clock)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(Messages) all = read_text("# bbtrace text 1\n"
                                        "1.0 CALL_RECV a b 1\n"
                                        "1.1 CALL_SENT a b 1\n"
                                        "1.2 RET_SENT b a 1\n"
                                        "1.5 RET_RECV b a 1\n");
    const char *path = scratch_path(scratch, "x.db");
    export_path("sqlite", path, all);
    assert_query(path, "SELECT call, \"return\", time_ns, return_ns, latency_ns FROM calls",
                 "1|3|1100000000|1500000000|400000000\n");
    assert_query(path, "SELECT max_latency_ns FROM edges", "400000000\n");
}
END_TEST

START_TEST(values_of_every_kind)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(Messages) all = read_text(
        "# bbtrace text 1\n1.0 MSG_SENT a%FF - - op=%C3%A4%22 bytes=18446744073709551614 "
        "off=9223372036854775807 k=v end=9223372036.854775807 file=x%20y frame=4294967295\n");
    const char *path = scratch_path(scratch, "x.db");
    export_path("sqlite", path, all);
    assert_query(path, "SELECT typeof(name), hex(name) FROM nodes", "blob|61FF\n");
    assert_query(path,
                 "SELECT receiver, op, typeof(op), bytes, typeof(bytes), off, typeof(off), extra, "
                 "end_ns, recv_ns IS NULL, file, frame, typeof(frame) FROM messages",
                 "|\xc3\xa4\"|text|18446744073709551614|text|9223372036854775807|integer|k=v|"
                 "9223372036854775807|1|x y|4294967295|integer\n");
}
END_TEST

// The columns of the table are the facts by their names.
START_TEST(network_has_all_facts)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(Messages) all = some_calls();
    g_autoptr(GString) wanted = g_string_new("client\nserver\n");
    const char *path = scratch_path(scratch, "x.db");
    export_path("sqlite", path, all);
    for (guint field = 0; field < BB_NETWORK_FIELDS; field++)
        g_string_append_printf(wanted, "%s\n", bb_network_field_name(field));
    assert_query(path, "SELECT name FROM pragma_table_info('network')", wanted->str);
}
END_TEST

START_TEST(random_messages_are_all_there)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(Messages) all = random_messages(test_seed("export_sqlite"), 2000);
    const char *path = scratch_path(scratch, "x.db");
    export_path("sqlite", path, all);
    assert_query(path, "SELECT count(*), min(message), max(message) FROM messages",
                 "2000|1|2000\n");
    assert_query(path, "PRAGMA integrity_check", "ok\n");
    assert_query(path, "PRAGMA foreign_key_check", "");
    // a return has one call, of the same nodes, before it, or of the same id
    assert_query(path,
                 "SELECT count(*) FROM messages r JOIN messages c ON r.call = c.message "
                 "WHERE c.kind = 'message' OR (c.message >= r.message AND r.id IS NULL) OR "
                 "(c.kind = 'call' AND r.kind = 'return' AND (r.sender IS NOT c.receiver OR "
                 "r.receiver IS NOT c.sender OR r.id IS NOT c.id))",
                 "0\n");
    // a second sighting of one without call has the first sighting
    assert_query(path,
                 "SELECT count(*) FROM messages r JOIN messages c ON r.call = c.message "
                 "WHERE c.kind = 'return' AND (r.kind <> 'return' OR r.seen IS c.seen OR "
                 "r.message <= c.message OR r.id IS NOT c.id OR r.sender IS NOT c.sender OR "
                 "r.receiver IS NOT c.receiver)",
                 "0\n");
}
END_TEST

static guint count_files(const char *folder)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    guint count = 0;
    while (g_dir_read_name(dir))
        count++;
    return count;
}

static char *try_open(const char *path)
{
    const BbExporter *exporter = bb_exporter_find("sqlite");
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(GError) error = NULL;
    gpointer writing = exporter->open(path, names, &error);
    if (writing)
        exporter->free(writing);
    ck_assert(!writing == !!error);
    return error ? g_strdup(error->message) : NULL;
}

START_TEST(only_our_own_files_are_replaced)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(Messages) all = some_calls();
    const char *ours = scratch_path(scratch, "ours.db");
    const char *empty = scratch_file(scratch, "empty", "", 0);
    const char *foreign = scratch_file(scratch, "foreign", "SQLite format 3", 15);
    export_path("sqlite", ours, all);
    export_path("sqlite", empty, all);
    all->messages->len = 1;
    export_path("sqlite", ours, all); // and again
    assert_query(ours, "SELECT count(*) FROM messages", "1\n");
    assert_query(empty, "SELECT count(*) FROM messages", "8\n");
    g_autofree char *refused = try_open(foreign), *device = try_open("/dev/null");
    ck_assert_msg(refused && strstr(refused, "no database that `bbtrace export` made"), "%s",
                  refused);
    ck_assert_ptr_nonnull(device);
    g_autofree char *nowhere = try_open("/nowhere/x.db");
    ck_assert_msg(nowhere && strstr(nowhere, "/nowhere/x.db"), "%s", nowhere);

    // Given up before its end, nothing is changed and nothing left.
    g_autofree char *given_up = try_open(ours);
    ck_assert_ptr_null(given_up);
    ck_assert_uint_eq(count_files(scratch->folder), 3);
    assert_query(ours, "SELECT count(*) FROM messages", "1\n");
}
END_TEST

TEST_MAIN("export_sqlite", tables_and_views, returns_stamped_before_their_calls,
          calls_last_by_the_callers_clock, values_of_every_kind, network_has_all_facts,
          random_messages_are_all_there, only_our_own_files_are_replaced)
