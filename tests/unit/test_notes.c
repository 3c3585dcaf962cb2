// SPDX-License-Identifier: Apache-2.0
// Sentences on how a trace came about travel in both forms, whatever bytes they have.
#include "tests/unit/scratch.h"
#include "tests/unit/traces.h"

static void write_notes(const char *path, BbTraceForm form, const Messages *all,
                        const char *const *notes, guint count)
{
    g_autoptr(BbTraceWriter) writer = bb_trace_writer_open(path, form, all->names, NULL);
    ck_assert_ptr_nonnull(writer);
    for (guint i = 0; i < MAX(all->messages->len, count); i++) {
        if (i < count)
            ck_assert(bb_trace_writer_note(writer, notes[i], NULL));
        if (i < all->messages->len)
            ck_assert(bb_trace_writer_push(writer, message_at(all, i), NULL));
    }
    ck_assert(bb_trace_writer_finish(writer, NULL, NULL));
}

static BbTraceReader *read_to_end(const char *path, BbNames *names, guint messages)
{
    BbTraceReader *reader = bb_trace_reader_open(path, names, NULL);
    ck_assert_ptr_nonnull(reader);
    BbMessage message;
    while (bb_trace_reader_next(reader, &message, NULL))
        continue;
    ck_assert_uint_eq(bb_trace_reader_messages(reader), messages);
    ck_assert_ptr_null(bb_trace_reader_damage(reader));
    return reader;
}

static const BbTraceForm forms[] = {BB_TRACE_BBT, BB_TRACE_TEXT};

START_TEST(notes_come_back_as_they_were)
{
    static const char *const notes[] = {"fired by SIGUSR2", "two\nlines",   " 100 %  \t", "#",
                                        "\xff\xc3",         "# counter a 1"};
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(Messages) all = random_messages(3, 20);
    for (guint f = 0; f < G_N_ELEMENTS(forms); f++) {
        const char *path = scratch_path(scratch, f ? "text" : "bbt");
        write_notes(path, forms[f], all, notes, G_N_ELEMENTS(notes));
        g_autoptr(BbNames) names = bb_names_new();
        g_autoptr(BbTraceReader) reader = read_to_end(path, names, 20);
        ck_assert_uint_eq(bb_trace_reader_notes(reader), G_N_ELEMENTS(notes));
        for (guint i = 0; i < G_N_ELEMENTS(notes); i++)
            ck_assert_str_eq(bb_trace_reader_note(reader, i), notes[i]);
        ck_assert_uint_eq(bb_counters_count(bb_trace_reader_counters(reader)), 0);
    }
}
END_TEST

START_TEST(many_and_long_notes_are_cut)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(Messages) all = random_messages(4, 1);
    g_autofree char *text = g_strnfill(3 * BB_TRACE_NOTE_SIZE, 'x');
    const char *notes[BB_TRACE_NOTES + 10];
    for (guint i = 0; i < G_N_ELEMENTS(notes); i++)
        notes[i] = i ? text : "";
    for (guint f = 0; f < G_N_ELEMENTS(forms); f++) {
        const char *path = scratch_path(scratch, f ? "text" : "bbt");
        write_notes(path, forms[f], all, notes, G_N_ELEMENTS(notes));
        g_autoptr(BbNames) names = bb_names_new();
        g_autoptr(BbTraceReader) reader = read_to_end(path, names, 1);
        ck_assert_uint_eq(bb_trace_reader_notes(reader), BB_TRACE_NOTES);
        ck_assert_uint_eq(strlen(bb_trace_reader_note(reader, 0)), BB_TRACE_NOTE_SIZE);
    }
}
END_TEST

TEST_MAIN("notes", notes_come_back_as_they_were, many_and_long_notes_are_cut)
