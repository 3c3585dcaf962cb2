// SPDX-License-Identifier: Apache-2.0
// Calls whose keys come again (MongoDB), where one direction has holes, or was not captured at all:
// which of them are given up, and that many of them cost no more than few.
#include "capture/loss.h"
#include "tests/unit/octets.h"

#include <time.h>

#define PORT 27017
#define ASKED "CALL 1 mongodb ping 40\nCALL 2 mongodb ping 40\nCALL 3 mongodb ping 40\n"

// OP_MSG with one element.
static void message(Converse *c, BbDirection direction, guint32 id, guint32 answered,
                    const char *element)
{
    g_autoptr(Octets) inside = octets(element), bytes = g_byte_array_new();
    octets_le(bytes, 16 + 5 + 4 + inside->len + 1, 4);
    octets_le(bytes, id, 4);
    octets_le(bytes, answered, 4);
    octets_le(bytes, 2013, 4);
    octets_le(bytes, 0, 5);
    octets_le(bytes, 4 + inside->len + 1, 4);
    octets_put(bytes, inside->data, inside->len);
    octets_le(bytes, 0, 1);
    converse_say(c, direction, bytes->data, bytes->len);
}

static void ask(Converse *c, guint32 id)
{
    message(c, BB_TO_SERVER, id, 0, "12 'ping' 00 0100000000000000");
}

static void answer(Converse *c, guint32 id)
{
    message(c, BB_TO_CLIENT, 9000 + id, id, "01 'ok' 00 000000000000f03f");
}

// Steps: a to c ask, A to C answer; ( a hole in the replies, ) one in the requests.
static void check(const char *steps, const char *expected)
{
    g_autoptr(Converse) c = converse_tcp(PORT);
    for (; *steps; steps++) {
        if (*steps == '(' || *steps == ')')
            converse_lose(c, *steps == '(' ? BB_TO_CLIENT : BB_TO_SERVER, 50);
        else if (g_ascii_islower(*steps))
            ask(c, (guint32)(*steps - 'a' + 1));
        else
            answer(c, (guint32)(*steps - 'A' + 1));
    }
    ck_assert_str_eq(converse_result(c), expected);
}

// The key tells whose a reply is, as long as no call that is missing may have had it since.
START_TEST(a_key_is_lost_where_both_may_be_missing)
{
    check("abc(ABC", ASKED "RET 1 mongodb ok 38\nRET 2 mongodb ok 38\nRET 3 mongodb ok 38\n");
    check("abc)ABC", ASKED "RET 1 mongodb ok 38\nRET 2 mongodb ok 38\nRET 3 mongodb ok 38\n");
    check("a(b)cABC", ASKED "RET - mongodb ok 38\nRET 2 mongodb ok 38\nRET 3 mongodb ok 38\n");
    check("a(b)c(d)ABCD", ASKED "CALL 4 mongodb ping 40\nRET - mongodb ok 38\n"
                                "RET - mongodb ok 38\nRET - mongodb ok 38\nRET 4 mongodb ok 38\n");
}
END_TEST

// CPU time of so many calls, of which the replies are seen or not.
static double seconds(guint calls, bool whole)
{
    g_autoptr(Converse) c = converse_tcp(PORT);
    clock_t since = clock();
    for (guint id = 1; id <= calls; id++) {
        ask(c, id);
        if (whole)
            answer(c, id);
        else
            converse_lose(c, BB_TO_CLIENT, 38);
    }
    ck_assert_uint_eq(converse_loss(c, BB_CALLS), calls);
    return (double)(clock() - since) / CLOCKS_PER_SEC;
}

// At each hole all calls were looked at, for as long as they were open: 40,000 cost hundreds of
// times as much.
START_TEST(holes_cost_no_more_where_many_calls_are_open)
{
    double whole = seconds(40000, true), half = seconds(40000, false);
    ck_assert_msg(half < 10 * whole, "%.3f s with replies, %.3f s without", whole, half);
}
END_TEST

TEST_MAIN("half_mirror", a_key_is_lost_where_both_may_be_missing,
          holes_cost_no_more_where_many_calls_are_open)
