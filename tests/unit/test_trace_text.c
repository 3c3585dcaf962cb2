// SPDX-License-Identifier: Apache-2.0
// The text trace: each field and key, each reason why a line is malformed, the encoding.
#include "data/percent.h"
#include "tests/unit/traces.h"

#define HEAD "# bbtrace text 1\n"

static Messages *read_lines(const char *lines)
{
    g_autofree char *text = g_strconcat(HEAD, lines, NULL);
    return read_text(text);
}

static const char *text_of(const Messages *all, guint32 name)
{
    return bb_names_text(all->names, name);
}

START_TEST(every_field_and_key)
{
    g_autoptr(Messages) all = read_lines(
        "1047680084.482205 CALL_SENT node%20A nodeB id37 recv=1047680084.5 end=1047680084.482206123"
        " op=GET%20/cart status=200 bytes=512 conn=10.0.0.1:40000-10.0.0.2:80 off=4000000000"
        " obs=mirror%25 proto=http path=p1 parent=-\n");
    ck_assert_ptr_null(all->error);
    const BbMessage *message = message_at(all, 0);
    ck_assert_int_eq(message->time_ns, 1047680084482205000);
    ck_assert_int_eq(message->recv_ns, 1047680084500000000);
    ck_assert_int_eq(message->end_ns, 1047680084482206123);
    ck_assert_int_eq(message->kind, BB_CALL);
    ck_assert(!message->at_receiver);
    ck_assert_str_eq(text_of(all, message->sender), "node A");
    ck_assert_str_eq(text_of(all, message->receiver), "nodeB");
    ck_assert_str_eq(text_of(all, message->id.form - BB_ID_STEM), "id");
    ck_assert_uint_eq(message->id.number, 37);
    ck_assert_str_eq(text_of(all, message->op), "GET /cart");
    ck_assert_str_eq(text_of(all, message->status), "200");
    ck_assert_uint_eq(message->bytes, 512);
    ck_assert_str_eq(message->conn, "10.0.0.1:40000-10.0.0.2:80");
    ck_assert_uint_eq(message->offset, 4000000000u);
    ck_assert_str_eq(text_of(all, message->observer), "mirror%");
    ck_assert_str_eq(text_of(all, message->proto), "http");
    ck_assert_uint_eq(message->path.number, 1);
    ck_assert_uint_eq(message->parent.form, BB_ID_DASH);
    ck_assert_ptr_null(message->extra);
}
END_TEST

START_TEST(absent_ones)
{
    g_autoptr(Messages) all = read_lines("7 MSG_SENT - - - op= conn= path=\n");
    ck_assert_ptr_null(all->error);
    BbMessage expected = bb_message_empty();
    expected.time_ns = 7000000000;
    ck_assert(same_message(all, message_at(all, 0), all, &expected, true));
}
END_TEST

START_TEST(operations)
{
    g_autoptr(Messages) all = read_lines("1 CALL_SENT a b 1\n1 CALL_RECV a b 1\n1 RET_SENT a b 1\n"
                                         "1 RET_RECV a b 1\n1 MSG_SENT a b 1\n1 MSG_RECV a b 1\n");
    const BbKind kinds[] = {BB_CALL, BB_CALL, BB_RETURN, BB_RETURN, BB_FREE, BB_FREE};
    ck_assert_uint_eq(all->messages->len, 6);
    for (guint i = 0; i < 6; i++) {
        ck_assert_int_eq(message_at(all, i)->kind, kinds[i]);
        ck_assert_int_eq(message_at(all, i)->at_receiver, i % 2);
    }
}
END_TEST

START_TEST(order_is_that_of_the_file)
{
    g_autoptr(Messages) all = read_lines("3 MSG_SENT a b -\n1 MSG_SENT a b -\n2 MSG_SENT a b -\n");
    ck_assert_int_eq(message_at(all, 0)->time_ns, 3000000000);
    ck_assert_int_eq(message_at(all, 1)->time_ns, 1000000000);
}
END_TEST

START_TEST(layout_is_free)
{
    g_autoptr(Messages) all = read_text("# bbtrace text 1\r\n"
                                        "#comment 5 of 6\r\n\r\n"
                                        "   1.5\t CALL_SENT  a\vb \f id=1   bytes=3 \r\n"
                                        " \t \n"
                                        "2.5 RET_SENT b a id=1\r\n\t ");
    ck_assert_ptr_null(all->error);
    ck_assert_uint_eq(all->messages->len, 2);
    ck_assert_uint_eq(message_at(all, 0)->bytes, 3);
    ck_assert(bb_id_equal(message_at(all, 0)->id, message_at(all, 1)->id));
    ck_assert_int_eq(message_at(all, 1)->time_ns, 2500000000);
}
END_TEST

// ---- malformed lines ----------------------------------------------------------------------------

static void check_bad(const char *line, const char *reason)
{
    g_autofree char *lines = g_strconcat("1 MSG_SENT a b -\n", line, "\n2 MSG_SENT a b -\n", NULL);
    g_autoptr(Messages) all = read_lines(lines);
    ck_assert_msg(g_error_matches(all->error, BB_TRACE_ERROR, BB_TRACE_ERROR_LINE), "%s", line);
    ck_assert_msg(strstr(all->error->message, reason) != NULL, "%s", all->error->message);
    ck_assert_ptr_nonnull(strstr(all->error->message, ":3: "));
    ck_assert_ptr_nonnull(strstr(all->error->message, "--skip-bad-lines"));
    ck_assert_uint_eq(all->messages->len, 1);
}

START_TEST(malformed_lines)
{
    check_bad("x", "needs five fields");
    check_bad("1 CALL_SENT a b", "needs five fields");
    check_bad(" # no comment", "needs five fields");
    check_bad("1 CALL a b 1", "none of CALL_SENT, RET_SENT");
    check_bad("1 call_sent a b 1", "none of CALL_SENT");
    check_bad("1 CALL_SENT a b 1 cart", "not key=value");
    check_bad("1 CALL_SENT a b 1 =cart", "no key before");
    check_bad("1 CALL_SENT a b 1 op=x op=y", "key stands twice");
    check_bad("1 CALL_SENT a%2 b 1", "two hexadecimal digits");
    check_bad("1 CALL_SENT a b% 1", "two hexadecimal digits");
    check_bad("1 CALL_SENT a b 1 op=50%-off", "two hexadecimal digits");
    check_bad("1 CALL_SENT a b 1 conn=%zz", "two hexadecimal digits");
    check_bad("1 CALL_SENT a b %00", "NUL");
    check_bad("1 CALL_SENT a b 1 path=%g1", "two hexadecimal digits");
    check_bad("1 CALL_SENT a b 1 bytes=", "number is missing");
    check_bad("1 CALL_SENT a b 1 bytes=-1", "other characters");
    check_bad("1 CALL_SENT a b 1 bytes=0x10", "other characters");
    check_bad("1 CALL_SENT a b 1 bytes=18446744073709551615", "too large");
    check_bad("1 CALL_SENT a b 1 off=99999999999999999999999", "too large");
}
END_TEST

START_TEST(malformed_times)
{
    check_bad("-1 CALL_SENT a b 1", "negative");
    check_bad("-0.5 CALL_SENT a b 1", "negative");
    check_bad("now CALL_SENT a b 1", "not a decimal number");
    check_bad("+1 CALL_SENT a b 1", "not a decimal number");
    check_bad(".5 CALL_SENT a b 1", "not a decimal number");
    check_bad("1e9 CALL_SENT a b 1", "not a decimal number");
    check_bad("1,5 CALL_SENT a b 1", "not a decimal number");
    check_bad("1.5s CALL_SENT a b 1", "not a decimal number");
    check_bad("1.5.1 CALL_SENT a b 1", "not a decimal number");
    check_bad("1. CALL_SENT a b 1", "ends with its decimal point");
    check_bad("1.1234567890 CALL_SENT a b 1", "more than nine decimals");
    check_bad("9223372037 CALL_SENT a b 1", "too large");
    check_bad("9223372036.854775808 CALL_SENT a b 1", "too large");
    check_bad("1047680084482205 CALL_SENT a b 1", "too large");
    check_bad("99999999999999999999999999999999999 CALL_SENT a b 1", "too large");
    check_bad("1 CALL_SENT a b 1 recv=-1", "negative");
    check_bad("1 CALL_SENT a b 1 end=soon", "not a decimal number");
    g_autoptr(Messages) last =
        read_lines("9223372036.854775807 MSG_SENT a b -\n0 MSG_SENT a b -\n");
    ck_assert_int_eq(message_at(last, 0)->time_ns, G_MAXINT64);
    ck_assert_int_eq(message_at(last, 1)->time_ns, 0);
}
END_TEST

START_TEST(nul_bytes)
{
    const char text[] = HEAD "1 MSG_SENT a b -\n1 MSG_SENT a\0b c -\n";
    g_autoptr(Messages) all = read_bytes(text, sizeof text - 1);
    ck_assert_ptr_nonnull(strstr(all->error->message, ":3: the line has a NUL byte"));
}
END_TEST

START_TEST(cut_line)
{
    g_autoptr(Messages) all = read_lines("1 MSG_SENT a b -\n2 CALL_S");
    ck_assert_uint_eq(all->messages->len, 1);
    ck_assert_ptr_null(all->error);
    ck_assert_ptr_nonnull(strstr(all->damage, "its last line has no line end"));
    ck_assert_uint_eq(bb_counters_get(all->counters, BB_TRACE_LOST), 1);
}
END_TEST

// A whole line and one that is cut within a value look alike.
START_TEST(cut_value)
{
    g_autoptr(Messages) all = read_lines("1 CALL_SENT a b 1\n2 RET_SENT b a 1 status=5");
    ck_assert_uint_eq(all->messages->len, 1);
    ck_assert_ptr_nonnull(all->damage);
    g_autoptr(Messages) comment = read_lines("1 CALL_SENT a b 1\n# counter drops 1");
    ck_assert_ptr_nonnull(comment->damage);
    ck_assert_uint_eq(bb_counters_get(comment->counters, "drops"), 0);
    ck_assert_uint_eq(bb_counters_get(comment->counters, BB_TRACE_LOST), 0);
    g_autoptr(Messages) blank = read_lines("1 CALL_SENT a b 1\n \t");
    ck_assert_ptr_null(blank->damage);
    g_autoptr(Messages) head = read_text("# bbtrace text 1");
    ck_assert_ptr_null(head->damage);
}
END_TEST

START_TEST(long_lines)
{
    g_autofree char *fits = g_strnfill((1 << 20) - 20, 'x');
    g_autofree char *line = g_strdup_printf(HEAD "1 MSG_SENT a b - op=%s\n", fits);
    g_autoptr(Messages) good = read_text(line);
    ck_assert_ptr_null(good->error);
    ck_assert_uint_eq(strlen(text_of(good, message_at(good, 0)->op)), strlen(fits));

    g_autofree char *far = g_strnfill(3 << 20, 'x');
    g_autofree char *text = g_strdup_printf(
        HEAD "1 MSG_SENT a b - op=%s\n2 MSG_SENT a b - op=%s\n3 MSG_SENT a b -\n# %s",
        fits + (1 << 10), far, far);
    g_autoptr(Messages) bad = read_text(text);
    ck_assert_ptr_nonnull(strstr(bad->error->message, ":3: the line is longer than 1 MiB"));
    g_autofree char *path = temp_path();
    ck_assert(g_file_set_contents(path, text, -1, NULL));
    g_autoptr(Messages) skipped = read_path(path, true);
    ck_assert_ptr_null(skipped->error);
    ck_assert_uint_eq(skipped->bad_lines, 2);
    ck_assert_uint_eq(skipped->messages->len, 2);
    ck_assert_int_eq(message_at(skipped, 1)->time_ns, 3000000000);
    g_unlink(path);
}
END_TEST

START_TEST(bad_lines_are_skipped)
{
    g_autofree char *path = temp_path();
    const char text[] = HEAD "1 MSG_SENT a b -\nbad\n2 MSG_SENT a b - x\n3 MSG_SENT a b - \0\n"
                             "# counter drops x\n4 MSG_SENT a b -\n5 MSG";
    ck_assert(g_file_set_contents(path, text, sizeof text - 1, NULL));
    g_autoptr(Messages) all = read_path(path, true);
    ck_assert_ptr_null(all->error);
    ck_assert_uint_eq(all->bad_lines, 3);
    ck_assert_uint_eq(all->messages->len, 2);
    ck_assert_int_eq(message_at(all, 1)->time_ns, 4000000000);
    g_unlink(path);
}
END_TEST

// ---- counters, and what is written --------------------------------------------------------------

START_TEST(counters_are_comments)
{
    g_autoptr(Messages) all = read_lines("# counter tcp.gaps 41\n# counter tcp.gaps 1\r\n"
                                         "# counter Upper 1\n# counter a b\n# counter c\n"
                                         "# counter d 1 2\n#counter e 1\n# counters f 1\n"
                                         "# counter drops_2 18446744073709551614\n");
    ck_assert_ptr_null(all->error);
    ck_assert_uint_eq(bb_counters_count(all->counters), 2);
    ck_assert_uint_eq(bb_counters_get(all->counters, "tcp.gaps"), 42);
    ck_assert_uint_eq(bb_counters_get(all->counters, "drops_2"), G_MAXUINT64 - 1);
}
END_TEST

// Text that is written as it was read.
START_TEST(written_as_it_was)
{
    const char *text = HEAD
        "0.000000 MSG_SENT - %2D -\n"
        "0.000000001 MSG_RECV a%3Db b -\n"
        "1047680084.482205 CALL_SENT nodeA nodeB id37\n"
        "1047680084.483575 RET_SENT nodeB nodeA id37 op=GET%20/cart status=200 bytes=512\n"
        "1047680085.100000 CALL_RECV a b 007 recv=1047680086.000001 end=1047680085.123456789"
        " op=a=b%25 status=-ERR bytes=0 conn=c%20d off=0 obs=o proto=tcp path=00c0ffee00c0ffee"
        " parent=- x-y=%41\n"
        "9223372036.854775807 CALL_SENT %E2%80%83%C2%A0%FF%C2%85 \xc3\xa4\xf0\x9f\x90\x99 %07\n"
        "# counter tcp.gaps 3\n";
    g_autoptr(Messages) all = read_text(text);
    ck_assert_msg(!all->error, "%s", all->error ? all->error->message : "");
    ck_assert_str_eq(text_of(all, message_at(all, 0)->sender), "");
    ck_assert_str_eq(text_of(all, message_at(all, 0)->receiver), "-");
    gsize size = 0;
    g_autofree char *again = write_bytes(BB_TRACE_TEXT, all, 0, &size);
    ck_assert_str_eq(again, text);
}
END_TEST

START_TEST(unknown_keys_are_made_safe)
{
    g_autoptr(Messages) all = read_lines("1 MSG_SENT a b - \xff=\x1b[2J z=%zz\n");
    ck_assert_str_eq(message_at(all, 0)->extra, "%FF=%1B[2J z=%zz");
}
END_TEST

// ---- encoding -----------------------------------------------------------------------------------

static void check_encoding(const char *text, const char *also, const char *encoded)
{
    g_autoptr(GString) out = g_string_new(NULL);
    bb_percent_append(out, text, also);
    ck_assert_str_eq(out->str, encoded);
    g_autofree char *back = g_strdup(out->str);
    ck_assert_ptr_null(bb_percent_decode(back));
    ck_assert_str_eq(back, text);
}

START_TEST(percent_encoding)
{
    check_encoding("", "%", "");
    check_encoding("plain-._~:/?#[]@!$&'()*+,;=", "%", "plain-._~:/?#[]@!$&'()*+,;=");
    check_encoding("a=b", "%=", "a%3Db");
    check_encoding(" \t\r\n\v\f%\x01\x7f", "%", "%20%09%0D%0A%0B%0C%25%01%7F");
    check_encoding("\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\x99", "%",
                   "\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\x99");
    check_encoding("\xc3", "%", "%C3");
    check_encoding("\xc3(\xff\xfe", "%", "%C3(%FF%FE");
    check_encoding("\xed\xa0\x80", "%", "%ED%A0%80"); // a surrogate is not UTF-8
    check_encoding("\xc2\xa0\xe3\x80\x80\xe2\x80\xa8", "%", "%C2%A0%E3%80%80%E2%80%A8");
    g_autofree char *lower = g_strdup("%c3%A4%2fx");
    ck_assert_ptr_null(bb_percent_decode(lower));
    ck_assert_str_eq(lower, "\xc3\xa4/x");
}
END_TEST

TEST_MAIN("trace_text", every_field_and_key, absent_ones, operations, order_is_that_of_the_file,
          layout_is_free, malformed_lines, malformed_times, nul_bytes, cut_line, cut_value,
          long_lines, bad_lines_are_skipped, counters_are_comments, written_as_it_was,
          unknown_keys_are_made_safe, percent_encoding)
