// SPDX-License-Identifier: Apache-2.0
// What uwsgi and SCGI have in common, for their tests: a request, a reply, the end.
#pragma once

#include "tests/unit/octets.h"

// The head of a request with so long a body.
typedef Octets *(*CgiHead)(const char *method, const char *uri, gsize body);

#define CGI_OK "'HTTP/1.1 200 OK' 0d0a 'A: b' 0d0a0d0a 'page'" // 29 bytes

static inline Steps *cgi_steps(CgiHead head, guint16 port, gsize body)
{
    Steps *steps = steps_new(port);
    step(steps, SAY_UP, head(body ? "POST" : "GET", "/cart/17?x=1", body));
    return steps;
}

static inline void cgi_end(Steps *steps, const char *reply)
{
    down(steps, reply);
    step(steps, END_DOWN, octets(""));
    step(steps, END_UP, octets(""));
}

// The reply's status, whatever its form.
static inline void cgi_check_status(CgiHead head, const char *proto, const char *reply,
                                    const char *status)
{
    g_autoptr(Steps) s = cgi_steps(head, 80, 0);
    gsize request = g_array_index(s->steps, Step, 0).bytes->len;
    g_autoptr(Octets) bytes = octets(reply);
    cgi_end(s, reply);
    g_autofree char *expected = g_strdup_printf("CALL 1 %s GET /cart/* %zu\nRET 1 %s %s %u\n",
                                                proto, request, proto, status, bytes->len);
    steps_check(s, expected);
}

static inline void cgi_check_statuses(CgiHead head, const char *proto)
{
    static const char *const cases[][2] = {
        {CGI_OK, "200"},
        {"'HTTP/1.0 502 Bad' 0d0a0d0a", "502"},
        {"'Status: 404 Not Found' 0d0a 'A: b' 0d0a0d0a", "404"},
        {"'A: b' 0a 'status:503' 0a0a 'late'", "503"},
        {"'Content-Type: text/plain' 0d0a0d0a 'Status: 404'", "200"},
        {"'Location: http://a/b' 0d0a0d0a", "302"},
        {"'Location: /b' 0d0a0d0a", "200"},
        {"'Location: http://a/b' 0d0a 'Status: 301' 0d0a0d0a", "301"},
        {"'A-field-longer-than-what-is-looked-at-of-a-line: b' 0d0a 'Status: 400' 0d0a0d0a", "400"},
        {"'no head at all' 0a 'Status: 400' 0a0a", "ok"},
        {"'cut short'", "ok"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
        cgi_check_status(head, proto, cases[i][0], cases[i][1]);
}

// A body that comes after the head, with a gap in it; an early answer to another.
static inline void cgi_check_bodies(CgiHead head, const char *proto)
{
    g_autoptr(Steps) s = cgi_steps(head, 80, 3000);
    gsize request = g_array_index(s->steps, Step, 0).bytes->len;
    up(s, "'b'*1000");
    step(s, LOSE_UP, octets("'b'*1000"));
    up(s, "'b'*1000");
    cgi_end(s, CGI_OK);
    g_autofree char *expected = g_strdup_printf("CALL 1 %s POST /cart/* %zu\nRET 1 %s 200 29\n",
                                                proto, request + 2000, proto);
    steps_check(s, expected);

    g_autoptr(Steps) early = cgi_steps(head, 80, 3000);
    up(early, "'b'*1000");
    cgi_end(early, CGI_OK);
    g_autofree char *cut = g_strdup_printf("CALL 1 %s POST /cart/* %zu\nRET 1 %s 200 29\n", proto,
                                           request + 1000, proto);
    steps_check(early, cut);
}

// Large replies are passed over, also where they have gaps.
static inline void cgi_check_large_reply(CgiHead head, const char *proto)
{
    g_autoptr(Steps) s = cgi_steps(head, 80, 0);
    gsize request = g_array_index(s->steps, Step, 0).bytes->len;
    down(s, CGI_OK);
    down(s, "'x'*70000");
    step(s, LOSE_DOWN, octets("'x'*3000"));
    cgi_end(s, "'x'*1000");
    g_autofree char *expected =
        g_strdup_printf("CALL 1 %s GET /cart/* %zu\nRET 1 %s 200 71029\n", proto, request, proto);
    steps_check(s, expected);
}

// Another request on the same connection: the first reply is over.
static inline void cgi_check_second(CgiHead head, const char *proto)
{
    g_autoptr(Steps) s = cgi_steps(head, 80, 0);
    gsize request = g_array_index(s->steps, Step, 0).bytes->len;
    down(s, CGI_OK);
    step(s, SAY_UP, head("GET", "/cart/18?x=1", 0));
    cgi_end(s, "'Status: 500' 0d0a0d0a");
    g_autofree char *expected = g_strdup_printf("CALL 1 %s GET /cart/* %zu\nRET 1 %s 200 29\n"
                                                "CALL 2 %s GET /cart/* %zu\nRET 2 %s 500 15\n",
                                                proto, request, proto, proto, request, proto);
    steps_check(s, expected);
}

static inline void cgi_check_losses(CgiHead head, const char *proto)
{
    // The reply's head is lost in part: what was seen is kept.
    g_autoptr(Steps) s = cgi_steps(head, 80, 0);
    gsize request = g_array_index(s->steps, Step, 0).bytes->len;
    down(s, "'A: b' 0d0a");
    step(s, LOSE_DOWN, octets("'Status: 404' 0d0a0d0a"));
    cgi_end(s, "'page'");
    g_autofree char *cut =
        g_strdup_printf("CALL 1 %s GET /cart/* %zu\nRET 1 %s - 6\n", proto, request, proto);
    steps_check(s, cut);

    // The whole of it: no return.
    g_autoptr(Steps) unanswered = cgi_steps(head, 80, 0);
    step(unanswered, LOSE_DOWN, octets(CGI_OK));
    cgi_end(unanswered, "'page'");
    g_autofree char *alone = g_strdup_printf("CALL 1 %s GET /cart/* %zu\n", proto, request);
    steps_check(unanswered, alone);

    // The end of the request's head: the call is kept as far as it was seen.
    g_autoptr(Steps) half = steps_new(80);
    Octets *bytes = head("GET", "/cart/17?x=1", 0);
    Octets *first = g_byte_array_new(), *rest = g_byte_array_new();
    octets_put(first, bytes->data, bytes->len - 8);
    octets_put(rest, bytes->data + bytes->len - 8, 8);
    step(half, SAY_UP, first);
    step(half, LOSE_UP, rest);
    cgi_end(half, CGI_OK);
    g_autofree char *kept = g_strdup_printf("CALL 1 %s GET /cart/* %u\nRET 1 %s 200 29\n", proto,
                                            bytes->len - 8, proto);
    g_byte_array_unref(bytes);
    g_autoptr(Converse) c = steps_play(half, 1460);
    ck_assert_str_eq(converse_result(c), kept);
}
