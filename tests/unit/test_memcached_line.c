// SPDX-License-Identifier: Apache-2.0
// Lines of memcached, and what looks like them.
#include "capture/decoder.h"
#include "capture/protocols/memcached_line.h"
#include "tests/unit/test.h"

#include <string.h>

static BbMemcachedCommand command(const char *line)
{
    return bb_memcached_command((const guint8 *)line, strlen(line), false);
}

START_TEST(lines_of_the_client)
{
    ck_assert(command("set k 0 0 5").valid);
    ck_assert_uint_eq(command("set k 0 0 5").data_length, 5);
    ck_assert(!command("set k 0 0").valid);
    ck_assert(!command("set k 0 0 5 6").silent);
    ck_assert(!command("set k 0 0 5 6 7").valid);
    ck_assert(command("set k 0 0 5 noreply").silent);
    ck_assert(!command("set k x 0 5").valid);
    ck_assert(command("set k 0 -1 5").valid);
    ck_assert(!command("set k -1 0 5").valid);
    ck_assert(!command("set k 0 0 4294967296").has_data);
    ck_assert(!command("set k 0 0 1073741825").has_data);
    ck_assert(command("set k 0 0 1073741824").has_data);
    ck_assert(!command("SET k 0 0 5").known);
    ck_assert(!command("get").valid);
    ck_assert(!command(" get a").valid);
    ck_assert(!command("get a\x01").valid);
    ck_assert(!command("incr a b").valid);
    ck_assert(command("mg k q").quiet);
    ck_assert(!command("mg q v").quiet);
    ck_assert_uint_ne(command("mg k O1").token, command("mg k O2").token);
    ck_assert_uint_eq(command("mg k v").token, 0);
    g_autofree char *key = g_strnfill(251, 'k');
    g_autofree char *get = g_strconcat("get ", key, NULL);
    ck_assert(!command(get).valid);
    get[strlen(get) - 1] = '\0';
    ck_assert(command(get).valid);
    ck_assert_str_eq(command("flush_all").label, "FLUSH_ALL");
    ck_assert_str_eq(command("whatever").label, "*");
}
END_TEST

static BbMatch probe(const char *text, gsize length)
{
    g_autofree guint8 *copy = g_memdup2(text, length);
    return bb_decoder_memcached.probe(copy ? copy : (const guint8 *)"", length);
}

START_TEST(probe_lines)
{
    static const struct {
        const char *line;
        BbMatch match;
    } cases[] = {
        {"get key\r\n", BB_MATCH_REQUEST},
        {"gets a b\r\n", BB_MATCH_REQUEST},
        {"set k 0 0 5\r\nhe", BB_MATCH_REQUEST},
        {"cas k 0 0 5 9\r\n", BB_MATCH_REQUEST},
        {"incr k 1\r\n", BB_MATCH_REQUEST},
        {"delete key\r\n", BB_MATCH_REQUEST},
        {"flush_all\r\n", BB_MATCH_REQUEST},
        {"delete 17\r\n", BB_MATCH_MAYBE}, // beanstalkd
        {"stats\r\n", BB_MATCH_MAYBE},
        {"version\r\n", BB_MATCH_MAYBE},
        {"quit\r\n", BB_MATCH_MAYBE},
        {"mg key v\r\n", BB_MATCH_LIKELY},
        {"VALUE k 0 5\r\nhello\r\n", BB_MATCH_REPLY},
        {"STORED\r\n", BB_MATCH_REPLY},
        {"CLIENT_ERROR x\r\n", BB_MATCH_REPLY},
        {"STAT pid 5\r\n", BB_MATCH_REPLY},
        {"STAT items:1:number 5\r\n", BB_MATCH_REPLY},
        {"STAT\r\n", BB_MATCH_MAYBE},          // POP3
        {"STAT 12\r\n", BB_MATCH_MAYBE},       // NNTP
        {"STAT -l files\r\n", BB_MATCH_MAYBE}, // FTP
        {"EXISTS key\r\n", BB_MATCH_MAYBE},    // Redis, typed
        {"END\r\n", BB_MATCH_MAYBE},
        {"VA 5\r\n", BB_MATCH_LIKELY},
        {"17\r\n", BB_MATCH_MAYBE},
        {"GET key\r\n", BB_MATCH_NO},
        {"set k v\r\n", BB_MATCH_NO}, // Redis, typed
        {"incr k\r\n", BB_MATCH_NO},
        {"get key\n", BB_MATCH_NO},
        {"get\r\n", BB_MATCH_NO},
        {"VALUE k\r\n", BB_MATCH_NO},
        {"ping\r\n", BB_MATCH_NO},
        {"GET / HTTP/1.1\r\n", BB_MATCH_NO},
        {"HELO x\r\n", BB_MATCH_NO},
        {"\r\n", BB_MATCH_NO},
        {"\x80\x01", BB_MATCH_NO}, // the binary protocol
        {"", BB_MATCH_MORE},
        {"ge", BB_MATCH_MORE},
        {"get key", BB_MATCH_MORE},
        {"get key\r", BB_MATCH_MORE},
        {"set k 0 0", BB_MATCH_MORE},
        {"VAL", BB_MATCH_MORE},
        {"VALUE k 0", BB_MATCH_MORE},
        {"gex", BB_MATCH_NO},
        {"set k x 0 ", BB_MATCH_NO},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
        ck_assert_msg(probe(cases[i].line, strlen(cases[i].line)) == cases[i].match, "case %zu: %s",
                      i, cases[i].line);
    g_autoptr(GString) keys = g_string_new("get");
    while (keys->len < 400)
        g_string_append(keys, " some:key");
    ck_assert_int_eq(probe(keys->str, keys->len), BB_MATCH_REQUEST);
}
END_TEST

START_TEST(probe_random_bytes)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(11211);
    for (guint i = 0; i < 50000; i++) {
        char bytes[64];
        for (gsize k = 0; k < sizeof bytes; k++)
            bytes[k] = (char)g_rand_int(rand);
        ck_assert_int_eq(probe(bytes, sizeof bytes), BB_MATCH_NO);
    }
}
END_TEST

TEST_MAIN("memcached_line", lines_of_the_client, probe_lines, probe_random_bytes)
