// SPDX-License-Identifier: Apache-2.0
// Zone transfers of DNS: which messages answer one, and where it ends.
#include "tests/unit/dns_talk.h"

// A record of example.com of 27 bytes, or by a digit an SOA of 53 with that serial.
static void put_zone_record(Message *m, char what)
{
    bool soa = g_ascii_isdigit(what);
    put_name(m, "example.com");
    put16(m, soa ? SOA : A);
    put16(m, 1);
    put16(m, 0);
    put16(m, 300);
    put16(m, soa ? 30 : 4);
    if (!soa) {
        put(m, "\1\2\3\4", 4);
        return;
    }
    put(m, "\xc0\x0c\5admin\xc0\x0c\0\0\0", 13);
    put(m, &(guint8){(guint8)(what - '0')}, 1);
    put(m, "\0\0\x1c\x20\0\0\x0e\x10\0\x12\x75\0\0\0\x0e\x10", 16);
}

// A query for example.com: 31 bytes, or 84 where the client has a zone of that serial.
static Message *ask_zone(guint id, guint type, guint has)
{
    Message *m = header(id, 0, 1, 0, has ? 1 : 0, 0);
    put_question(m, "example.com", type, 1);
    if (has)
        put_zone_record(m, (char)('0' + has));
    return m;
}

// An answer of 14 bytes, 17 of a question (type 0: without), and what put_zone_record says.
static Message *zone(guint id, guint type, const char *records)
{
    Message *m = header(id, QR | AA, type ? 1 : 0, (guint)strlen(records), 0, 0);
    if (type)
        put_question(m, "example.com", type, 1);
    for (; *records; records++)
        put_zone_record(m, *records);
    return m;
}

static void check_zone_transfer(gsize segment)
{
    g_autoptr(Converse) c = converse_tcp(5300);
    converse_segment_size(c, segment);
    say_framed(c, BB_TO_SERVER, ask_zone(1, AXFR, 0));
    say_framed(c, BB_TO_SERVER, question(2, 0, "example.com", SOA));
    say_framed(c, BB_TO_CLIENT, zone(1, AXFR, "3a"));
    say_framed(c, BB_TO_CLIENT, question(2, QR, "example.com", SOA));
    say_framed(c, BB_TO_CLIENT, zone(1, 0, "aaa"));
    say_framed(c, BB_TO_CLIENT, zone(1, 0, "a3"));
    say_framed(c, BB_TO_CLIENT, question(3, QR, "example.com", SOA));
    ck_assert_str_eq(converse_result(c),
                     "CALL 1 dns AXFR example.com 31\nCALL 2 dns SOA example.com 31\n"
                     "RET 1 dns NOERROR 300\nRET 2 dns NOERROR 31\nRET - dns NOERROR 31\n");
    gint64 took = converse_last_ms(c, 2) - converse_first_ms(c, 2);
    ck_assert_int_eq(took, segment == 1 ? 300 + 31 - 1 : 3);
}

// All messages of a zone transfer are its return, of the first one's time, whatever else is
// answered between them.
START_TEST(zone_transfer)
{
    check_zone_transfer(1460);
    check_zone_transfer(1);
}
END_TEST

// The longest message there is, in which no record is passed over.
START_TEST(large_zone_transfer)
{
    g_autoptr(GString) records = g_string_new("3");
    while (records->len < 2422)
        g_string_append_c(records, 'a');
    g_string_append_c(records, '3');
    g_autoptr(Message) up = g_byte_array_new();
    g_autoptr(Message) down = g_byte_array_new();
    frame(up, ask_zone(1, AXFR, 0));
    Message *m = zone(1, AXFR, records->str);
    ck_assert_uint_eq(m->len, 65502);
    frame(down, m);
    frame(down, zone(1, 0, "3"));
    check_tcp(up, down,
              "CALL 1 dns AXFR example.com 31\nRET 1 dns NOERROR 65504\nRET - dns NOERROR 67\n");
}
END_TEST

// RFC 1995: nothing new, differences, all of the zone, one record a message; what came behind the
// last record is an orphan.
START_TEST(incremental_transfer)
{
    static const struct {
        const char *messages[6];
        guint has;
        const char *returns;
    } cases[] = {
        {{"3"}, 3, "RET 1 dns NOERROR 84\n"},
        {{"3"}, 0, "RET 1 dns NOERROR 84\n"},
        {{"31a3a3"}, 1, "RET 1 dns NOERROR 297\n"},
        {{"31a2a2a3", "a3"}, 1, "RET 1 dns NOERROR 471\n"},
        {{"3aa", "3"}, 1, "RET 1 dns NOERROR 205\n"},
        {{"3", "1", "a", "3", "3"}, 1, "RET 1 dns NOERROR 326\n"},
        {{""}, 1, "RET 1 dns NOERROR 31\n"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(Message) up = g_byte_array_new();
        g_autoptr(Message) down = g_byte_array_new();
        frame(up, ask_zone(1, IXFR, cases[i].has));
        for (guint k = 0; cases[i].messages[k]; k++)
            frame(down, zone(1, k ? 0 : IXFR, cases[i].messages[k]));
        frame(down, zone(1, 0, "a"));
        g_autofree char *expected =
            g_strdup_printf("CALL 1 dns IXFR example.com %u\n%sRET - dns NOERROR 41\n",
                            cases[i].has ? 84 : 31, cases[i].returns);
        check_tcp(up, down, expected);
    }
}
END_TEST

// An error, the id of another query, a loss, too many of them: what came of it is kept.
START_TEST(broken_transfers)
{
    g_autoptr(Converse) c = converse_tcp(53);
    say_framed(c, BB_TO_SERVER, ask_zone(1, AXFR, 0));
    say_framed(c, BB_TO_CLIENT, question(1, QR | 5, "example.com", AXFR));
    say_framed(c, BB_TO_SERVER, ask_zone(2, AXFR, 0));
    say_framed(c, BB_TO_CLIENT, zone(2, AXFR, "3a"));
    say_framed(c, BB_TO_CLIENT, header(2, QR | 2, 0, 0, 0, 0));
    say_framed(c, BB_TO_SERVER, ask_zone(3, AXFR, 0));
    say_framed(c, BB_TO_CLIENT, zone(3, AXFR, "3a"));
    say_framed(c, BB_TO_SERVER, question(3, 0, "example.com", A));
    say_framed(c, BB_TO_CLIENT, question(3, QR, "example.com", A));
    say_framed(c, BB_TO_SERVER, ask_zone(4, AXFR, 0));
    say_framed(c, BB_TO_CLIENT, zone(4, AXFR, "3a"));
    converse_lose(c, BB_TO_CLIENT, 100);
    say_framed(c, BB_TO_CLIENT, zone(4, AXFR, "a3"));
    ck_assert_str_eq(converse_result(c), "CALL 1 dns AXFR example.com 31\nRET 1 dns REFUSED 31\n"
                                         "CALL 2 dns AXFR example.com 31\nRET 2 dns SERVFAIL 125\n"
                                         "CALL 3 dns AXFR example.com 31\nRET 3 dns NOERROR 111\n"
                                         "CALL 4 dns A example.com 31\nRET 4 dns NOERROR 31\n"
                                         "CALL 5 dns AXFR example.com 31\nRET 5 dns NOERROR 222\n");
    ck_assert_uint_eq(converse_loss(c, BB_RETURNS_ORPHANED), 0);
}
END_TEST

START_TEST(many_transfers)
{
    g_autoptr(Converse) c = converse_tcp(53);
    for (guint id = 1; id <= 9; id++)
        say_framed(c, BB_TO_SERVER, ask_zone(id, AXFR, 0));
    for (guint id = 9; id >= 1; id--) {
        say_framed(c, BB_TO_CLIENT, zone(id, AXFR, "3"));
        say_framed(c, BB_TO_CLIENT, zone(id, 0, "3"));
    }
    const char *result = strstr(converse_result(c), "RET");
    ck_assert_ptr_nonnull(strstr(result, "RET 2 dns NOERROR 151\nRET 1 dns NOERROR 84\n"));
    ck_assert_uint_eq(converse_loss(c, BB_PENDING_LIMIT), 1);
    ck_assert_uint_eq(converse_loss(c, BB_RETURNS_ORPHANED), 1);
}
END_TEST

TEST_MAIN("dns_transfer", zone_transfer, large_zone_transfer, incremental_transfer,
          broken_transfers, many_transfers)
