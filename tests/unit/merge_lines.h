// SPDX-License-Identifier: Apache-2.0
// For the tests of the merge: traces as lines of text in, the merged trace as lines of text out.
//     "1.5 C a b 7 conn=x off=1"   seconds, kind (C R M; rC rR rM at the receiver), sender,
//                                  receiver, id, keys of bbtrace-text(5)
// Lines that come out have times without trailing zeros, in the same form.
#pragma once

#include "data/trace.h"
#include "merge/join.h"
#include "merge/merger.h"
#include "tests/unit/scratch.h"

#include <string.h>

typedef struct Merge {
    Scratch *scratch;
    GPtrArray *paths; // NULL at the end once run
    BbNames *names;
    BbMerger *merger;
    BbJoin *join;
    BbTraceWriter *writer;
    char *out;
    GPtrArray *lines; // of the result
} Merge;

static inline const char *merge_operation(const char *word)
{
    static const char *const words[][2] = {{"C", "CALL_SENT"}, {"R", "RET_SENT"},
                                           {"M", "MSG_SENT"},  {"rC", "CALL_RECV"},
                                           {"rR", "RET_RECV"}, {"rM", "MSG_RECV"}};
    for (gsize i = 0; i < G_N_ELEMENTS(words); i++)
        for (guint side = 0; side < 2; side++)
            if (strcmp(word, words[i][side]) == 0)
                return words[i][!side];
    ck_abort_msg("no operation: %s", word);
    return NULL;
}

// The other way of writing the operation of a line.
static inline char *merge_turn(const char *line)
{
    g_auto(GStrv) words = g_strsplit(line, " ", 3);
    return g_strdup_printf("%s %s %s", words[0], merge_operation(words[1]), words[2]);
}

static inline Merge *merge_new(void)
{
    Merge *merge = g_new0(Merge, 1);
    merge->scratch = scratch_new();
    merge->paths = g_ptr_array_new();
    merge->names = bb_names_new();
    merge->lines = g_ptr_array_new_with_free_func(g_free);
    return merge;
}

static inline void merge_free(Merge *merge)
{
    bb_join_free(merge->join);
    bb_merger_free(merge->merger);
    bb_trace_writer_free(merge->writer);
    bb_names_free(merge->names);
    g_ptr_array_unref(merge->paths);
    g_ptr_array_unref(merge->lines);
    scratch_free(merge->scratch);
    g_free(merge);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Merge, merge_free)

// Adds an input of these lines (NULL at the end), in a file of this name.
static inline void merge_add(Merge *merge, const char *name, const char *const *lines)
{
    g_autoptr(GString) text = g_string_new("# bbtrace text 1\n");
    for (; *lines; lines++) {
        g_autofree char *line = merge_turn(*lines);
        g_string_append_printf(text, "%s\n", line);
    }
    const char *path = scratch_file(merge->scratch, name, text->str, text->len);
    g_ptr_array_add(merge->paths, (gpointer)path);
}

#define MERGE_ADD(merge, name, ...) merge_add(merge, name, (const char *const[]){__VA_ARGS__, NULL})

static inline bool merge_push(const BbMessage *message, guint input, gpointer user, GError **error)
{
    Merge *merge = user;
    return bb_join_push(merge->join, message, input, error);
}

static inline bool merge_write(const BbMessage *message, gpointer user, GError **error)
{
    const Merge *merge = user;
    return bb_trace_writer_push(merge->writer, message, error);
}

static inline void merge_read_lines(Merge *merge)
{
    g_autofree char *text = NULL;
    ck_assert(g_file_get_contents(merge->out, &text, NULL, NULL));
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++) {
        if (**line == '#' || !**line)
            continue;
        g_auto(GStrv) words = g_strsplit(*line, " ", -1);
        g_autoptr(GString) turned = g_string_new(NULL);
        for (char **word = words; *word; word++) {
            const char *value = strchr(*word, '=');
            char *end = *word + strlen(*word);
            bool time = word == words || g_str_has_prefix(*word, "recv=") ||
                        g_str_has_prefix(*word, "end=");
            while (time && strchr(value ? value : *word, '.') &&
                   (end[-1] == '0' || end[-1] == '.')) {
                bool point = end[-1] == '.';
                *--end = '\0';
                if (point)
                    break;
            }
            g_string_append_printf(turned, "%s%s", word == words ? "" : " ",
                                   word == words + 1 ? merge_operation(*word) : *word);
        }
        g_ptr_array_add(merge->lines, g_strdup(turned->str));
    }
}

// Merges what was added.
static inline void merge_run(Merge *merge, const BbJoinOptions *options)
{
    GError *error = NULL;
    g_ptr_array_add(merge->paths, NULL);
    merge->merger = bb_merger_new(&(BbMergerOptions){.open_max = 8}, merge->names,
                                  (const char *const *)(gpointer)merge->paths->pdata);
    merge->join = bb_join_new(options, merge->names, merge_write, merge);
    merge->out = (char *)scratch_path(merge->scratch, "merged.txt");
    merge->writer = bb_trace_writer_open(merge->out, BB_TRACE_TEXT, merge->names, &error);
    ck_assert_ptr_nonnull(merge->writer);
    ck_assert(bb_merger_run(merge->merger, merge_push, merge, &error));
    ck_assert(bb_join_finish(merge->join, &error));
    ck_assert(bb_trace_writer_finish(merge->writer, NULL, &error));
    merge_read_lines(merge);
}

static inline void merge_with(Merge *merge, BbJoinBy by)
{
    merge_run(merge, &(BbJoinOptions){.window_ns = BB_JOIN_WINDOW_NS,
                                      .held_max = BB_JOIN_HELD,
                                      .by = by,
                                      .repair = true});
}

static inline void merge_expect(const Merge *merge, const char *const *lines)
{
    guint i = 0;
    for (; lines[i]; i++) {
        ck_assert_uint_lt(i, merge->lines->len);
        ck_assert_str_eq(merge->lines->pdata[i], lines[i]);
    }
    ck_assert_uint_eq(merge->lines->len, i);
}

#define MERGE_EXPECT(merge, ...) merge_expect(merge, (const char *const[]){__VA_ARGS__, NULL})
