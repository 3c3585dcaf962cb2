// SPDX-License-Identifier: Apache-2.0
// Which call a message belongs to: order, second sightings, limits, references.
#include "merge/open_calls.h"

#include "tests/unit/traces.h"

// A value counts what happens to it.
typedef struct Value {
    int refs, forgotten;
} Value;

static gpointer value_ref(gpointer data)
{
    ((Value *)data)->refs++;
    return data;
}

static void value_unref(gpointer data)
{
    ((Value *)data)->refs--;
}

static void value_forget(gpointer data)
{
    ((Value *)data)->forgotten++;
}

static const BbOpenCallsValues values_of_test = {value_ref, value_unref, value_forget};

typedef struct Run {
    BbNames *names;
    BbOpenCalls *calls;
    Value values[16];
    guint count;
} Run;

static Run *run_new(guint max)
{
    Run *run = g_new0(Run, 1);
    run->names = bb_names_new();
    run->calls = bb_open_calls_new(max, &values_of_test);
    return run;
}

static void run_free(Run *run)
{
    bb_open_calls_free(run->calls);
    for (guint i = 0; i < run->count; i++)
        ck_assert_int_eq(run->values[i].refs, 0);
    bb_names_free(run->names);
    g_free(run);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Run, run_free)

// "C A B id": call of B by A; "R B A id" its return; c and r seen at the receiver; M free.
static BbMessage message_of(Run *run, const char *text)
{
    g_auto(GStrv) words = g_strsplit(text, " ", 4);
    char kind = g_ascii_toupper(words[0][0]);
    BbMessage message = bb_message_empty();
    message.kind = kind == 'C' ? BB_CALL : kind == 'R' ? BB_RETURN : BB_FREE;
    message.at_receiver = g_ascii_islower(words[0][0]);
    message.sender = bb_names_intern(run->names, words[1]);
    message.receiver = bb_names_intern(run->names, words[2]);
    if (strcmp(words[3], "-") != 0)
        message.id = bb_id_parse(run->names, words[3]);
    return message;
}

// The number of the call that it belongs to, which is pushed when it is new; -1 for none.
static int feed(Run *run, const char *text)
{
    BbMessage message = message_of(run, text);
    Value *value = bb_open_calls_find(run->calls, &message);
    if (!value && message.kind == BB_CALL) {
        bb_open_calls_push(run->calls, &message, &run->values[run->count]);
        return (int)run->count++;
    }
    if (!value)
        return -1;
    value_unref(value);
    return (int)(value - run->values);
}

START_TEST(returns_find_their_calls)
{
    g_autoptr(Run) run = run_new(100);
    ck_assert_int_eq(feed(run, "C a b 1"), 0);
    ck_assert_int_eq(feed(run, "C a b 2"), 1);
    ck_assert_int_eq(feed(run, "C a c 1"), 2);
    ck_assert_int_eq(feed(run, "C b a 1"), 3);
    ck_assert_int_eq(feed(run, "M b a 1"), -1);
    ck_assert_int_eq(feed(run, "R b a 2"), 1);
    ck_assert_int_eq(feed(run, "R b a 2"), -1); // closed
    ck_assert_int_eq(feed(run, "R a b 1"), 3);
    ck_assert_int_eq(feed(run, "R c a 1"), 2);
    ck_assert_int_eq(feed(run, "R b a 1"), 0);
    ck_assert_int_eq(feed(run, "R b a 3"), -1);
}
END_TEST

START_TEST(the_earliest_of_a_key_is_first)
{
    g_autoptr(Run) run = run_new(100);
    ck_assert_int_eq(feed(run, "C a b -"), 0);
    ck_assert_int_eq(feed(run, "C a b -"), 1);
    ck_assert_int_eq(feed(run, "C a b 7"), 2);
    ck_assert_int_eq(feed(run, "C a b -"), 3);
    ck_assert_int_eq(feed(run, "R b a -"), 0);
    ck_assert_int_eq(feed(run, "R b a -"), 1);
    ck_assert_int_eq(feed(run, "R b a 7"), 2);
    ck_assert_int_eq(feed(run, "R b a -"), 3);
    ck_assert_int_eq(feed(run, "R b a -"), -1);
}
END_TEST

START_TEST(second_sightings)
{
    g_autoptr(Run) run = run_new(100);
    ck_assert_int_eq(feed(run, "C a b 1"), 0);
    ck_assert_int_eq(feed(run, "c a b 1"), 0);
    ck_assert_int_eq(feed(run, "R b a 1"), 0);
    ck_assert_int_eq(feed(run, "r b a 1"), 0);
    ck_assert_int_eq(feed(run, "r b a 1"), -1);
    // each alone stands for the message
    ck_assert_int_eq(feed(run, "c a b 2"), 1);
    ck_assert_int_eq(feed(run, "R b a 2"), 1);
    ck_assert_int_eq(feed(run, "C a b 3"), 2);
    ck_assert_int_eq(feed(run, "r b a 3"), 2);
    // the id once more
    ck_assert_int_eq(feed(run, "C a b 1"), 3);
    ck_assert_int_eq(feed(run, "c a b 1"), 3);
    ck_assert_int_eq(feed(run, "R b a 1"), 3);
}
END_TEST

// The receiver's clock may be behind: then its sighting is the first.
START_TEST(second_sightings_at_the_sender)
{
    g_autoptr(Run) run = run_new(100);
    ck_assert_int_eq(feed(run, "c a b 1"), 0);
    ck_assert_int_eq(feed(run, "C a b 1"), 0);
    ck_assert_int_eq(feed(run, "r b a 1"), 0);
    ck_assert_int_eq(feed(run, "R b a 1"), 0);
    ck_assert_int_eq(feed(run, "R b a 1"), -1);
    ck_assert_int_eq(feed(run, "c a b 2"), 1);
    ck_assert_int_eq(feed(run, "R b a 2"), 1);
    ck_assert_int_eq(feed(run, "C a b 2"), 1);
    ck_assert_int_eq(feed(run, "r b a 2"), 1);
    ck_assert_int_eq(feed(run, "c a b 3"), 2);
    ck_assert_int_eq(feed(run, "c a b 3"), 3); // of the same end: another one
}
END_TEST

START_TEST(free_messages_are_seen_twice)
{
    g_autoptr(Run) run = run_new(100);
    BbMessage sent = message_of(run, "M a b 1"), got = message_of(run, "m a b 1");
    ck_assert_ptr_null(bb_open_calls_find(run->calls, &sent));
    bb_open_calls_push_free(run->calls, &sent, &run->values[0]);
    ck_assert_ptr_null(bb_open_calls_find(run->calls, &sent));
    Value *value = bb_open_calls_find(run->calls, &got);
    ck_assert_ptr_eq(value, &run->values[0]);
    value_unref(value);
    ck_assert_ptr_null(bb_open_calls_find(run->calls, &got));
}
END_TEST

START_TEST(the_oldest_is_forgotten_at_the_limit)
{
    g_autoptr(Run) run = run_new(2);
    ck_assert_int_eq(feed(run, "C a b 1"), 0);
    ck_assert_int_eq(feed(run, "C a b 2"), 1);
    ck_assert_int_eq(feed(run, "R b a 1"), 0);
    ck_assert_int_eq(feed(run, "C a b 3"), 2);
    ck_assert_uint_eq(bb_open_calls_forgotten(run->calls), 0);
    ck_assert_int_eq(feed(run, "C a b 4"), 3);
    ck_assert_uint_eq(bb_open_calls_forgotten(run->calls), 1);
    ck_assert_int_eq(run->values[1].forgotten, 1);
    ck_assert_int_eq(run->values[0].forgotten + run->values[2].forgotten, 0);
    ck_assert_int_eq(feed(run, "R b a 2"), -1);
    ck_assert_int_eq(feed(run, "R b a 3"), 2);
    ck_assert_int_eq(feed(run, "R b a 4"), 3);
}
END_TEST

static void note_adoption(gpointer call, gpointer early, gpointer user)
{
    g_string_append_printf(user, "%zu<-%zu ", GPOINTER_TO_SIZE(call), GPOINTER_TO_SIZE(early));
}

// Messages are numbered from 1 on. Returns "call<-return " of all early returns that found a call.
static char *adoptions(guint max, const char *const *texts)
{
    g_autoptr(Run) run = run_new(1);
    GString *told = g_string_new(NULL);
    const BbOpenCallsValues numbers = {.adopt = note_adoption, .user = told};
    g_autoptr(BbOpenCalls) calls = bb_open_calls_new(max, &numbers);
    for (gsize i = 1; texts[i - 1]; i++) {
        BbMessage message = message_of(run, texts[i - 1]);
        if (bb_open_calls_find(calls, &message))
            continue;
        if (message.kind == BB_CALL)
            bb_open_calls_push(calls, &message, GSIZE_TO_POINTER(i));
        else
            (void)bb_open_calls_push_early(calls, &message, GSIZE_TO_POINTER(i));
    }
    bb_open_calls_finish(calls);
    return g_string_free(told, FALSE);
}

static void expect_adoptions(guint max, const char *wanted, const char *const *texts)
{
    g_autofree char *told = adoptions(max, texts);
    ck_assert_str_eq(told, wanted);
}

#define EXPECT_ADOPTIONS(max, wanted, ...) \
    expect_adoptions(max, wanted, (const char *const[]){__VA_ARGS__, NULL})

START_TEST(returns_before_their_calls)
{
    EXPECT_ADOPTIONS(9, "2<-1 4<-3 ", "R b a 1", "C a b 1", "R b a 2", "C a b 2");
    EXPECT_ADOPTIONS(9, "", "R b a 1", "C a b 1", "R b a 1");                 // another one came
    EXPECT_ADOPTIONS(9, "4<-3 ", "R b a 1", "C a b 2", "R b a 1", "C a b 1"); // the last
    EXPECT_ADOPTIONS(9, "2<-1 ", "R b a 1", "C a b 1", "C a b 1");            // the next call only
    EXPECT_ADOPTIONS(9, "", "R b a -", "C a b -");                            // no id
    EXPECT_ADOPTIONS(9, "2<-1 ", "r b a 1", "C a b 1", "R b a 1");            // seen twice:
    EXPECT_ADOPTIONS(9, "3<-1 ", "r b a 1", "R b a 1", "C a b 1");            // both before
    EXPECT_ADOPTIONS(9, "", "r b a 1", "R b a 1", "C a b 1", "R b a 1");      // and another one
    EXPECT_ADOPTIONS(9, "", "R b a 1", "C b a 1");                            // other nodes
    EXPECT_ADOPTIONS(1, "2<-1 ", "R b a 1", "C a b 1", "C a b 2", "C a b 3"); // at the limit
}
END_TEST

// By its caller or its callee; its return may come all the same.
START_TEST(closed_calls_stay_open)
{
    static const BbOpenCallsValues numbers = {0};
    g_autoptr(BbOpenCalls) calls = bb_open_calls_new(9, &numbers);
    BbMessage call = bb_message_empty(), end;
    call.kind = BB_CALL;
    call.sender = 1;
    call.receiver = 2;
    call.id = bb_id_number(7);
    bb_open_calls_push(calls, &call, GSIZE_TO_POINTER(1));
    end = call;
    end.kind = BB_FREE;
    ck_assert_uint_eq(GPOINTER_TO_SIZE(bb_open_calls_closed(calls, &end)), 1);
    end.sender = 2;
    end.receiver = 1;
    ck_assert_uint_eq(GPOINTER_TO_SIZE(bb_open_calls_closed(calls, &end)), 1);
    end.receiver = 3;
    ck_assert_ptr_null(bb_open_calls_closed(calls, &end));
    end.receiver = 1;
    end.kind = BB_RETURN;
    ck_assert_uint_eq(GPOINTER_TO_SIZE(bb_open_calls_find(calls, &end)), 1);
    end.kind = BB_FREE;
    ck_assert_ptr_null(bb_open_calls_closed(calls, &end));
}
END_TEST

// As a list does it, slowly.
START_TEST(as_a_plain_list_does)
{
    guint32 seed = test_seed("open_calls");
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
    static const BbOpenCallsValues numbers = {0};
    g_autoptr(BbOpenCalls) calls = bb_open_calls_new(50, &numbers);
    g_autoptr(GArray) open = g_array_new(FALSE, FALSE, sizeof(BbMessage));
    for (guint i = 1; i <= 20000; i++) {
        BbMessage message = bb_message_empty();
        guint32 a = (guint32)g_rand_int_range(rand, 0, 3),
                b = (guint32)g_rand_int_range(rand, 0, 3);
        message.kind = g_rand_int_range(rand, 0, 100) < 55 ? BB_CALL : BB_RETURN;
        message.sender = message.kind == BB_CALL ? a : b;
        message.receiver = message.kind == BB_CALL ? b : a;
        message.id = bb_id_number((guint64)g_rand_int_range(rand, 0, 4));
        gsize found = GPOINTER_TO_SIZE(bb_open_calls_find(calls, &message)), wanted = 0;
        if (message.kind == BB_CALL) {
            message.bytes = i;
            ck_assert_uint_eq(found, 0);
            bb_open_calls_push(calls, &message, GSIZE_TO_POINTER(i));
            g_array_append_val(open, message);
            if (open->len > 50)
                g_array_remove_index(open, 0);
            continue;
        }
        for (guint n = 0; n < open->len && !wanted; n++) {
            const BbMessage *call = &g_array_index(open, BbMessage, n);
            if (call->sender == message.receiver && call->receiver == message.sender &&
                bb_id_equal(call->id, message.id)) {
                wanted = call->bytes;
                g_array_remove_index(open, n);
            }
        }
        if (found != wanted)
            ck_abort_msg("message %u: %zu and not %zu", i, found, wanted);
    }
    ck_assert_uint_gt(bb_open_calls_forgotten(calls), 100);
}
END_TEST

TEST_MAIN("open_calls", returns_find_their_calls, the_earliest_of_a_key_is_first, second_sightings,
          second_sightings_at_the_sender, free_messages_are_seen_twice,
          the_oldest_is_forgotten_at_the_limit, returns_before_their_calls, closed_calls_stay_open,
          as_a_plain_list_does)
