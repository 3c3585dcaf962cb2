// SPDX-License-Identifier: Apache-2.0
// Mailboxes: where mails begin and end, how headers unfold, what is no mail; Maildirs.
#include "merge/mailbox.h"

#include "data/input.h"
#include "merge/maildir.h"
#include "tests/unit/pack.h"
#include "tests/unit/scratch.h"

#include <stdbool.h>
#include <string.h>

#define FROM "From sender@example.org Thu Aug 22 12:00:00 2002\n"

typedef struct Box {
    Scratch *scratch;
    BbCounters *counters;
    BbMailbox *box;
    GError *error;
} Box;

static Box open_bytes(const void *bytes, gsize size)
{
    Box box = {.scratch = scratch_new(), .counters = bb_counters_new()};
    const char *path = scratch_file(box.scratch, "box", bytes, size);
    box.box = bb_mailbox_open(path, box.counters, &box.error);
    return box;
}

static Box open_text(const char *text)
{
    return open_bytes(text, strlen(text));
}

static void close_box(Box *box)
{
    bb_mailbox_free(box->box);
    bb_counters_free(box->counters);
    scratch_free(box->scratch);
    g_clear_error(&box->error);
}

// The next mail as "ID: header|header|".
static char *next_mail(Box *box)
{
    ck_assert_ptr_nonnull(box->box);
    const BbMail *mail = bb_mailbox_next(box->box, &box->error);
    if (!mail)
        return NULL;
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "%s: ", mail->id ? mail->id : "-");
    for (guint i = 0; i < mail->received->len; i++)
        g_string_append_printf(text, "%s|", (char *)g_ptr_array_index(mail->received, i));
    return g_string_free(text, FALSE);
}

static void assert_mails(const char *text, const char *const *wanted, gsize count)
{
    Box box = open_text(text);
    for (gsize i = 0; i < count; i++) {
        g_autofree char *mail = next_mail(&box);
        ck_assert_ptr_nonnull(mail);
        ck_assert_str_eq(mail, wanted[i]);
    }
    ck_assert_ptr_null(next_mail(&box));
    ck_assert_ptr_null(box.error);
    ck_assert_uint_eq(bb_counters_get(box.counters, "mails"), count);
    close_box(&box);
}

START_TEST(folded_headers)
{
    static const char *const wanted[] = {"<1@x>: from a  by b\t ; date|second|"};
    assert_mails("Received: from a\n  by b\n\t ; date  \nSubject: x\n more: y\nRECEIVED :second\n"
                 "Message-Id:\n <1@x>\nMessage-ID: <2@x>\n\nReceived: body\n",
                 wanted, 1);
}
END_TEST

START_TEST(line_ends)
{
    static const char *const wanted[] = {"<1@x>: a b|", "<2@x>: c|"};
    assert_mails("\r\nFrom s Thu Aug 22 12:00:00 2002\r\nReceived: a\r\n b\r\nMessage-ID: "
                 "<1@x>\r\n\r\nbody\r\n\r\nFrom s Thu Aug 22 12:00:00 2002\r\nReceived: "
                 "c\r\nMessage-ID: <2@x>",
                 wanted, 2);
}
END_TEST

// Bodies hold what looks like the begin of a mail: quoted, in prose, with a time, before a header.
START_TEST(from_lines_in_bodies)
{
    static const char *const wanted[] = {"<1@x>: a|", "<2@x>: b|", "-: c|"};
    assert_mails(FROM "Received: a\nMessage-ID: <1@x>\nContent-Length: 10\n\n"
                      "\nFrom here on it goes.\n\nFrom 10:30 it goes on\nwithout header\n\n"
                      ">" FROM "Received: quoted\n\n>>" FROM "Received: twice\n\n"
                      "From you: Hello\nReceived: no time before it\n"
                      "text\n" FROM "Received: no empty line before it\n\n" FROM
                      "Received: b\nMessage-ID: <2@x>\n\n" FROM "Received: c\n",
                 wanted, 3);
}
END_TEST

START_TEST(headers_without_an_end)
{
    static const char *const wanted[] = {"<1@x>: a|", "<2@x>: b|"};
    assert_mails(FROM "Received: a\nMessage-ID: <1@x>\n" FROM "Received: b\nMessage-ID: <2@x>\n",
                 wanted, 2);
}
END_TEST

START_TEST(quoted_from_line_above_the_headers)
{
    static const char *const wanted[] = {"<1@x>: a|"};
    assert_mails(FROM ">" FROM "Received: a\nMessage-ID: <1@x>\n\n", wanted, 1);
}
END_TEST

// A file that begins with a header is one message, whatever its body holds.
START_TEST(single_message)
{
    static const char *const wanted[] = {"<1@x>: a|"};
    assert_mails("Received: a\nMessage-ID: <1@x>\n\n\n" FROM "Received: b\n\n", wanted, 1);
}
END_TEST

START_TEST(empty_files_are_empty_boxes)
{
    assert_mails("\n\n\r\n", NULL, 0);
}
END_TEST

START_TEST(lines_that_are_none)
{
    Box box = open_text("Received: a\n by\nno header here\n and no folding\nReceived: b\n\n");
    g_autofree char *mail = next_mail(&box);
    ck_assert_str_eq(mail, "-: a by|b|");
    ck_assert_uint_eq(bb_counters_get(box.counters, "mail_bad_lines"), 1);
    close_box(&box);
}
END_TEST

START_TEST(no_mail_at_all)
{
    static const char *const texts[] = {
        "once upon a time\n",
        "#!/bin/sh\necho\n",
        "From here to there\nSubject: x\n",
        "From 10:30 on\nnothing\n",
        ": no name\n",
        "\177ELF\1\1\1",
        "a b: c\n",
        " folded: x\n",
    };
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        Box box = open_text(texts[i]);
        ck_assert_msg(box.box == NULL && box.error != NULL, "%s", texts[i]);
        ck_assert_ptr_nonnull(strstr(box.error->message, "no mail"));
        ck_assert_ptr_nonnull(strstr(box.error->message, "Maildir"));
        close_box(&box);
    }
    Box box = open_text("version: 3\nnote: none of these is a header of mail\n\ntext\n");
    ck_assert_ptr_null(next_mail(&box));
    ck_assert_ptr_nonnull(box.error);
    ck_assert_ptr_nonnull(strstr(box.error->message, "none of its headers"));
    close_box(&box);
}
END_TEST

START_TEST(long_headers_are_left_out)
{
    for (guint over = 0; over <= 1; over++) {
        g_autofree char *body = g_strnfill(BB_MAIL_HEADER_MAX + over, 'x');
        g_autofree char *text = g_strdup_printf("Received:%s\nReceived: short\n\n", body);
        Box box = open_text(text);
        const BbMail *mail = bb_mailbox_next(box.box, &box.error);
        ck_assert_uint_eq(mail->received->len, 2 - over);
        ck_assert_uint_eq(bb_counters_get(box.counters, "mail_headers_cut"), over);
        close_box(&box);
    }
}
END_TEST

START_TEST(folding_has_the_same_limit)
{
    GString *text = g_string_new("Received: x\n");
    for (guint i = 0; i < 1000; i++)
        g_string_append(text, "\tfolded once and again, and again, and again\n");
    g_string_append(text, "Message-ID: <1@x>\n\n");
    Box box = open_text(text->str);
    g_autofree char *mail = next_mail(&box);
    ck_assert_str_eq(mail, "<1@x>: ");
    ck_assert_uint_eq(bb_counters_get(box.counters, "mail_headers_cut"), 1);
    close_box(&box);
    g_string_free(text, TRUE);
}
END_TEST

START_TEST(many_headers)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < BB_MAIL_RECEIVED_MAX + 5; i++)
        g_string_append_printf(text, "Received: %u\n", i);
    Box box = open_text(text->str);
    const BbMail *mail = bb_mailbox_next(box.box, &box.error);
    ck_assert_uint_eq(mail->received->len, BB_MAIL_RECEIVED_MAX);
    ck_assert_str_eq(g_ptr_array_index(mail->received, 0), "0");
    ck_assert_uint_eq(bb_counters_get(box.counters, "mail_headers_left_out"), 5);
    close_box(&box);
    g_string_free(text, TRUE);
}
END_TEST

START_TEST(bytes_of_any_kind)
{
    static const char bytes[] = "Received: a\0b\xff\n\0\n\xff: x\nMessage-ID: <1@x>\n\n";
    Box box = open_bytes(bytes, sizeof bytes - 1);
    g_autofree char *mail = next_mail(&box);
    ck_assert_str_eq(mail, "<1@x>: a b\xff|");
    close_box(&box);
}
END_TEST

// A mail over the border of the reader's buffers.
START_TEST(long_bodies)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < 5; i++) {
        g_string_append_printf(text, FROM "Received: %u\n\n", i);
        for (guint line = 0; line < 30000 + i; line++)
            g_string_append(text, "x\n");
        for (guint n = 0; n < 70000; n++)
            g_string_append_c(text, 'y');
        g_string_append(text, "\n\n");
    }
    static const char *const wanted[] = {"-: 0|", "-: 1|", "-: 2|", "-: 3|", "-: 4|"};
    assert_mails(text->str, wanted, 5);
    g_string_free(text, TRUE);
}
END_TEST

START_TEST(packed_and_cut)
{
    static const char text[] = FROM "Received: a\n\nbody\n\n" FROM "Received: b\n\nbody\n";
    g_autoptr(GByteArray) packed = g_byte_array_new();
    pack_append(packed, PACK_GZIP, (const guint8 *)text, sizeof text - 1);
    Box whole = open_bytes(packed->data, packed->len);
    g_autofree char *first = next_mail(&whole);
    g_autofree char *second = next_mail(&whole);
    ck_assert_str_eq(first, "-: a|");
    ck_assert_str_eq(second, "-: b|");
    ck_assert_ptr_null(next_mail(&whole));
    ck_assert_ptr_null(bb_mailbox_damage(whole.box));
    close_box(&whole);
    Box cut = open_bytes(packed->data, packed->len - 8);
    while (bb_mailbox_next(cut.box, &cut.error))
        ;
    ck_assert_ptr_null(cut.error);
    ck_assert_ptr_nonnull(bb_mailbox_damage(cut.box));
    close_box(&cut);
}
END_TEST

START_TEST(missing_files)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(BbCounters) counters = bb_counters_new();
    ck_assert_ptr_null(bb_mailbox_open("/nowhere/at/all", counters, &error));
    ck_assert_ptr_nonnull(strstr(error->message, "/nowhere/at/all"));
}
END_TEST

// ---- Maildir ------------------------------------------------------------------------------------

static void make_folder(Scratch *scratch, const char *name)
{
    ck_assert_int_eq(g_mkdir(scratch_path(scratch, name), 0700), 0);
}

// g_remove of a folder needs it empty: files were made after their folder, so go last first.
static void remove_all(Scratch *scratch)
{
    for (guint i = scratch->paths->len; i-- > 0;)
        (void)g_remove(g_ptr_array_index(scratch->paths, i));
}

START_TEST(maildir_in_order)
{
    g_autoptr(Scratch) scratch = scratch_new();
    make_folder(scratch, "new");
    make_folder(scratch, "cur");
    make_folder(scratch, "tmp");
    const char *const files[] = {"new/1", "cur/3:2,S", "cur/2:2,", "tmp/0", "cur/.hidden"};
    for (gsize i = 0; i < G_N_ELEMENTS(files); i++)
        (void)scratch_file(scratch, files[i], "x", 1);
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) paths = bb_maildir_list(scratch->folder, &error);
    ck_assert_ptr_nonnull(paths);
    static const char *const wanted[] = {"cur/2:2,", "cur/3:2,S", "new/1"};
    ck_assert_uint_eq(paths->len, 3);
    for (guint i = 0; i < paths->len; i++)
        ck_assert(g_str_has_suffix(g_ptr_array_index(paths, i), wanted[i]));
    remove_all(scratch);
}
END_TEST

START_TEST(folder_that_is_no_maildir)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(GError) error = NULL;
    ck_assert_ptr_null(bb_maildir_list(scratch->folder, &error));
    ck_assert_ptr_nonnull(strstr(error->message, "no Maildir"));
    g_clear_error(&error);
    make_folder(scratch, "cur");
    g_autoptr(GPtrArray) paths = bb_maildir_list(scratch->folder, &error);
    ck_assert_uint_eq(paths->len, 0);
}
END_TEST

TEST_MAIN("mailbox", folded_headers, line_ends, from_lines_in_bodies, headers_without_an_end,
          quoted_from_line_above_the_headers, single_message, empty_files_are_empty_boxes,
          lines_that_are_none, no_mail_at_all, long_headers_are_left_out,
          folding_has_the_same_limit, many_headers, bytes_of_any_kind, long_bodies, packed_and_cut,
          missing_files, maildir_in_order, folder_that_is_no_maildir)
