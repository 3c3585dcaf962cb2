// SPDX-License-Identifier: Apache-2.0
// Event logs as messages: who got what, by source and by key; what caused what; lines that are
// none.
#include "merge/event_line.h"
#include "merge/event_log.h"
#include "tests/unit/span_import.h"

// ---- lines ------------------------------------------------------------------------------------

static const char *parse(const char *text, BbEventLine *event)
{
    static char line[256];
    g_strlcpy(line, text, sizeof line);
    return bb_event_line_parse(line, event);
}

START_TEST(fields)
{
    BbEventLine event;
    ck_assert_ptr_null(parse("event(1,web,t,-,sig,call,get)", &event));
    ck_assert_str_eq(event.id, "1");
    ck_assert_str_eq(event.process, "web");
    ck_assert_str_eq(event.thread, "t");
    ck_assert_ptr_null(event.source);
    ck_assert(!event.acts);
    ck_assert_str_eq(event.tag, "call");
    ck_assert_str_eq(event.value, "get");
    ck_assert_ptr_null(parse(" event ( a b , w , _ , 7 ,act, , - ) . \r", &event));
    ck_assert_str_eq(event.id, "a b");
    ck_assert_ptr_null(event.thread);
    ck_assert_str_eq(event.source, "7");
    ck_assert(event.acts);
    ck_assert_ptr_null(event.tag);
    ck_assert_ptr_null(event.value);
    ck_assert_ptr_null(parse("event('a,b','it''s',\"x\\\"y\",'-',act,'','(')", &event));
    ck_assert_str_eq(event.id, "a,b");
    ck_assert_str_eq(event.process, "it's");
    ck_assert_str_eq(event.thread, "x\"y");
    ck_assert_str_eq(event.source, "-");
    ck_assert_str_eq(event.tag, "");
    ck_assert_str_eq(event.value, "(");
}
END_TEST

START_TEST(lines_that_are_none)
{
    static const char *const texts[][2] = {
        {"", "the line is no event(...)"},
        {"even(1)", "the line is no event(...)"},
        {"event 1", "the line is no event(...)"},
        {"event(1,w,t,-,sig,a)", "an event has not seven fields"},
        {"event(1,w,t,-,sig,a,b,c)", "an event has not seven fields"},
        {"event('1'2,w,t,-,sig,a,b)", "an event has not seven fields"},
        {"event(1,w,t,-,sig,a,b", "a field that holds quotes or parentheses must be quoted"},
        {"event(1,w,t,-,sig,a,f(x))", "a field that holds quotes or parentheses must be quoted"},
        {"event(1,it's,t,-,sig,a,b)", "a field that holds quotes or parentheses must be quoted"},
        {"event(1,w,t,-,sig,a,'b)", "a text in quotes does not end"},
        {"event(1,w,t,-,sig,a,'b\\", "a text in quotes does not end"},
        {"event(1,w,t,-,sig,a,b) c", "there is text behind the event"},
        {"event(-,w,t,-,sig,a,b)", "an event has no id or no process"},
        {"event('',w,t,-,sig,a,b)", "an event has no id or no process"},
        {"event(1,_,t,-,sig,a,b)", "an event has no id or no process"},
        {"event(1,w,t,-,signal,a,b)", "the fifth field is neither act nor sig"},
        {"event(1,w,t,-,-,a,b)", "the fifth field is neither act nor sig"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        BbEventLine event;
        ck_assert_str_eq(parse(texts[i][0], &event), texts[i][1]);
    }
    ck_assert(bb_event_line_is_blank(" \t\r"));
    ck_assert(bb_event_line_is_blank(" % x"));
    ck_assert(bb_event_line_is_blank("#"));
    ck_assert(!bb_event_line_is_blank("event("));
}
END_TEST

// ---- messages ---------------------------------------------------------------------------------

#define SIG(id, process, source, tag, value) \
    "event(" id "," process ",t," source ",sig," tag "," value ")\n"
#define ACT(id, process, source, tag, value) \
    "event(" id "," process ",t," source ",act," tag "," value ")\n"

static void assert_counter(const SpanImport *taken, const char *name, guint64 wanted)
{
    ck_assert_msg(span_import_counter(taken, name) == wanted, "%s is %" G_GUINT64_FORMAT, name,
                  span_import_counter(taken, name));
}

// A client asks web, which asks db.
static const char nested[] = SIG("1", "client", "-", "call", "'GET /'")
    SIG("1", "client", "-", "time_us", "100") ACT("2", "web", "1", "time_us", "101")
        SIG("3", "web", "-", "call", "query") SIG("3", "web", "-", "time_us", "102")
            ACT("4", "db", "3", "time_us", "103") SIG("5", "db", "-", "return", "ok")
                SIG("5", "db", "-", "time_us", "104") ACT("6", "web", "5", "time_us", "105")
                    SIG("7", "web", "-", "return", "200") SIG("7", "web", "-", "time_us", "106")
                        ACT("8", "client", "7", "time_us", "107");

START_TEST(calls_within_calls)
{
    assert_spans("events", nested,
                 "CALL 100>101 client web 1 1 - GET / ? ?\n"
                 "CALL 102>103 web db 3 1 1 query ? ?\n"
                 "RET 104>105 db web 3 1 1 query ok ?\n"
                 "RET 106>107 web client 1 1 - GET / 200 ?\n");
}
END_TEST

START_TEST(a_log_a_process)
{
    g_autoptr(SpanImport) taken = span_import_new();
    static const char *const texts[] = {
        ACT("4", "db", "3", "time_us", "103") SIG("5", "db", "-", "return", "ok")
            SIG("5", "db", "-", "time_us", "104"),
        SIG("3", "web", "-", "call", "query") SIG("3", "web", "-", "time_us", "102")
            ACT("6", "web", "5", "time_us", "105"),
        NULL};
    ck_assert_ptr_null(span_import_all(taken, "events", texts));
    ck_assert_str_eq(taken->text->str, "RET 104>105 db web 3 3 - query ok ?\n"
                                       "CALL 102>103 web db 3 3 - query ? ?\n");
}
END_TEST

// After the return of its call a thread does what it did before: the second call is of the same
// path.
START_TEST(returns_resume_the_work)
{
    static const char text[] =
        ACT("1", "web", "-", "peer", "user") ACT("1", "web", "-", "call", "x")
            ACT("1", "web", "-", "time_us", "1") SIG("2", "web", "-", "call", "a")
                SIG("2", "web", "-", "time_us", "2") ACT("3", "db", "2", "time_us", "3")
                    SIG("4", "db", "3", "return", "-") SIG("4", "db", "3", "time_us", "4")
                        ACT("5", "web", "4", "time_us", "5") SIG("6", "web", "-", "call", "b")
                            SIG("6", "web", "-", "time_us", "6") SIG("6", "web", "-", "peer", "db");
    assert_spans("events", text,
                 "CALL 1R user web 1 1 - x ? ?\n"
                 "CALL 2>3 web db 2 1 1 a ? ?\n"
                 "RET 4>5 db web 2 1 1 a ? ?\n"
                 "CALL 6 web db 6 1 1 b ? ?\n");
}
END_TEST

// The first act of a key got the first sig of it. What goes between threads of a process is no
// message, but what it leads to belongs to the path.
START_TEST(keys_and_threads)
{
    static const char text[] = SIG("1", "a", "-", "queue", "q1") SIG("1", "a", "-", "time_us", "1")
        SIG("2", "a", "-", "queue", "q1") SIG("2", "a", "-", "time_us", "2")
            ACT("3", "b", "-", "queue", "q1") ACT("3", "b", "-", "time_us", "3")
                SIG("4", "b", "-", "fork",
                    "w") "event(5,b,worker,-,act,fork,w)\n"
                         "event(6,b,worker,-,sig,message,done)\nevent(6,b,worker,-,sig,time_us,5)\n"
                         "event(6,b,worker,-,sig,peer,c)\n" ACT("7", "b", "-", "queue", "q1")
                             ACT("7", "b", "-", "time_us", "6") ACT("8", "b", "-", "queue", "q1");
    g_autoptr(SpanImport) taken = span_import_new();
    ck_assert_ptr_null(span_import_run(taken, "events", text));
    ck_assert_str_eq(taken->text->str, "MSG 1>3 a b 1 1 - ? ? ?\n"
                                       "MSG 2>6 a b 2 2 - ? ? ?\n"
                                       "MSG 5 b c 6 1 1 done ? ?\n");
    assert_counter(taken, "events", 8);
    assert_counter(taken, "events_joined", 2);
    assert_counter(taken, "events_inside", 3); // a fork, the thread, and an act without sig
}
END_TEST

START_TEST(several_receivers)
{
    static const char text[] = SIG("1", "a", "-", "time_us", "1") ACT("2", "b", "1", "time_us", "2")
        ACT("3", "c", "1", "time_us", "3") ACT("4", "a", "1", "-", "-")
            SIG("5", "a", "-", "call", "x") SIG("5", "a", "-", "time_us", "5")
                ACT("6", "b", "5", "-", "-") ACT("7", "c", "5", "-", "-")
                    SIG("8", "b", "6", "return", "-") SIG("8", "b", "6", "time_us", "8")
                        SIG("9", "b", "6", "return", "-") SIG("9", "b", "6", "time_us", "9");
    g_autoptr(SpanImport) taken = span_import_new();
    ck_assert_ptr_null(span_import_run(taken, "events", text));
    ck_assert_str_eq(taken->text->str, "MSG 1>2 a b 1 1 - ? ? ?\n"
                                       "MSG 1>3 a c 1 1 - ? ? ?\n"
                                       "CALL 5 a b 5 5 - x ? ?\n"
                                       "RET 8 b a 5 5 - x ? ?\n");
    assert_counter(taken, "events_again", 2);
    assert_counter(taken, "events_inside", 1);
}
END_TEST

START_TEST(what_is_left_out)
{
    static const char text[] = SIG("1", "a", "-", "peer", "b") SIG("2", "a", "-", "time_us", "2")
        SIG("3", "a", "-", "return", "ok") SIG("3", "a", "-", "time_us", "3")
            SIG("4", "b", "99", "time_us", "4") SIG("4", "b", "99", "peer", "c")
                ACT("5", "c", "98", "peer", "d") ACT("5", "c", "98", "time_us", "5")
                    ACT("6", "c", "5", "peer", "d") ACT("6", "c", "5", "time_us", "6");
    g_autoptr(SpanImport) taken = span_import_new();
    ck_assert_ptr_null(span_import_run(taken, "events", text));
    ck_assert_str_eq(taken->text->str, "MSG 4 b c 4 ? ? ? ? ?\n"
                                       "MSG 5R d c 5 ? ? ? ? ?\n"
                                       "MSG 6R d c 6 ? ? ? ? ?\n");
    assert_counter(taken, "events", 6);
    assert_counter(taken, "events_no_time", 1);
    assert_counter(taken, "events_no_peer", 1);
    assert_counter(taken, "events_return_alone", 1);
    assert_counter(taken, "events_source_unknown", 3);
    assert_counter(taken, "events_parent_unknown", 3);
}
END_TEST

// Nor is a return told whose call is not: here the call tells no time.
START_TEST(returns_of_what_is_left_out)
{
    static const char text[] = SIG("1", "a", "-", "call", "x") ACT("2", "b", "1", "-", "-")
        SIG("3", "b", "-", "return", "ok") SIG("3", "b", "-", "time_us", "3")
            ACT("4", "a", "-", "return", "ok") ACT("4", "a", "-", "peer", "b")
                ACT("4", "a", "-", "time_us", "4");
    g_autoptr(SpanImport) taken = span_import_new();
    ck_assert_ptr_null(span_import_run(taken, "events", text));
    ck_assert_str_eq(taken->text->str, "");
    assert_counter(taken, "events_no_time", 2);
    assert_counter(taken, "events_return_alone", 2);
}
END_TEST

START_TEST(circles)
{
    // Two threads that start each other; two messages that cause each other.
    static const char text[] =
        "event(1,a,t,4,sig,-,-)\nevent(2,a,u,1,act,-,-)\nevent(3,a,u,2,sig,-,-)\n"
        "event(4,a,t,3,act,-,-)\nevent(5,b,t,8,sig,time_us,1)\nevent(6,c,t,5,act,-,-)\n"
        "event(7,c,t,6,sig,time_us,2)\nevent(8,b,t,7,act,-,-)\n";
    g_autoptr(SpanImport) taken = span_import_new();
    ck_assert_ptr_null(span_import_run(taken, "events", text));
    ck_assert_str_eq(taken->text->str, "MSG 1 b c 5 ? 7 ? ? ?\nMSG 2 c b 7 ? ? ? ? ?\n");
    assert_counter(taken, "events_circular", 2);
    assert_counter(taken, "events_inside", 4);
    assert_counter(taken, "events_parent_unknown", 1);
}
END_TEST

START_TEST(lines_that_do_not_fit)
{
    static const char *const texts[][2] = {
        {SIG("1", "a", "-", "-", "-") ACT("1", "a", "-", "-", "-"),
         ":2: an event is both act and sig: "},
        {SIG("1", "a", "-", "-", "-") SIG("1", "b", "-", "-", "-"),
         ":2: an event is of two processes or threads: "},
        {SIG("1", "a", "-", "call", "x") SIG("1", "a", "-", "return", "x"),
         ":2: an event is of two kinds (call, return, message): "},
        {SIG("1", "a", "-", "time_h", "1"), ":1: a tag time has another unit than s, ms, us, ns: "},
        {SIG("1", "a", "-", "time_us", "x"), ":1: a time is no decimal number: "},
        {SIG("1", "a", "-", "time", "-"), ":1: a time is no decimal number: "},
        {SIG("0123456789012345678901234567890123456789012345678901234567890123x", "a", "-", "-",
             "-"),
         ":1: an id is longer than 64 bytes: "},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autoptr(SpanImport) taken = span_import_new();
        const char *error = span_import_run(taken, "events", texts[i][0]);
        ck_assert_ptr_nonnull(error);
        ck_assert_msg(g_str_has_prefix(error, texts[i][1]), "%s", error);
    }
}
END_TEST

START_TEST(bad_lines_are_skipped_where_wanted)
{
    g_autoptr(SpanImport) taken = span_import_new();
    taken->import.skip_bad = true;
    ck_assert_ptr_null(span_import_run(taken, "events",
                                       "# comment\n\nevent(1)\n" SIG("1", "a", "-", "peer", "b")
                                           SIG("1", "a", "-", "time", "0.5")));
    ck_assert_str_eq(taken->text->str, "MSG 500000 a b 1 1 - ? ? ?\n");
    ck_assert(strstr(taken->warnings->str, "1 malformed line was skipped"));
    g_autoptr(SpanImport) none = span_import_new();
    none->import.skip_bad = true;
    ck_assert(
        strstr(span_import_run(none, "events", "a\nb\n"), "none of its 2 lines is a message"));
}
END_TEST

START_TEST(limits)
{
    g_autoptr(SpanImport) taken = span_import_new();
    g_autoptr(BbEventLog) log = bb_event_log_new(&taken->import, 2);
    for (guint i = 0; i < 4; i++) {
        g_autofree char *id = g_strdup_printf("%u", i);
        const BbEventLine time = {id, "a", NULL, NULL, false, "time_us", "7"};
        const BbEventLine peer = {id, "a", NULL, NULL, false, "peer", "b"};
        ck_assert_ptr_null(bb_event_log_add(log, &time));
        ck_assert_ptr_null(bb_event_log_add(log, &peer));
    }
    taken->left = 1;
    g_autoptr(GError) error = NULL;
    ck_assert(!bb_event_log_finish(log, &error));
    ck_assert_str_eq(error->message, "full");
    ck_assert_str_eq(taken->text->str, "MSG 7 a b 0 0 - ? ? ?\n");
    assert_counter(taken, "events", 2);
    assert_counter(taken, "events_left_out", 4);
    g_autofree char *name = g_strnfill(300, 'x');
    const BbEventLine peer = {"0", "a", NULL, NULL, false, "peer", name};
    ck_assert_ptr_null(bb_event_log_add(log, &peer));
    assert_counter(taken, "events_names_cut", 1);
}
END_TEST

TEST_MAIN("events", fields, lines_that_are_none, calls_within_calls, a_log_a_process,
          returns_resume_the_work, keys_and_threads, several_receivers, what_is_left_out,
          returns_of_what_is_left_out, circles, lines_that_do_not_fit,
          bad_lines_are_skipped_where_wanted, limits)
