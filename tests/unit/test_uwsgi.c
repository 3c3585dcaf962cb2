// SPDX-License-Identifier: Apache-2.0
// uwsgi: blocks of variables, bodies, replies until the end, loss.
#include "tests/unit/cgi_talk.h"

static void put_text(Octets *out, const char *text)
{
    octets_le(out, strlen(text), 2);
    octets_put(out, text, strlen(text));
}

static void put_pair(Octets *out, const char *name, const char *value)
{
    put_text(out, name);
    put_text(out, value);
}

static Octets *head(const char *method, const char *uri, gsize body)
{
    g_autofree char *length = body ? g_strdup_printf("%zu", body) : g_strdup("");
    Octets *out = octets("00 0000 00");
    put_pair(out, "QUERY_STRING", "x=1");
    put_pair(out, "REQUEST_METHOD", method);
    put_pair(out, "CONTENT_LENGTH", length);
    put_pair(out, "REQUEST_URI", uri);
    put_pair(out, "PATH_INFO", "/cart/17");
    put_pair(out, "SERVER_PROTOCOL", "HTTP/1.1");
    octets_patch_le(out, 1, out->len - 4, 2);
    return out;
}

START_TEST(statuses)
{
    cgi_check_statuses(head, "uwsgi");
}
END_TEST

START_TEST(bodies)
{
    cgi_check_bodies(head, "uwsgi");
    cgi_check_large_reply(head, "uwsgi");
    cgi_check_second(head, "uwsgi");
}
END_TEST

START_TEST(losses)
{
    cgi_check_losses(head, "uwsgi");
}
END_TEST

// What is not said of a request is `?`; without a target its script is one.
START_TEST(labels)
{
    g_autoptr(Steps) s = steps_new(3031);
    Octets *out = octets("05 0000 01");
    put_pair(out, "SCRIPT_NAME", "/app");
    put_pair(out, "PATH_INFO", "/inner");
    octets_patch_le(out, 1, out->len - 4, 2);
    step(s, SAY_UP, out);
    cgi_end(s, CGI_OK);
    steps_check(s, "CALL 1 uwsgi ? /app 42\nRET 1 uwsgi 200 29\n");
    g_autoptr(Steps) t = steps_new(3031);
    out = octets("00 0000 00");
    put_pair(out, "REQUEST_METHOD", "GET");
    octets_patch_le(out, 1, out->len - 4, 2);
    step(t, SAY_UP, out);
    cgi_end(t, CGI_OK);
    steps_check(t, "CALL 1 uwsgi GET ? 25\nRET 1 uwsgi 200 29\n");
}
END_TEST

START_TEST(probes)
{
    const BbDecoder *decoder = &bb_decoder_uwsgi;
    ck_assert_int_eq(probe_octets(decoder, "00 2000 00"), BB_MATCH_MORE);
    ck_assert_int_eq(probe_octets(decoder, "00 2000 00 0c00 'QUERY_'"), BB_MATCH_MORE);
    ck_assert_int_eq(probe_octets(decoder, "00 2000 00 0c00 'QUERY_STRING' 0000"),
                     BB_MATCH_REQUEST);
    ck_assert_int_eq(probe_octets(decoder, "00 2000 00 0c00 'query_string' 0000"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(decoder, "00 2000 00 0c00 'QUERY_STRING' 4000"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(decoder, "00 2000 00 4c00 'QUERY_STRING' 0000"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(decoder, "ff 2000 00 0c00 'QUERY_STRING' 0000"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(decoder, "00 0a00 00 0100 'A' 0000 0100 'B' 0000"), BB_MATCH_NO);
    check_refusals(decoder);
}
END_TEST

TEST_MAIN("uwsgi", statuses, bodies, losses, labels, probes)
