// SPDX-License-Identifier: Apache-2.0
// SCGI: netstrings of variables, bodies, replies until the end, loss.
#include "tests/unit/cgi_talk.h"

static void put_pair(Octets *out, const char *name, const char *value)
{
    octets_put(out, name, strlen(name) + 1);
    octets_put(out, value, strlen(value) + 1);
}

static Octets *head(const char *method, const char *uri, gsize body)
{
    g_autofree char *length = g_strdup_printf("%zu", body);
    Octets *block = g_byte_array_new(), *out = g_byte_array_new();
    put_pair(block, "CONTENT_LENGTH", length);
    put_pair(block, "SCGI", "1");
    put_pair(block, "REQUEST_METHOD", method);
    put_pair(block, "REQUEST_URI", uri);
    put_pair(block, "SERVER_PROTOCOL", "HTTP/1.1");
    g_autofree char *size = g_strdup_printf("%u:", block->len);
    octets_put(out, size, strlen(size));
    octets_put(block, ",", 1);
    return octets_join(out, block);
}

START_TEST(statuses)
{
    cgi_check_statuses(head, "scgi");
}
END_TEST

START_TEST(bodies)
{
    cgi_check_bodies(head, "scgi");
    cgi_check_large_reply(head, "scgi");
    cgi_check_second(head, "scgi");
}
END_TEST

START_TEST(losses)
{
    cgi_check_losses(head, "scgi");
}
END_TEST

// A head that is longer than what is looked at: the body cannot be told from what follows.
START_TEST(long_head)
{
    g_autofree char *cookie = g_strnfill(70000, 'c');
    Octets *block = g_byte_array_new(), *out = g_byte_array_new();
    put_pair(block, "CONTENT_LENGTH", "7");
    put_pair(block, "SCGI", "1");
    put_pair(block, "REQUEST_METHOD", "PUT");
    put_pair(block, "HTTP_COOKIE", cookie);
    put_pair(block, "REQUEST_URI", "/beyond");
    g_autofree char *size = g_strdup_printf("%u:", block->len);
    octets_put(out, size, strlen(size));
    octets_put(block, ",content", 8);
    octets_join(out, block);
    g_autofree char *expected =
        g_strdup_printf("CALL 1 scgi PUT ? %u\nRET 1 scgi 200 29\n", out->len);
    g_autoptr(Steps) s = steps_new(4000);
    step(s, SAY_UP, out);
    cgi_end(s, CGI_OK);
    steps_check(s, expected);
}
END_TEST

START_TEST(probes)
{
    const BbDecoder *decoder = &bb_decoder_scgi;
    ck_assert_int_eq(probe_octets(decoder, "'70'"), BB_MATCH_MORE);
    ck_assert_int_eq(probe_octets(decoder, "'70:CONTENT_L'"), BB_MATCH_MORE);
    ck_assert_int_eq(probe_octets(decoder, "'70:CONTENT_LENGTH' 00 '27' 00"), BB_MATCH_REQUEST);
    ck_assert_int_eq(probe_octets(decoder, "'70:CONTENT_LENGTHS' 00"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(decoder, "'7:CONTENT_LENGTH' 00"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(decoder, "'7000000:CONTENT_LENGTH' 00"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(decoder, "':CONTENT_LENGTH' 00"), BB_MATCH_NO);
    check_refusals(decoder);
}
END_TEST

TEST_MAIN("scgi", statuses, bodies, losses, long_head, probes)
