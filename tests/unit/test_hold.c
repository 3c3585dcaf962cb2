// SPDX-License-Identifier: Apache-2.0
// In: connections whose client closes before the reply comes. Out: checks of whether it was read.
#include "capture/hold.h"
#include "tests/unit/flow_scene.h"

#define GET "GET /a HTTP/1.1\r\nHost: x\r\n\r\n"            // 28 bytes
#define OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" // 40 bytes

static void ask(Scene *scene, const char *request)
{
    scene_begin(scene, 100000);
    open_connection(scene, 1000, 2000);
    say(scene, CLIENT, BB_TCP_ACK, request);
}

static void ask_and_close(Scene *scene, guint calls)
{
    ask(scene, GET);
    for (guint i = 1; i < calls; i++)
        say(scene, CLIENT, BB_TCP_ACK, GET);
    say(scene, CLIENT, BB_TCP_FIN | BB_TCP_ACK, "");
    say(scene, SERVER, BB_TCP_ACK, "");
}

static void check_told(const Scene *scene, const char *told, guint unread)
{
    ck_assert_str_eq(scene->told->str, told);
    ck_assert_uint_eq(scene->loss.count[BB_RETURNS_UNREAD], unread);
}

// RFC 9293, 3.10.7.4: a reset in answer to a segment with ACK has none itself.
START_TEST(who_gave_up_resets)
{
    for (guint server_closes = 0; server_closes < 2; server_closes++) {
        Scene scene;
        ask_and_close(&scene, 1);
        say(&scene, SERVER, BB_TCP_ACK, OK);
        if (server_closes)
            say(&scene, SERVER, BB_TCP_FIN | BB_TCP_ACK, "");
        check_told(&scene, "call:28 end:0 ", 0);
        say(&scene, CLIENT, BB_TCP_RST, "");
        check_told(&scene, "call:28 end:0 ret:40! ", 1);
        scene_end(&scene, "call:28 end:0 ret:40! ");
    }
}
END_TEST

START_TEST(who_has_no_more_to_say_acknowledges)
{
    for (guint server_closes = 0; server_closes < 2; server_closes++) {
        Scene scene;
        ask_and_close(&scene, 1);
        say(&scene, SERVER, BB_TCP_ACK | (server_closes ? BB_TCP_FIN : 0), OK);
        check_told(&scene, "call:28 end:0 ", 0);
        say(&scene, CLIENT, BB_TCP_ACK, "");
        check_told(&scene, "call:28 end:0 ret:40 ", 0);
        say(&scene, CLIENT, BB_TCP_RST, ""); // and throws the rest away
        scene_end(&scene, "call:28 end:0 ret:40 ");
    }
}
END_TEST

// It had come when the connection was broken off.
START_TEST(a_reset_that_acknowledges)
{
    Scene scene;
    ask_and_close(&scene, 1);
    say(&scene, SERVER, BB_TCP_ACK, OK);
    say(&scene, CLIENT, BB_TCP_RST | BB_TCP_ACK, "");
    check_told(&scene, "call:28 end:0 ret:40 ", 0);
    scene_end(&scene, "call:28 end:0 ret:40 ");
}
END_TEST

// An older acknowledgement, which was under way, tells nothing.
START_TEST(one_that_is_older_tells_nothing)
{
    Scene scene;
    ask_and_close(&scene, 1);
    guint32 before = scene.next[SERVER];
    say(&scene, SERVER, BB_TCP_ACK, OK);
    guint32 behind = scene.next[SERVER];
    scene.next[SERVER] = before;
    say(&scene, CLIENT, BB_TCP_ACK, "");
    scene.next[SERVER] = behind;
    check_told(&scene, "call:28 end:0 ", 0);
    say(&scene, CLIENT, BB_TCP_RST, "");
    scene_end(&scene, "call:28 end:0 ret:40! ");
}
END_TEST

// The mirror shows the acknowledgement before what it is for.
START_TEST(one_that_was_seen_before)
{
    Scene scene;
    ask_and_close(&scene, 1);
    guint32 before = scene.next[SERVER];
    scene.next[SERVER] += (guint32)strlen(OK);
    say(&scene, CLIENT, BB_TCP_ACK, "");
    scene.next[SERVER] = before;
    say(&scene, SERVER, BB_TCP_ACK, OK);
    check_told(&scene, "call:28 end:0 ret:40 ", 0);
    say(&scene, CLIENT, BB_TCP_RST, "");
    scene_end(&scene, "call:28 end:0 ret:40 ");
}
END_TEST

START_TEST(of_two_the_second_is_not_read)
{
    Scene scene;
    ask_and_close(&scene, 2);
    say(&scene, SERVER, BB_TCP_ACK, OK);
    say(&scene, CLIENT, BB_TCP_ACK, "");
    say(&scene, SERVER, BB_TCP_ACK, OK);
    say(&scene, CLIENT, BB_TCP_RST, "");
    scene_end(&scene, "call:28 call:28 end:0 end:0 ret:40 ret:40! ");
}
END_TEST

// Who has half of it and goes has not waited in vain.
START_TEST(what_began_before_the_end_is_not_held)
{
    Scene scene;
    ask(&scene, GET);
    say(&scene, SERVER, BB_TCP_ACK, "HTTP/1.1 200 OK\r\n");
    say(&scene, CLIENT, BB_TCP_FIN | BB_TCP_ACK, "");
    say(&scene, SERVER, BB_TCP_ACK, "Content-Length: 2\r\n\r\nok");
    check_told(&scene, "call:28 ret:40 ", 0);
    say(&scene, CLIENT, BB_TCP_RST, "");
    scene_end(&scene, "call:28 ret:40 ");
}
END_TEST

// As of a protocol that is not known, where the reply is over when the connection is.
START_TEST(of_turns_likewise)
{
    Scene scene;
    ask(&scene, "\1one");
    say(&scene, CLIENT, BB_TCP_FIN | BB_TCP_ACK, "");
    say(&scene, SERVER, BB_TCP_ACK, "\2two");
    say(&scene, CLIENT, BB_TCP_RST, "");
    scene_end(&scene, "call:4 ret:4! ");
}
END_TEST

// As of QUIT: it never waited.
START_TEST(who_closes_at_once_gives_nothing_up)
{
    Scene scene;
    ask(&scene, GET);
    scene.now_ns -= 1; // of the millisecond that each packet takes
    say(&scene, CLIENT, BB_TCP_FIN | BB_TCP_ACK, "");
    say(&scene, SERVER, BB_TCP_ACK, OK);
    check_told(&scene, "call:28 ret:40 ", 0);
    say(&scene, CLIENT, BB_TCP_RST, "");
    scene_end(&scene, "call:28 ret:40 ");
}
END_TEST

START_TEST(nothing_more_is_heard)
{
    Scene scene;
    ask_and_close(&scene, 1);
    say(&scene, SERVER, BB_TCP_FIN | BB_TCP_ACK, OK);
    ck_assert_uint_gt(bb_capture_held_bytes(scene.capture), 0);
    scene_end(&scene, "call:28 end:0 ret:40 ");
}
END_TEST

// Nor of what was reset long after, or never: other connections go on.
START_TEST(nothing_is_heard_for_long)
{
    for (guint another = 0; another < 2; another++) {
        Scene scene;
        ask_and_close(&scene, 1);
        say(&scene, SERVER, BB_TCP_ACK, OK);
        scene.now_ns += BB_HOLD_NS;
        if (another) {
            scene.port++;
            say(&scene, CLIENT, BB_TCP_SYN, "");
            scene.port--;
            check_told(&scene, "call:28 end:0 ret:40 ", 0);
            ck_assert_uint_eq(bb_capture_held_bytes(scene.capture), 0);
        }
        say(&scene, CLIENT, BB_TCP_RST, "");
        scene_end(&scene, "call:28 end:0 ret:40 ");
    }
}
END_TEST

START_TEST(the_limit_of_what_is_held)
{
    Scene scene;
    scene_begin(&scene, 40);
    open_connection(&scene, 1000, 2000);
    say(&scene, CLIENT, BB_TCP_ACK, GET);
    say(&scene, CLIENT, BB_TCP_FIN | BB_TCP_ACK, "");
    say(&scene, SERVER, BB_TCP_ACK, OK);
    check_told(&scene, "call:28 end:0 ret:40 ", 0);
    ck_assert_uint_eq(bb_capture_held_bytes(scene.capture), 0);
    say(&scene, CLIENT, BB_TCP_RST, "");
    scene_end(&scene, "call:28 end:0 ret:40 ");
}
END_TEST

// What ends calls is told, and only that: who closes what they wait for, or is waited for with.
START_TEST(calls_that_get_no_return)
{
    static const struct {
        guint side;
        guint8 flags;
        const char *told;
    } cases[] = {{CLIENT, BB_TCP_FIN | BB_TCP_ACK, "call:28 end:0 "},
                 {CLIENT, BB_TCP_RST | BB_TCP_ACK, "call:28 end:0 "},
                 {SERVER, BB_TCP_FIN | BB_TCP_ACK, "call:28 end:0 "},
                 {SERVER, BB_TCP_RST | BB_TCP_ACK, "call:28 end:0 "},
                 {CLIENT, BB_TCP_ACK, "call:28 "}};
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        Scene scene;
        ask(&scene, GET);
        say(&scene, cases[i].side, cases[i].flags, "");
        if (cases[i].flags & BB_TCP_FIN) // and the other one
            say(&scene, !cases[i].side, cases[i].flags, "");
        bool ended = cases[i].flags != BB_TCP_ACK;
        ck_assert_uint_eq(scene.loss.count[BB_CALLS_CLOSED], ended);
        scene_end(&scene, cases[i].told);
        ck_assert_uint_eq(scene.loss.count[BB_CALLS_UNRETURNED], 1);
    }
}
END_TEST

// Its last byte is not known yet.
START_TEST(a_call_that_is_being_answered)
{
    Scene scene;
    ask(&scene, "\1one");
    say(&scene, SERVER, BB_TCP_ACK, "\2two");
    close_connection(&scene);
    scene_end(&scene, "call:4 ret:4 ");
}
END_TEST

TEST_MAIN("hold", calls_that_get_no_return, a_call_that_is_being_answered, who_gave_up_resets,
          who_has_no_more_to_say_acknowledges, a_reset_that_acknowledges,
          one_that_is_older_tells_nothing, of_two_the_second_is_not_read,
          what_began_before_the_end_is_not_held, of_turns_likewise,
          who_closes_at_once_gives_nothing_up, nothing_is_heard_for_long, one_that_was_seen_before,
          nothing_more_is_heard, the_limit_of_what_is_held)
