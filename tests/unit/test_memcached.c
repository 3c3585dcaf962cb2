// SPDX-License-Identifier: Apache-2.0
// memcached: commands, values, noreply and its errors, quiet meta commands. Every script runs whole
// and with one byte a segment. (What is missing: test_memcached_loss.c.)
#include "tests/unit/memcached_talk.h"

// ---- commands ---------------------------------------------------------------------------------

static void retrieval(Converse *c)
{
    ask(c, "get a\r\n", "VALUE a 0 5\r\nhello\r\nEND\r\n");
    ask(c, "get a\r\n", "END\r\n");
    ask(c, "gets a b c\r\n", "VALUE a 0 5 7\r\nEND\r\n\r\nVALUE c 1 0 8\r\n\r\nEND\r\n");
    ask(c, "gat 10 a\r\n", "VALUE a 0 1\r\nx\r\nEND\r\n");
    ask(c, "gats 10 a b\r\n", "END\r\n");
}

START_TEST(values)
{
    expect_on(retrieval, 7777,
              "CALL 1 memcached GET 7\n"
              "RET 1 memcached ok 25\n"
              "CALL 2 memcached GET 7\n"
              "RET 2 memcached ok 5\n"
              "CALL 3 memcached GETS 12\n"
              "RET 3 memcached ok 44\n"
              "CALL 4 memcached GAT 10\n"
              "RET 4 memcached ok 21\n"
              "CALL 5 memcached GATS 13\n"
              "RET 5 memcached ok 5\n");
}
END_TEST

static void storage(Converse *c)
{
    ask(c, "set k 0 0 5\r\nget a\r\n", "STORED\r\n");
    ask(c, "add k 1 -1 0\r\n\r\n", "NOT_STORED\r\n");
    ask(c, "replace k 0 0 2\r\n\r\n\r\n", "STORED\r\n");
    ask(c, "append k 0 0 1\r\nx\r\n", "NOT_STORED\r\n");
    ask(c, "prepend k 0 0 1\r\nx\r\n", "STORED\r\n");
    ask(c, "cas k 0 0 1 77\r\nx\r\n", "EXISTS\r\n");
    ask(c, "cas k 0 0 1 77\r\nx\r\n", "NOT_FOUND\r\n");
}

START_TEST(stores)
{
    expect_on(storage, 7777,
              "CALL 1 memcached SET 20\n"
              "RET 1 memcached ok 8\n"
              "CALL 2 memcached ADD 16\n"
              "RET 2 memcached NOT_STORED 12\n"
              "CALL 3 memcached REPLACE 21\n"
              "RET 3 memcached ok 8\n"
              "CALL 4 memcached APPEND 19\n"
              "RET 4 memcached NOT_STORED 12\n"
              "CALL 5 memcached PREPEND 20\n"
              "RET 5 memcached ok 8\n"
              "CALL 6 memcached CAS 19\n"
              "RET 6 memcached EXISTS 8\n"
              "CALL 7 memcached CAS 19\n"
              "RET 7 memcached NOT_FOUND 11\n");
}
END_TEST

static void others(Converse *c)
{
    ask(c, "delete k\r\n", "DELETED\r\n");
    ask(c, "delete k 0\r\n", "NOT_FOUND\r\n");
    ask(c, "incr k 5\r\n", "10\r\n");
    ask(c, "decr k 5\r\n", "5 \r\n");
    ask(c, "touch k 100\r\n", "TOUCHED\r\n");
    ask(c, "stats\r\n", "STAT pid 1\r\nSTAT uptime 2\r\nEND\r\n");
    ask(c, "stats cachedump 1 2\r\n", "ITEM k [5 b; 0 s]\r\nEND\r\n");
    ask(c, "stats reset\r\n", "RESET\r\n");
    ask(c, "version\r\n", "VERSION 1.6.18\r\n");
    ask(c, "verbosity 1\r\n", "OK\r\n");
    ask(c, "flush_all\r\n", "OK\r\n");
    ask(c, "flush_all 10\r\n", "OK\r\n");
    ask(c, "lru_crawler metadump all\r\n", "key=a exp=1\r\nkey=b exp=2\r\nEND\r\n");
    ask(c, "mgdump 0 5\r\n", "mg a\r\nmg b\r\nEN\r\n");
    ask(c, "slabs reassign 1 2\r\n", "BUSY currently\r\n");
    ask(c, "lru tune 1 2\r\n", "strange\r\n");
    ask(c, "config get cluster\r\n", "CONFIG cluster 0 3\r\n1\na\r\nEND\r\n");
    converse_text(c, up, "quit\r\n");
    converse_close(c, down);
}

START_TEST(other_commands)
{
    expect(others, "CALL 1 memcached DELETE 10\n"
                   "RET 1 memcached ok 9\n"
                   "CALL 2 memcached DELETE 12\n"
                   "RET 2 memcached NOT_FOUND 11\n"
                   "CALL 3 memcached INCR 10\n"
                   "RET 3 memcached ok 4\n"
                   "CALL 4 memcached DECR 10\n"
                   "RET 4 memcached ok 4\n"
                   "CALL 5 memcached TOUCH 13\n"
                   "RET 5 memcached ok 9\n"
                   "CALL 6 memcached STATS 7\n"
                   "RET 6 memcached ok 32\n"
                   "CALL 7 memcached STATS 21\n"
                   "RET 7 memcached ok 24\n"
                   "CALL 8 memcached STATS 13\n"
                   "RET 8 memcached ok 7\n"
                   "CALL 9 memcached VERSION 9\n"
                   "RET 9 memcached ok 16\n"
                   "CALL 10 memcached VERBOSITY 13\n"
                   "RET 10 memcached ok 4\n"
                   "CALL 11 memcached FLUSH_ALL 11\n"
                   "RET 11 memcached ok 4\n"
                   "CALL 12 memcached FLUSH_ALL 14\n"
                   "RET 12 memcached ok 4\n"
                   "CALL 13 memcached LRU_CRAWLER 26\n"
                   "RET 13 memcached ok 31\n"
                   "CALL 14 memcached MGDUMP 12\n"
                   "RET 14 memcached ok 16\n"
                   "CALL 15 memcached SLABS 20\n"
                   "RET 15 memcached BUSY 16\n"
                   "CALL 16 memcached LRU 14\n"
                   "RET 16 memcached ok 9\n"
                   "CALL 17 memcached CONFIG 20\n"
                   "RET 17 memcached ok 30\n"
                   "MSG > memcached QUIT 6\n");
}
END_TEST

static void watched(Converse *c)
{
    ask(c, "watch fetchers\r\n", "OK\r\n");
    converse_text(c, down, "ts=1 gid=2 type=item_get\r\n");
    converse_text(c, down, "ts=2 gid=3 type=item_get\r\n");
}

START_TEST(watch_lines_are_free)
{
    expect(watched, "CALL 1 memcached WATCH 16\n"
                    "RET 1 memcached ok 4\n"
                    "MSG < memcached LOG 26\n"
                    "MSG < memcached LOG 26\n");
}
END_TEST

static void refused(Converse *c)
{
    ask(c, "get a\r\n", "SERVER_ERROR out of memory\r\n");
    ask(c, "nonsense\r\n", "ERROR\r\n");
    ask(c, "\r\n", "ERROR\r\n");
    ask(c, "set k 0 0 x\r\n", "CLIENT_ERROR bad command line format\r\n");
    ask(c, "get\r\n", "ERROR\r\n");
    ask(c, "set k 0 0 9999999999\r\n", "SERVER_ERROR object too large for cache\r\n");
    ask(c, "get a\n", "END\r\n"); // a line end without CR does
}

START_TEST(errors)
{
    expect(refused, "CALL 1 memcached GET 7\n"
                    "RET 1 memcached SERVER_ERROR 28\n"
                    "CALL 2 memcached * 10\n"
                    "RET 2 memcached ERROR 7\n"
                    "CALL 3 memcached * 2\n"
                    "RET 3 memcached ERROR 7\n"
                    "CALL 4 memcached SET 13\n"
                    "RET 4 memcached CLIENT_ERROR 38\n"
                    "CALL 5 memcached GET 5\n"
                    "RET 5 memcached ERROR 7\n"
                    "CALL 6 memcached SET 22\n"
                    "RET 6 memcached SERVER_ERROR 41\n"
                    "CALL 7 memcached GET 6\n"
                    "RET 7 memcached ok 5\n");
}
END_TEST

static void pipelined(Converse *c)
{
    converse_text(c, up, "get a\r\nset b 0 0 1\r\nx\r\ndelete c\r\n");
    converse_text(c, down, "END\r\nSTORED\r\nNOT_FOUND\r\n");
}

START_TEST(pipelines_pair_in_order)
{
    expect_whole(pipelined, "CALL 1 memcached GET 7\n"
                            "CALL 2 memcached SET 16\n"
                            "CALL 3 memcached DELETE 10\n"
                            "RET 1 memcached ok 5\n"
                            "RET 2 memcached ok 8\n"
                            "RET 3 memcached NOT_FOUND 11\n");
}
END_TEST

START_TEST(times_are_of_first_and_last_bytes)
{
    g_autoptr(Converse) c = converse_tcp(11211);
    converse_text(c, up, "set k 0 0 4\r\n"); // 0 ms
    converse_text(c, up, "ab");              // 1
    converse_text(c, up, "cd\r\n");          // 2
    converse_text(c, down, "STO");           // 3
    converse_text(c, down, "RED\r\n");       // 4
    converse_text(c, up, "get k\r\n");       // 5
    converse_text(c, down, "VALUE k 0 4\r\nab");
    converse_text(c, down, "cd\r\nEN");
    converse_text(c, down, "D\r\n"); // 8
    ck_assert_str_eq(converse_result(c), "CALL 1 memcached SET 19\n"
                                         "RET 1 memcached ok 8\n"
                                         "CALL 2 memcached GET 7\n"
                                         "RET 2 memcached ok 24\n");
    ck_assert_int_eq(converse_first_ms(c, 0), 0);
    ck_assert_int_eq(converse_last_ms(c, 0), 2);
    ck_assert_int_eq(converse_first_ms(c, 1), 3);
    ck_assert_int_eq(converse_last_ms(c, 1), 4);
    ck_assert_int_eq(converse_first_ms(c, 3), 6);
    ck_assert_int_eq(converse_last_ms(c, 3), 8);
}
END_TEST

// Values larger than any buffer, and a get whose keys are, too.
static void large(Converse *c)
{
    g_autofree char *value = g_strnfill(200000, 'v');
    g_autoptr(GString) text = g_string_new(NULL);
    g_string_printf(text, "set k 0 0 200000\r\n%s\r\n", value);
    ask(c, text->str, "STORED\r\n");
    g_string_printf(text, "VALUE k 0 200000\r\n%s\r\nEND\r\n", value);
    ask(c, "get k\r\n", text->str);
    g_string_assign(text, "get");
    for (guint i = 0; i < 10000; i++)
        g_string_append(text, " some:key");
    g_string_append(text, "\r\n");
    ask(c, text->str, "END\r\n");
    ask(c, "get k\r\n", "END\r\n");
}

START_TEST(large_values_and_lines)
{
    expect(large, "CALL 1 memcached SET 200020\n"
                  "RET 1 memcached ok 8\n"
                  "CALL 2 memcached GET 7\n"
                  "RET 2 memcached ok 200025\n"
                  "CALL 3 memcached GET 90005\n"
                  "RET 3 memcached ok 5\n"
                  "CALL 4 memcached GET 7\n"
                  "RET 4 memcached ok 5\n");
}
END_TEST

// ---- noreply ----------------------------------------------------------------------------------

static void silent(Converse *c)
{
    converse_text(c, up, "set k 0 0 1 noreply\r\nx\r\n");
    converse_text(c, up, "cas k 0 0 1 5 noreply\r\nx\r\n");
    converse_text(c, up, "delete k noreply\r\n");
    converse_text(c, up, "incr k 1 noreply\r\n");
    converse_text(c, up, "touch k 1 noreply\r\n");
    converse_text(c, up, "flush_all noreply\r\n");
    converse_text(c, up, "verbosity 1 noreply\r\n");
    ask(c, "get noreply\r\n", "END\r\n");
    ask(c, "delete noreply\r\n", "NOT_FOUND\r\n");
}

START_TEST(noreply_is_one_way)
{
    expect(silent, "MSG > memcached SET 24\n"
                   "MSG > memcached CAS 26\n"
                   "MSG > memcached DELETE 18\n"
                   "MSG > memcached INCR 18\n"
                   "MSG > memcached TOUCH 19\n"
                   "MSG > memcached FLUSH_ALL 19\n"
                   "MSG > memcached VERBOSITY 21\n"
                   "CALL 1 memcached GET 13\n"
                   "RET 1 memcached ok 5\n"
                   "CALL 2 memcached DELETE 16\n"
                   "RET 2 memcached NOT_FOUND 11\n");
}
END_TEST

// The error comes before the server has the next command: it cannot be its answer.
static void error_before_the_next(Converse *c)
{
    ask(c, "set k 0 0 3 noreply\r\nabc\r\n", "SERVER_ERROR object too large for cache\r\n");
    ask(c, "set k 0 0 1\r\nx\r\n", "STORED\r\n");
    ask(c, "incr k x noreply\r\n", "CLIENT_ERROR invalid numeric delta argument\r\n");
    ask(c, "get k\r\n", "END\r\n");
}

START_TEST(quiet_errors_do_not_shift)
{
    expect(error_before_the_next, "MSG > memcached SET 26\n"
                                  "MSG < memcached - 41\n"
                                  "CALL 1 memcached SET 16\n"
                                  "RET 1 memcached ok 8\n"
                                  "MSG > memcached INCR 18\n"
                                  "MSG < memcached - 45\n"
                                  "CALL 2 memcached GET 7\n"
                                  "RET 2 memcached ok 5\n");
}
END_TEST

// The next command was sent at once, but no get fails for the size of a value.
static void error_of_a_value(Converse *c)
{
    converse_text(c, up, "set k 0 0 3 noreply\r\nabc\r\nget k\r\n");
    converse_text(c, down, "SERVER_ERROR object too large for cache\r\nEND\r\n");
    ask(c, "get k\r\n", "END\r\n");
}

START_TEST(errors_of_values_are_not_of_gets)
{
    expect_whole(error_of_a_value, "MSG > memcached SET 26\n"
                                   "CALL 1 memcached GET 7\n"
                                   "MSG < memcached - 41\n"
                                   "RET 1 memcached ok 5\n"
                                   "CALL 2 memcached GET 7\n"
                                   "RET 2 memcached ok 5\n");
}
END_TEST

// It cannot be told whose error it is: the pairs after it are right whichever is true.
static void error_in_doubt(Converse *c)
{
    converse_text(c, up, "incr a 1 noreply\r\nincr k 1\r\n");
    converse_text(c, down, "CLIENT_ERROR cannot increment or decrement\r\n5\r\n");
    ask(c, "get k\r\n", "END\r\n");
}

START_TEST(errors_in_doubt_do_not_shift)
{
    expect_whole(error_in_doubt, "MSG > memcached INCR 18\n"
                                 "CALL 1 memcached INCR 10\n"
                                 "RET 1 memcached CLIENT_ERROR 44\n"
                                 "RET - memcached ok 3\n"
                                 "CALL 2 memcached GET 7\n"
                                 "RET 2 memcached ok 5\n");
}
END_TEST

static void error_unasked(Converse *c)
{
    converse_text(c, down, "ERROR Too many open connections\r\n");
    converse_close(c, down);
}

START_TEST(errors_unasked)
{
    expect_whole(error_unasked, "MSG < memcached - 33\n");
}
END_TEST

// ---- meta commands ----------------------------------------------------------------------------

static void meta(Converse *c)
{
    ask(c, "mg a v\r\n", "VA 2\r\nhi\r\n");
    ask(c, "mg a v\r\n", "EN\r\n");
    ask(c, "ms a 2 T90\r\nhi\r\n", "HD\r\n");
    ask(c, "ms a S2\r\nhi\r\n", "NS\r\n");
    ask(c, "md a\r\n", "NF\r\n");
    ask(c, "ma a t\r\n", "HD t-1\r\n");
    ask(c, "me a\r\n", "ME a exp=-1\r\n");
    ask(c, "me b\r\n", "EN\r\n");
    ask(c, "mn\r\n", "MN\r\n");
    ask(c, "ms a 2 C5\r\nhi\r\n", "EX\r\n");
}

START_TEST(meta_commands)
{
    expect(meta, "CALL 1 memcached MG 8\n"
                 "RET 1 memcached ok 10\n"
                 "CALL 2 memcached MG 8\n"
                 "RET 2 memcached ok 4\n"
                 "CALL 3 memcached MS 16\n"
                 "RET 3 memcached ok 4\n"
                 "CALL 4 memcached MS 13\n"
                 "RET 4 memcached NS 4\n"
                 "CALL 5 memcached MD 6\n"
                 "RET 5 memcached NF 4\n"
                 "CALL 6 memcached MA 8\n"
                 "RET 6 memcached ok 8\n"
                 "CALL 7 memcached ME 6\n"
                 "RET 7 memcached ok 13\n"
                 "CALL 8 memcached ME 6\n"
                 "RET 8 memcached ok 4\n"
                 "CALL 9 memcached MN 4\n"
                 "RET 9 memcached ok 4\n"
                 "CALL 10 memcached MS 15\n"
                 "RET 10 memcached EX 4\n");
}
END_TEST

// Both sides together tell, on any port.
START_TEST(meta_commands_elsewhere)
{
    g_autoptr(Converse) c = converse_tcp(4711);
    ask(c, "mg a v\r\n", "VA 2\r\nhi\r\n");
    ask(c, "md a\r\n", "NF\r\n");
    ck_assert_str_eq(converse_result(c), "CALL 1 memcached MG 8\nRET 1 memcached ok 10\n"
                                         "CALL 2 memcached MD 6\nRET 2 memcached NF 4\n");
}
END_TEST

static void quiet_by_token(Converse *c)
{
    converse_text(c, up, "mg a v q O1\r\n");
    converse_text(c, up, "mg b v q k\r\n");
    converse_text(c, up, "mg c v q O3\r\n");
    converse_text(c, up, "mn\r\n");
    converse_text(c, down, "VA 1 kb\r\nx\r\n");
    converse_text(c, down, "VA 1 O3\r\ny\r\n");
    converse_text(c, down, "MN\r\n");
}

START_TEST(quiet_commands_pair_by_token)
{
    expect(quiet_by_token, "MSG > memcached MG 13\n"
                           "CALL 2 memcached MG 12\n"
                           "CALL 3 memcached MG 13\n"
                           "CALL 4 memcached MN 4\n"
                           "RET 2 memcached ok 12\n"
                           "RET 3 memcached ok 12\n"
                           "RET 4 memcached ok 4\n");
}
END_TEST

static void quiet_by_order(Converse *c)
{
    converse_text(c, up, "ms a 1 q\r\nx\r\n");
    converse_text(c, up, "md a q\r\n");
    converse_text(c, up, "mg a v q\r\n");
    converse_text(c, up, "mn\r\n");
    converse_text(c, down, "NS\r\n");
    converse_text(c, down, "VA 1\r\nx\r\n");
    converse_text(c, down, "MN\r\n");
    converse_text(c, up, "mg a v q\r\n");
    ask(c, "get b\r\n", "END\r\n");
    converse_text(c, up, "mg z v q\r\n");
}

START_TEST(quiet_commands_pair_by_kind)
{
    expect(quiet_by_order, "CALL 1 memcached MS 13\n"
                           "MSG > memcached MD 8\n"
                           "CALL 3 memcached MG 10\n"
                           "CALL 4 memcached MN 4\n"
                           "RET 1 memcached NS 4\n"
                           "RET 3 memcached ok 9\n"
                           "RET 4 memcached ok 4\n"
                           "MSG > memcached MG 10\n"
                           "CALL 6 memcached GET 7\n"
                           "RET 6 memcached ok 5\n"
                           "MSG > memcached MG 10\n");
}
END_TEST

static void quiet_errors(Converse *c)
{
    converse_text(c, up, "ms a 1 q\r\nx\r\n");
    converse_text(c, up, "mn\r\n");
    converse_text(c, down, "SERVER_ERROR out of memory storing object\r\n");
    converse_text(c, down, "MN\r\n");
    converse_text(c, up, "mg a v q\r\n");
    ask(c, "incr b 1\r\n", "CLIENT_ERROR cannot increment or decrement\r\n");
}

START_TEST(errors_of_quiet_commands)
{
    expect(quiet_errors, "CALL 1 memcached MS 13\n"
                         "CALL 2 memcached MN 4\n"
                         "RET 1 memcached SERVER_ERROR 43\n"
                         "RET 2 memcached ok 4\n"
                         "MSG > memcached MG 10\n"
                         "CALL 4 memcached INCR 10\n"
                         "RET 4 memcached CLIENT_ERROR 44\n");
}
END_TEST

START_TEST(quiet_commands_have_a_limit)
{
    g_autoptr(Converse) c = converse_tcp(11211);
    for (guint i = 0; i < 3000; i++)
        converse_text(c, up, "mg a v q\r\n");
    converse_text(c, up, "mn\r\n");
    converse_text(c, down, "MN\r\n");
    ck_assert(g_str_has_suffix(converse_result(c), "RET 3001 memcached ok 4\n"));
    ck_assert_uint_eq(converse_loss(c, BB_RETURNS), 1);
    ck_assert_uint_eq(converse_loss(c, BB_FREES) + converse_loss(c, BB_CALLS), 3001);
}
END_TEST

// The server's lines could be memcached's, but the client says nothing that is.
START_TEST(strange_clients)
{
    g_autoptr(Converse) c = converse_tcp_midstream(11211);
    converse_text(c, down, "OK\r\n");
    for (guint i = 0; i < 4; i++)
        ask(c, "look it up\r\n", "OK\r\n");
    ask(c, "get a\r\n", "END\r\n");
    const char *result = converse_result(c);
    ck_assert_msg(strstr(result, "CALL 3 tcp - 12\n"), "%s", result);
    ck_assert_msg(strstr(result, "CALL 5 memcached GET 7\nRET 5 memcached ok 5\n"), "%s", result);
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_GAVE_UP), 1);
}
END_TEST

TEST_MAIN("memcached", values, stores, other_commands, watch_lines_are_free, errors,
          pipelines_pair_in_order, times_are_of_first_and_last_bytes, large_values_and_lines,
          noreply_is_one_way, quiet_errors_do_not_shift, errors_of_values_are_not_of_gets,
          errors_in_doubt_do_not_shift, errors_unasked, meta_commands, meta_commands_elsewhere,
          quiet_commands_pair_by_token, quiet_commands_pair_by_kind, errors_of_quiet_commands,
          quiet_commands_have_a_limit, strange_clients)
