// SPDX-License-Identifier: Apache-2.0
// Path instances as spans and as trace events: what stands in them, who is above whom, which thread
// a slice is on.
#include "tests/unit/golden.h"
#include "tests/unit/test.h"
#include "tests/unit/view_text.h"
#include "tests/unit/written_instances.h"

#include <string.h>

static BbCall *call_at(Fixture *f, guint32 index)
{
    return &g_array_index(f->calls, BbCall, index);
}

static BbCall *label(Fixture *f, guint32 index, const char *from, const char *to, const char *proto,
                     const char *op, const char *status)
{
    BbCall *call = call_at(f, index);
    call->caller = bb_names_intern(f->names, from);
    call->callee = bb_names_intern(f->names, to);
    call->proto = bb_names_intern(f->names, proto);
    call->op = bb_names_intern(f->names, op);
    call->status = bb_names_intern(f->names, status);
    return call;
}

static void set_times(BbCall *call, gint64 call_ms, gint64 return_ms)
{
    call->call_ns = call->arrived_ns = START_NS + call_ms * MS;
    call->return_ns = call->replied_ns = START_NS + return_ms * MS;
}

// Not returned; the caller went on after that time.
static void hang(BbCall *call, gint64 wait_ms)
{
    call->return_ns = call->replied_ns = BB_TIME_NONE;
    call->return_end_ns = call->arrived_ns + wait_ms * MS;
}

// A request to a web server, which asks a cache, a database that was seen at both ends, and one
// that does not answer; and a failed one of a protocol that conventions have no name for.
static Fixture requests(const BbInstanceForm *form)
{
    Fixture f = begin();
    f.form = form;
    f.patterns->facts.start_ns = START_NS;
    add_pattern(&f, 1, 500 * MS);
    guint32 root = add_call(&f, "7", BB_CALL_NO_PARENT, 0.98);
    set_times(label(&f, root, "client", "web", "http", "GET /a", "200"), 0, 500);
    guint32 cache = add_call(&f, "", root, 1);
    set_times(label(&f, cache, "web", "cache", "redis", "GET", "ok"), 10, 20);
    guint32 db = add_call(&f, "9", root, 0.75);
    BbCall *both = label(&f, db, "web", "db", "postgresql", "SELECT a", "42P01");
    set_times(both, 30, 90);
    both->arrived_ns += 2 * MS;
    both->replied_ns -= MS;
    guint32 lost = add_call(&f, "x\xff", root, 0.5);
    set_times(label(&f, lost, "web", "\"o", "grpc", "", "14"), 100,
              101); // of an answer that came late
    hang(call_at(&f, lost), 300);
    add_instance(&f, root, 4, 0);
    guint32 other = add_call(&f, "", BB_CALL_NO_PARENT, BB_CONFIDENCE_NONE);
    set_times(label(&f, other, "client", "web", "ldap", "", "32"), 400, 450);
    add_instance(&f, other, 1, BB_PATTERN_NONE);
    return f;
}

// A message with two effects, which come later than it.
static Fixture messages(const BbInstanceForm *form)
{
    Fixture f = begin();
    f.form = form;
    f.patterns->facts.start_ns = START_NS;
    guint32 mode[] = {0, 0, 0};
    guint32 root = add_message(&f, "A", "B", "1", BB_CALL_NO_PARENT, 0.9);
    add_message(&f, "B", "C", "2", root, 0.8);
    add_message(&f, "B", "D", "3", root, 0.7);
    add_instance(&f, root, 3, BB_PATTERN_NONE);
    f.paths->mode = g_memdup2(mode, sizeof mode);
    return f;
}

static void expect_golden(Fixture f, const char *name)
{
    char *text = written(&f, BB_VIEW_OPTIONS_DEFAULT);
    golden_check(name, text, strlen(text));
    free(text);
    end(&f);
}

START_TEST(golden_spans)
{
    expect_golden(requests(&bb_instance_form_otlp), "viz/spans.json");
}
END_TEST

// Of the call to db, which was seen at both ends: its server's span tells. A wait for a pool that
// is unlikely is not told.
START_TEST(waits_in_line)
{
    static const BbInstanceForm *const forms[] = {&bb_instance_form_otlp, &bb_instance_form_chrome};
    static const char *const told[][2] = {
        {"\"bbtrace.waited_for_turn_ns\", \"value\": {\"intValue\": \"20000000\"}",
         "\"bbtrace.waited_for_pool_ns\", \"value\": {\"intValue\": \"5000000\"}"},
        {"\"waited for its turn\": \"20.0 ms\"", "\"waited for a pool\": \"5.00 ms\""},
    };
    for (guint i = 0; i < G_N_ELEMENTS(forms); i++) {
        Fixture f = requests(forms[i]);
        f.paths->worker_wait = g_new0(BbWorkerWait, 16);
        f.paths->pool_wait = g_new0(BbPoolWait, 16);
        f.paths->worker_wait[2] = (BbWorkerWait){.limit = 4, .ns = 20 * MS};
        f.paths->pool_wait[2] = (BbPoolWait){.limit = 2, .share = 0.8F, .ns = 5 * MS};
        f.paths->pool_wait[1] = (BbPoolWait){.limit = 2, .share = 0.3F, .ns = 7 * MS};
        char *text = written(&f, BB_VIEW_OPTIONS_DEFAULT);
        for (guint k = 0; k < 2; k++) {
            const char *at = strstr(text, told[i][k]);
            ck_assert_msg(at, "%s:\n%s", told[i][k], text);
            ck_assert_ptr_null(strstr(at + 1, told[i][k]));
        }
        ck_assert_ptr_null(strstr(text, "7000000"));
        ck_assert_ptr_null(strstr(text, "7.00 ms"));
        free(text);
        end(&f);
    }
}
END_TEST

START_TEST(golden_spans_of_messages)
{
    expect_golden(messages(&bb_instance_form_otlp), "viz/spans-of-messages.json");
}
END_TEST

START_TEST(golden_events)
{
    expect_golden(requests(&bb_instance_form_chrome), "viz/events.json");
}
END_TEST

START_TEST(golden_events_of_messages)
{
    expect_golden(messages(&bb_instance_form_chrome), "viz/events-of-messages.json");
}
END_TEST

// Convolution may end with a window in which nothing is.
START_TEST(an_empty_window)
{
    Fixture f = messages(&bb_instance_form_otlp);
    char *text = NULL;
    size_t length = 0;
    BbViewOptions options = BB_VIEW_OPTIONS_DEFAULT;
    g_autoptr(BbPaths) empty = bb_paths_new();
    g_autoptr(GError) error = NULL;
    g_autoptr(BbInstances) instances = bb_instances_new(f.form, f.names, false);
    publish(&f);
    ck_assert(bb_instances_add(instances, f.paths, &error));
    ck_assert(bb_instances_add(instances, empty, &error));
    FILE *out = open_memstream(&text, &length);
    ck_assert(bb_instances_write(instances, f.patterns, &options, out, &error));
    fclose(out);
    golden_check("viz/spans-of-messages.json", text, length);
    free(text);
    end(&f);
}
END_TEST

START_TEST(nothing)
{
    Fixture f = begin();
    f.form = &bb_instance_form_otlp;
    char *text = written(&f, BB_VIEW_OPTIONS_DEFAULT);
    ck_assert_str_eq(text, "");
    free(text);
    f.form = &bb_instance_form_chrome;
    text = written(&f, BB_VIEW_OPTIONS_DEFAULT);
    ck_assert_ptr_nonnull(strstr(text, "\"traceEvents\": [\n]}\n"));
    free(text);
    end(&f);
}
END_TEST

START_TEST(versions_of_http)
{
    Fixture f = begin();
    f.form = &bb_instance_form_otlp;
    label(&f, add_root(&f, "1"), "A", "B", "http2", "GET /", "404");
    add_instance(&f, 0, 1, BB_PATTERN_NONE);
    char *text = written(&f, BB_VIEW_OPTIONS_DEFAULT);
    ck_assert_ptr_nonnull(
        strstr(text, "{\"key\": \"network.protocol.name\", \"value\": {\"stringValue\": "
                     "\"http\"}}, {\"key\": \"network.protocol.version\", \"value\": "
                     "{\"stringValue\": \"2\"}}, {\"key\": \"http.response.status_code\", "
                     "\"value\": {\"intValue\": \"404\"}}"));
    free(text);
    end(&f);
}
END_TEST

// No request has more than 4,096 spans, but for an instance that has more itself.
START_TEST(sizes_of_requests)
{
    Fixture f = begin();
    f.form = &bb_instance_form_otlp;
    for (guint i = 0; i < 6001; i++) {
        add_root(&f, "a");
        if (i < 1000)
            add_instance(&f, i, 1, BB_PATTERN_NONE);
    }
    add_instance(&f, 1000, 5000, BB_PATTERN_NONE);
    add_instance(&f, 6000, 1, BB_PATTERN_NONE);
    char *text = written(&f, BB_VIEW_OPTIONS_DEFAULT);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    ck_assert_uint_eq(g_strv_length(lines), 4);
    ck_assert_uint_eq(count_of(lines[0], "\"spanId\""), 1000);
    ck_assert_uint_eq(count_of(lines[1], "\"spanId\""), 5000);
    ck_assert_uint_eq(count_of(lines[2], "\"spanId\""), 1);
    free(text);
    end(&f);
}
END_TEST

// Slices of calls that are open at once are on threads of their own; one that is over makes room.
START_TEST(threads)
{
    static const gint64 times_ms[][2] = {{0, 100}, {50, 60}, {60, 70}, {90, 120}, {100, 110}};
    static const char *const tids[] = {"1", "2", "2", "2", "1"};
    Fixture f = begin();
    f.form = &bb_instance_form_chrome;
    f.patterns->facts.start_ns = START_NS;
    for (guint i = 0; i < G_N_ELEMENTS(times_ms); i++) {
        set_times(call_at(&f, add_root(&f, "")), times_ms[i][0], times_ms[i][1]);
        add_instance(&f, i, 1, BB_PATTERN_NONE);
    }
    char *text = written(&f, BB_VIEW_OPTIONS_DEFAULT);
    const char *at = text;
    for (guint i = 0; i < G_N_ELEMENTS(times_ms); i++) {
        // One at the caller, one at the callee.
        for (guint end = 0; end < 2; end++) {
            at = strstr(at, "{\"ph\": \"X\"");
            ck_assert_ptr_nonnull(at);
            at = strstr(at, "\"tid\": ") + strlen("\"tid\": ");
            ck_assert_msg(strncmp(at, tids[i], 1) == 0, "slice %u is on thread %.3s", i, at);
        }
    }
    free(text);
    end(&f);
}
END_TEST

// The slice that began last on a thread is where an arrow comes from (Perfetto): that of a caller
// which is done stays the last one until its last call.
START_TEST(late_arrows)
{
    static const char *const slices[] = {
        "\"tid\": 1, \"ts\": 482205.000, \"dur\": 100000.000", // at A
        "\"tid\": 1, \"ts\": 482205.000, \"dur\": 100000.000", // at B
        "\"tid\": 1, \"ts\": 632205.000, \"dur\": 10000.000",  // at C, called by B
        "\"tid\": 1, \"ts\": 592205.000, \"dur\": 10000.000",  // the next request at A
        "\"tid\": 2, \"ts\": 592205.000, \"dur\": 10000.000",  // at B: its thread is not free
        "\"tid\": 1, \"ts\": 632205.000, \"dur\": 50000.000",  // one that comes with the call
        "\"tid\": 2, \"ts\": 632205.000, \"dur\": 50000.000",
        "\"tid\": 2, \"ts\": 632206.000, \"dur\": 10000.000", // after it
        "\"tid\": 1, \"ts\": 632206.000, \"dur\": 10000.000",
    };
    Fixture f = begin();
    f.form = &bb_instance_form_chrome;
    f.patterns->facts.start_ns = START_NS;
    set_times(call_at(&f, add_root(&f, "")), 0, 100);
    guint32 late = add_call(&f, "", 0, 1);
    set_times(label(&f, late, "B", "C", "", "", ""), 150, 160);
    set_times(call_at(&f, add_root(&f, "")), 110, 120);
    set_times(call_at(&f, add_root(&f, "")), 150, 200);
    guint32 after = add_root(&f, "");
    set_times(call_at(&f, after), 150, 160);
    call_at(&f, after)->call_ns = call_at(&f, after)->arrived_ns += MS / 1000;
    call_at(&f, after)->return_ns = call_at(&f, after)->replied_ns += MS / 1000;
    add_instance(&f, 0, 2, BB_PATTERN_NONE);
    for (guint i = 2; i <= after; i++)
        add_instance(&f, i, 1, BB_PATTERN_NONE);
    char *text = written(&f, BB_VIEW_OPTIONS_DEFAULT);
    const char *at = text;
    for (guint i = 0; i < G_N_ELEMENTS(slices); i++) {
        at = strstr(at, "{\"ph\": \"X\"");
        ck_assert_ptr_nonnull(at);
        at = strstr(at, "\"tid\": ");
        ck_assert_msg(g_str_has_prefix(at, slices[i]), "slice %u: %.60s", i, at);
    }
    free(text);
    end(&f);
}
END_TEST

TEST_MAIN("instance_forms", golden_spans, waits_in_line, golden_spans_of_messages, golden_events,
          golden_events_of_messages, an_empty_window, nothing, versions_of_http, sizes_of_requests,
          threads, late_arrows)
