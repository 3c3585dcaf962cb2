// SPDX-License-Identifier: Apache-2.0
// Mail as messages: which headers become one, whom they name, what caused them, what is counted;
// and the table of importers.
#include "merge/importer.h"
#include "tests/unit/scratch.h"

#include <string.h>

#define DAY "Thu, 22 Aug 2002 "
#define FROM "From sender@example.org Thu Aug 22 12:00:00 2002\n"

typedef struct Taken {
    BbNames *names;
    BbCounters *counters;
    BbImport import;
    GString *text; // what came, a message a line
    guint left;    // messages until the sink fails
} Taken;

static bool take(const BbMessage *message, gpointer user, GError **error)
{
    Taken *taken = user;
    if (taken->left-- == 0) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NOSPC, "full");
        return false;
    }
    ck_assert(message->kind == BB_FREE && !message->at_receiver);
    g_string_append_printf(taken->text, "%" G_GINT64_FORMAT " %s %s ",
                           message->time_ns / 1000000000 % 86400,
                           bb_names_text(taken->names, message->sender),
                           bb_names_text(taken->names, message->receiver));
    bb_id_append(taken->text, taken->names, message->id);
    g_string_append_c(taken->text, ' ');
    bb_id_append(taken->text, taken->names, message->path);
    g_string_append_c(taken->text, ' ');
    bb_id_append(taken->text, taken->names, message->parent);
    g_string_append_c(taken->text, '\n');
    return true;
}

static void warn(const char *sentence)
{
    ck_abort_msg("%s", sentence);
}

static Taken *taken_new(void)
{
    Taken *taken = g_new0(Taken, 1);
    taken->names = bb_names_new();
    taken->counters = bb_counters_new();
    taken->text = g_string_new(NULL);
    taken->left = G_MAXUINT;
    taken->import = (BbImport){.names = taken->names,
                               .counters = taken->counters,
                               .sink = take,
                               .user = taken,
                               .warn = warn};
    return taken;
}

static void taken_free(Taken *taken)
{
    bb_names_free(taken->names);
    bb_counters_free(taken->counters);
    g_string_free(taken->text, TRUE);
    g_free(taken);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Taken, taken_free)

static void import_texts(Taken *taken, const char *const *texts, gsize count)
{
    g_autoptr(Scratch) scratch = scratch_new();
    const BbImporter *importer = bb_importer_find("received");
    g_autoptr(GError) error = NULL;
    gpointer reading = importer->begin(&taken->import);
    for (gsize i = 0; i < count; i++) {
        g_autofree char *name = g_strdup_printf("box%u", (guint)i);
        const char *path = scratch_file(scratch, name, texts[i], strlen(texts[i]));
        ck_assert(importer->read(reading, path, &error));
    }
    ck_assert(importer->finish(reading, &error));
    ck_assert_ptr_null(error);
    importer->end(reading);
}

static void assert_import(const char *text, const char *wanted)
{
    g_autoptr(Taken) taken = taken_new();
    import_texts(taken, &text, 1);
    ck_assert_str_eq(taken->text->str, wanted);
}

START_TEST(hops_of_one_mail)
{
    assert_import("Received: from b.example.org (b.example.org [192.0.2.2]) by c.example.org; " DAY
                  "12:00:05 +0000\n"
                  "Received: (qmail 7 invoked from network); 22 Aug 2002 12:00:01 -0000\n"
                  "Received: from a.example.org ([192.0.2.1]) by B.example.org.; " DAY
                  "14:00:00 +0200\n"
                  "Message-ID: <x 1@y>\n\n",
                  "43200 a.example.org b.example.org 1 x 1@y -\n"
                  "43205 b.example.org c.example.org 2 x 1@y 1\n");
}
END_TEST

START_TEST(in_order_of_time_whatever_the_clocks)
{
    assert_import("Received: from b.example.org by c.example.org; " DAY "11:59:58 +0000\n"
                  "Received: from a.example.org by b.example.org; " DAY "12:00:00 +0000\n"
                  "Message-ID: <1>\n\n",
                  "43198 b.example.org c.example.org 2 1 1\n"
                  "43200 a.example.org b.example.org 1 1 -\n");
}
END_TEST

// Hops left out between break no chain; a hop between other hosts does.
START_TEST(parents)
{
    assert_import("Received: from d.example.org by e.example.org; " DAY "12:00:09 +0000\n"
                  "Received: from localhost (localhost [127.0.0.1]) by d.example.org; " DAY
                  "12:00:08 +0000\n"
                  "Received: from c.example.org by d.example.org; " DAY "12:00:07 +0000\n"
                  "Received: from a.example.org by b.example.org; " DAY "12:00:00 +0000\n"
                  "Message-ID: <1>\n\n",
                  "43200 a.example.org b.example.org 1 1 -\n"
                  "43207 c.example.org d.example.org 2 1 -\n"
                  "43209 d.example.org e.example.org 3 1 2\n");
}
END_TEST

START_TEST(what_is_left_out)
{
    static const struct {
        const char *header, *counter;
    } cases[] = {
        {"(qmail 7 invoked by uid 5); " DAY "12:00:00 +0000", "mail_without_from"},
        {"by b.example.org id 4; " DAY "12:00:00 +0000", "mail_without_from"},
        {"from a.example.org; " DAY "12:00:00 +0000", "mail_without_by"},
        {"from localhost by b.example.org; " DAY "12:00:00 +0000", "mail_local"},
        {"from a.example.org ([127.0.0.1]) by b.example.org; " DAY "12:00:00 +0000", "mail_local"},
        {"from a.example.org (localhost) by b.example.org; " DAY "12:00:00 +0000", "mail_local"},
        {"from a.example.org by localhost; " DAY "12:00:00 +0000", "mail_local"},
        {"from unknown by b.example.org; " DAY "12:00:00 +0000", "mail_local"},
        {"from phobos by b.example.org; " DAY "12:00:00 +0000", "mail_generic"},
        {"from mail pickup service by b.example.org; " DAY "12:00:00 +0000", "mail_generic"},
        {"from a.example.org by 0; " DAY "12:00:00 +0000", "mail_generic"},
        {"from a.example.org by phobos; " DAY "12:00:00 +0000", "mail_generic"},
        {"from [10.0.0.1] by b.example.org; " DAY "12:00:00 +0000", "mail_private"},
        {"from a.example.org by 10.0.0.1; " DAY "12:00:00 +0000", "mail_private"},
        {"from b.example.org ([192.0.2.1]) by b.example.org; " DAY "12:00:00 +0000", "mail_self"},
        {"from a.example.org by b.example.org; yesterday", "mail_bad_dates"},
        {"from a.example.org by b.example.org", "mail_bad_dates"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(Taken) taken = taken_new();
        g_autofree char *text =
            g_strdup_printf("Received: %s\nMessage-ID: <1>\n\n", cases[i].header);
        import_texts(taken, (const char *const *)&text, 1);
        ck_assert_msg(taken->text->len == 0, "%s", cases[i].header);
        ck_assert_msg(bb_counters_get(taken->counters, cases[i].counter) == 1, "%s",
                      cases[i].header);
        ck_assert_uint_eq(bb_counters_get(taken->counters, "mail_headers"), 1);
        ck_assert_ptr_nonnull(bb_importer_meaning(cases[i].counter));
    }
}
END_TEST

// Without address the word of the sender counts; with one, what the DNS says; a private address has
// the name of who had the mail before, if that is always so.
START_TEST(who_the_sender_is)
{
    assert_import("Received: from a.example.org by b.example.org; " DAY "12:00:00 +0000\n"
                  "Message-ID: <1>\n\n",
                  "43200 a.example.org b.example.org 1 1 -\n");
    assert_import("Received: from forged.example (a.example.org [192.0.2.1]) by b.example.org; " DAY
                  "12:00:00 +0000\nMessage-ID: <1>\n\n",
                  "43200 a.example.org b.example.org 1 1 -\n");
    assert_import("Received: from [192.0.2.1] by b.example.org; " DAY "12:00:00 +0000\n"
                  "Message-ID: <1>\n\n",
                  "43200 192.0.2.1 b.example.org 1 1 -\n");
    assert_import("Received: from gate ([10.0.0.1]) by c.example.org; " DAY "12:00:05 +0000\n"
                  "Received: from a.example.org by b.example.org; " DAY "12:00:00 +0000\n"
                  "Message-ID: <1>\n\n",
                  "43200 a.example.org b.example.org 1 1 -\n"
                  "43205 b.example.org c.example.org 2 1 1\n");
}
END_TEST

// One name for a farm, seen at both ends, beats the addresses of its hosts.
START_TEST(both_ends_agree)
{
    GString *text = g_string_new(NULL);
    for (guint i = 1; i <= 3; i++)
        g_string_append_printf(text,
                               FROM "Received: from farm.example.org (out%u.example.org "
                                    "[192.0.2.%u]) by c.example.org; " DAY "12:00:0%u +0000\n"
                                    "Received: from a.example.org by farm.example.org; " DAY
                                    "12:00:00 +0000\n"
                                    "Message-ID: <%u>\n\n",
                               i, i, i, i);
    assert_import(text->str, "43200 a.example.org farm.example.org 1 1 -\n"
                             "43200 a.example.org farm.example.org 3 2 -\n"
                             "43200 a.example.org farm.example.org 5 3 -\n"
                             "43201 farm.example.org c.example.org 2 1 1\n"
                             "43202 farm.example.org c.example.org 4 2 3\n"
                             "43203 farm.example.org c.example.org 6 3 5\n");
    g_string_free(text, TRUE);
}
END_TEST

// The names of a host are learnt from all inputs, and before the first message goes out.
START_TEST(aliases_over_inputs)
{
    static const char *const texts[] = {
        "Received: from a.example.org by inner.example.org; " DAY "12:00:00 +0000\n"
        "Message-ID: <1>\n\n",
        "Received: from gate.example.org (dns.example.org [192.0.2.1]) by c.example.org; " DAY
        "12:00:05 +0000\n"
        "Received: by inner.example.org; " DAY "12:00:04 +0000\n"
        "Message-ID: <2>\n\n",
    };
    g_autoptr(Taken) taken = taken_new();
    import_texts(taken, texts, 2);
    ck_assert_str_eq(taken->text->str, "43200 a.example.org dns.example.org 1 1 -\n"
                                       "43205 dns.example.org c.example.org 2 2 -\n");
    ck_assert_uint_eq(bb_counters_get(taken->counters, "mail_aliases"), 3);
}
END_TEST

START_TEST(copies_share_their_hops)
{
    static const char *const texts[] = {
        "Received: from b.example.org by c.example.org for <u>; " DAY "12:00:05 +0000\n"
        "Received: from a.example.org by b.example.org; " DAY "12:00:00 +0000\n"
        "Message-ID: <1>\n\n",
        "Received: from b.example.org by d.example.org for <v>; " DAY "12:00:06 +0000\n"
        "Received: from a.example.org by\n b.example.org; " DAY "12:00:00 +0000\n"
        "Message-ID: <1>\n\n",
        "Received: from a.example.org by b.example.org; " DAY "12:00:00 +0000\n"
        "Message-ID: <2>\n\n",
    };
    g_autoptr(Taken) taken = taken_new();
    import_texts(taken, texts, 3);
    ck_assert_str_eq(taken->text->str, "43200 a.example.org b.example.org 1 1 -\n"
                                       "43200 a.example.org b.example.org 5 2 -\n"
                                       "43205 b.example.org c.example.org 2 1 1\n"
                                       "43206 b.example.org d.example.org 4 1 1\n");
    ck_assert_uint_eq(bb_counters_get(taken->counters, "mail_copies"), 1);
}
END_TEST

START_TEST(message_ids)
{
    g_autofree char *long_id = g_strnfill(251, 'x');
    g_autofree char *long_mail = g_strdup_printf(
        FROM "Received: from a.example.org by b.example.org; " DAY "12:00:03 +0000\n"
             "Message-ID: <%s>\n\n",
        long_id);
    const char *texts[] = {
        FROM "Received: from a.example.org by b.example.org; " DAY "12:00:00 +0000\n\n",
        FROM "Received: from a.example.org by b.example.org; " DAY "12:00:01 +0000\n"
             "Message-ID: -\n\n",
        FROM "Received: from a.example.org by b.example.org; " DAY "12:00:02 +0000\n"
             "Message-ID: bare@id\n\n",
        long_mail,
    };
    g_autoptr(Taken) taken = taken_new();
    import_texts(taken, texts, G_N_ELEMENTS(texts));
    g_auto(GStrv) lines = g_strsplit(taken->text->str, "\n", -1);
    ck_assert_str_eq(lines[0], "43200 a.example.org b.example.org 1 mail-without-id-1 -");
    ck_assert_str_eq(lines[1], "43201 a.example.org b.example.org 2 mail-without-id-2 -");
    ck_assert_str_eq(lines[2], "43202 a.example.org b.example.org 3 bare@id -");
    g_auto(GStrv) words = g_strsplit(lines[3], " ", -1);
    ck_assert_uint_eq(strlen(words[4]), 16);
    ck_assert_uint_eq(bb_counters_get(taken->counters, "mail_without_id"), 2);
}
END_TEST

START_TEST(unclear_zones_are_counted)
{
    g_autoptr(Taken) taken = taken_new();
    const char *text = "Received: from a.example.org by b.example.org; " DAY "12:00:00 IST\n\n";
    import_texts(taken, &text, 1);
    ck_assert_uint_eq(bb_counters_get(taken->counters, "mail_zones_unknown"), 1);
    ck_assert(g_str_has_prefix(taken->text->str, "43200 "));
}
END_TEST

START_TEST(failures)
{
    g_autoptr(Taken) taken = taken_new();
    g_autoptr(Scratch) scratch = scratch_new();
    const BbImporter *importer = bb_importer_find("received");
    g_autoptr(GError) error = NULL;
    gpointer reading = importer->begin(&taken->import);
    ck_assert(!importer->read(reading, "/nowhere/at/all", &error));
    ck_assert_ptr_nonnull(strstr(error->message, "/nowhere/at/all"));
    g_clear_error(&error);
    ck_assert(!importer->read(reading, scratch_file(scratch, "x", "no mail\n", 8), &error));
    g_clear_error(&error);
    ck_assert(!importer->read(reading, scratch->folder, &error));
    g_clear_error(&error);
    static const char good[] =
        "Received: from a.example.org by b.example.org; " DAY "12:00:00 +0000\n\n";
    ck_assert(importer->read(reading, scratch_file(scratch, "y", good, strlen(good)), &error));
    taken->left = 0;
    ck_assert(!importer->finish(reading, &error));
    ck_assert_str_eq(error->message, "full");
    importer->end(reading);
}
END_TEST

static void assert_maildir(bool any_mail, guint wanted_unread)
{
    g_autoptr(Taken) taken = taken_new();
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(GError) error = NULL;
    static const char good[] =
        "Received: from a.example.org by b.example.org; " DAY "12:00:00 +0000\n\n";
    ck_assert_int_eq(g_mkdir(scratch_path(scratch, "cur"), 0700), 0);
    (void)scratch_file(scratch, "cur/1", any_mail ? good : "bad", any_mail ? strlen(good) : 3);
    (void)scratch_file(scratch, "cur/2", "bad", 3);
    const BbImporter *importer = bb_importer_find("received");
    gpointer reading = importer->begin(&taken->import);
    ck_assert(importer->read(reading, scratch->folder, &error) == any_mail);
    ck_assert((error == NULL) == any_mail);
    ck_assert(importer->finish(reading, NULL));
    importer->end(reading);
    ck_assert_uint_eq(bb_counters_get(taken->counters, "mail_files_unread"), wanted_unread);
    for (guint i = scratch->paths->len; i-- > 0;)
        (void)g_remove(g_ptr_array_index(scratch->paths, i));
}

START_TEST(maildirs)
{
    assert_maildir(true, 1);
    assert_maildir(false, 1); // the last one is the error
}
END_TEST

START_TEST(table_of_importers)
{
    gsize count = 0;
    for (const BbImporter *importer = NULL; (importer = bb_importer_at(count)); count++) {
        ck_assert_ptr_eq(bb_importer_find(importer->name), importer);
        ck_assert(importer->about && importer->begin && importer->read && importer->finish &&
                  importer->end);
        for (const BbImportCount *row = importer->counts; row && row->name; row++)
            ck_assert_str_eq(bb_importer_meaning(row->name), row->meaning);
    }
    ck_assert_uint_ge(count, 2);
    ck_assert_ptr_nonnull(bb_importer_find("text"));
    ck_assert_ptr_null(bb_importer_find("none"));
    ck_assert_ptr_null(bb_importer_meaning("frames"));
}
END_TEST

START_TEST(shipped_sample)
{
    g_autoptr(Taken) taken = taken_new();
    g_autofree char *text = NULL;
    ck_assert(g_file_get_contents(TEST_DATA "/../data/samples/received.mbox", &text, NULL, NULL));
    import_texts(taken, (const char *const *)&text, 1);
    g_auto(GStrv) lines = g_strsplit(taken->text->str, "\n", -1);
    ck_assert_uint_eq(g_strv_length(lines), 91); // 90 and what is behind the last
    ck_assert_uint_eq(bb_counters_get(taken->counters, "mails"), 36);
    ck_assert_uint_eq(bb_counters_get(taken->counters, "mail_headers"), 144);
    ck_assert_ptr_null(strstr(text, "\r"));
}
END_TEST

TEST_MAIN("received", hops_of_one_mail, in_order_of_time_whatever_the_clocks, parents,
          what_is_left_out, who_the_sender_is, both_ends_agree, aliases_over_inputs,
          copies_share_their_hops, message_ids, unclear_zones_are_counted, failures, maildirs,
          table_of_importers, shipped_sample)
