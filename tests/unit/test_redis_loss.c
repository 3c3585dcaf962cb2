// SPDX-License-Identifier: Apache-2.0
// Redis where bytes are missing: what is found again, and what belongs to nothing.
#include "capture/loss.h"
#include "tests/unit/redis_talk.h"

START_TEST(lost_request)
{
    g_autoptr(Converse) c = play(
        SCRIPT(">" PING, "<" PONG, ")" GET, "<$1\r\nx\r\n", ">" SET, "<" OK, ">" GET, "<_\r\n"),
        1460);
    ck_assert_str_eq(converse_result(c), "CALL 1 redis PING 14\nRET 1 redis ok 7\n"
                                         "RET - redis ok 7\n"
                                         "CALL 2 redis SET 31\nRET 2 redis ok 5\n"
                                         "CALL 3 redis GET 22\nRET 3 redis ok 3\n");
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 1);
    ck_assert_uint_eq(converse_loss(c, BB_RETURNS_ORPHANED), 1);
}
END_TEST

START_TEST(lost_reply)
{
    g_autoptr(Converse) c =
        play(SCRIPT(">" PING, "<" PONG, ">" GET, "($1\r\nx\r\n", ">" SET, "<" OK), 1460);
    ck_assert_str_eq(converse_result(c), "CALL 1 redis PING 14\nRET 1 redis ok 7\n"
                                         "CALL 2 redis GET 22\n"
                                         "CALL 3 redis SET 31\nRET 3 redis ok 5\n");
    ck_assert_uint_eq(converse_loss(c, BB_CALLS_UNRETURNED), 1);
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 1);
}
END_TEST

// The start was seen: the message stays, with what was seen of it.
START_TEST(gap_inside_of_messages)
{
    g_autoptr(Converse) c =
        play(SCRIPT(">*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$5", ")\r\nhello\r\n", ">" PING, "<" OK PONG,
                    ">" GET, "<*2\r\n$1\r\n", "(a\r\n:1\r\n", ">" PING, "<" PONG),
             1460);
    ck_assert_str_eq(converse_result(c), "CALL 1 redis SET 22\nCALL 2 redis PING 14\n"
                                         "RET 1 redis ok 5\nRET - redis ok 7\n"
                                         "CALL 3 redis GET 22\nRET 3 redis ok 8\n"
                                         "CALL 4 redis PING 14\nRET 4 redis ok 7\n");
}
END_TEST

#define FOUR ":1\r\n:2\r\n:3\r\n:4\r\n"

// The elements of an array that a gap cut off are no replies.
START_TEST(gap_inside_of_an_array)
{
    g_autoptr(Converse) c = play(SCRIPT(">" PING, "<" PONG, ">" GET, "<*16\r\n" FOUR, "(" FOUR,
                                        "<" FOUR, "<" FOUR, ">" PING, "<" PONG),
                                 1460);
    ck_assert_str_eq(converse_result(c), "CALL 1 redis PING 14\nRET 1 redis ok 7\n"
                                         "CALL 2 redis GET 22\nRET 2 redis ok 21\n"
                                         "CALL 3 redis PING 14\nRET 3 redis ok 7\n");
    ck_assert_uint_eq(converse_loss(c, BB_REPLIES_PASSED), 8);
}
END_TEST

// Nor are they where the gap has its beginning, or where a call is asked among them.
START_TEST(gap_before_elements)
{
    g_autoptr(Converse) c = play(SCRIPT(">" PING, "<" PONG, ">" GET, "(*16\r\n" FOUR, "<" FOUR,
                                        ">" GET, "<" FOUR, "<" FOUR, "<" PONG),
                                 1460);
    ck_assert_str_eq(converse_result(c), "CALL 1 redis PING 14\nRET 1 redis ok 7\n"
                                         "CALL 2 redis GET 22\nCALL 3 redis GET 22\n");
}
END_TEST

// Replies that were lost before let no more of them be waited for.
START_TEST(gaps_before_elements)
{
#define LOST ">" GET, "(" PONG
    g_autoptr(Converse) c =
        play(SCRIPT(">" PING, "<" PONG, LOST, LOST, LOST, LOST, ">" GET, "(*16\r\n" FOUR, "<" FOUR,
                    ">" GET, "<" FOUR, "<" FOUR, "<" PONG),
             1460);
#undef LOST
    ck_assert_str_eq(converse_result(c),
                     "CALL 1 redis PING 14\nRET 1 redis ok 7\n"
                     "CALL 2 redis GET 22\nCALL 3 redis GET 22\nCALL 4 redis GET 22\n"
                     "CALL 5 redis GET 22\nCALL 6 redis GET 22\nCALL 7 redis GET 22\n");
}
END_TEST

START_TEST(joined_in_an_array)
{
    g_autoptr(Converse) c = play(MIDSTREAM("<" FOUR, "<" FOUR, ">" PING, "<" PONG), 1460);
    ck_assert_str_eq(converse_result(c), "CALL 1 redis PING 14\nRET 1 redis ok 7\n");
    ck_assert_uint_eq(converse_loss(c, BB_REPLIES_PASSED), 8);
}
END_TEST

// In a pipeline of full packets the next command begins in the middle of one.
START_TEST(found_again_inside_of_a_packet)
{
    g_autoptr(Converse) c = play(
        SCRIPT(">" PING, "<" PONG, ")*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$5\r\nhel", ">lo\r\n" GET PING),
        1460);
    ck_assert_str_eq(converse_result(c), "CALL 1 redis PING 14\nRET 1 redis ok 7\n"
                                         "CALL 2 redis GET 22\nCALL 3 redis PING 14\n");
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 1);
}
END_TEST

START_TEST(cut_off)
{
    check(SCRIPT(">" PING, "<" PONG, ">*3\r\n$3\r\nSET\r\n$1\r\nk", "x"),
          "CALL 1 redis PING 14\nRET 1 redis ok 7\nCALL 2 redis SET 18\n");
    check(SCRIPT(">" GET, "<$100\r\nabc", "y"), "CALL 1 redis GET 22\nRET 1 redis ok 9\n");
    check(SCRIPT(">" GET, "<*3\r\n:1\r\n"), "CALL 1 redis GET 22\nRET 1 redis ok 8\n");
}
END_TEST

START_TEST(joined_in_the_middle)
{
    check(MIDSTREAM("<$3\r\nabc\r\n", ">" GET, "<$3\r\nabc\r\n"),
          "RET - redis ok 9\nCALL 1 redis GET 22\nRET 1 redis ok 9\n");
    g_autoptr(Converse) c = play(MIDSTREAM(">" GET, "<bc\r\n:4\r\n", ">" PING, "<" PONG), 1460);
    ck_assert_str_eq(converse_result(c), "CALL 1 redis GET 22\nRET 1 redis - 8\n"
                                         "CALL 2 redis PING 14\nRET 2 redis ok 7\n");
    check(MIDSTREAM("<" MESSAGE MESSAGE), "MSG < redis MESSAGE 31\nMSG < redis MESSAGE 31\n");
}
END_TEST

TEST_MAIN("redis_loss", lost_request, lost_reply, gap_inside_of_messages, gap_inside_of_an_array,
          gap_before_elements, gaps_before_elements, joined_in_an_array,
          found_again_inside_of_a_packet, cut_off, joined_in_the_middle)
