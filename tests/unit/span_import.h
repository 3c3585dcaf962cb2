// SPDX-License-Identifier: Apache-2.0
// Imports spans from text, and writes what came of them, a message a line:
//   kind time[>time at the receiver] sender receiver id path parent op status proto
// Times are microseconds, with R where seen at the receiver only; what is not known is "?".
#pragma once

#include "merge/importer.h"
#include "tests/unit/scratch.h"

#include <string.h>

typedef struct SpanImport {
    BbNames *names;
    BbCounters *counters;
    BbImport import;
    GString *text, *warnings;
    guint left; // messages until the sink fails
} SpanImport;

static inline void span_import_word(SpanImport *taken, guint32 name)
{
    g_string_append_printf(taken->text, " %s", name ? bb_names_text(taken->names, name) : "?");
}

static inline void span_import_id(SpanImport *taken, BbId id)
{
    g_string_append_c(taken->text, ' ');
    if (bb_id_is_known(id))
        bb_id_append(taken->text, taken->names, id);
    else
        g_string_append_c(taken->text, '?');
}

static inline bool span_import_take(const BbMessage *message, gpointer user, GError **error)
{
    SpanImport *taken = user;
    if (taken->left-- == 0) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NOSPC, "full");
        return false;
    }
    g_string_append_printf(taken->text, "%s %" G_GINT64_FORMAT,
                           message->kind == BB_CALL     ? "CALL"
                           : message->kind == BB_RETURN ? "RET"
                                                        : "MSG",
                           message->time_ns / 1000);
    if (message->at_receiver)
        g_string_append_c(taken->text, 'R');
    if (message->recv_ns != BB_TIME_NONE)
        g_string_append_printf(taken->text, ">%" G_GINT64_FORMAT, message->recv_ns / 1000);
    span_import_word(taken, message->sender);
    span_import_word(taken, message->receiver);
    span_import_id(taken, message->id);
    span_import_id(taken, message->path);
    span_import_id(taken, message->parent);
    span_import_word(taken, message->op);
    span_import_word(taken, message->status);
    span_import_word(taken, message->proto);
    g_string_append_c(taken->text, '\n');
    return true;
}

// Tests run one at a time, and importers give warnings no user pointer.
static GString *span_import_warnings;

static inline void span_import_warn(const char *sentence)
{
    g_string_append_printf(span_import_warnings, "%s\n", sentence);
}

static inline SpanImport *span_import_new(void)
{
    SpanImport *taken = g_new0(SpanImport, 1);
    taken->names = bb_names_new();
    taken->counters = bb_counters_new();
    taken->text = g_string_new(NULL);
    span_import_warnings = taken->warnings = g_string_new(NULL);
    taken->left = G_MAXUINT;
    taken->import = (BbImport){.names = taken->names,
                               .counters = taken->counters,
                               .sink = span_import_take,
                               .user = taken,
                               .warn = span_import_warn};
    return taken;
}

static inline void span_import_free(SpanImport *taken)
{
    bb_names_free(taken->names);
    bb_counters_free(taken->counters);
    g_string_free(taken->text, TRUE);
    g_string_free(taken->warnings, TRUE);
    g_free(taken);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SpanImport, span_import_free)

// Reads texts (end with NULL), each as a file, and finishes. Returns the error's text, NULL
// without; lent until the next call.
static inline const char *span_import_all(SpanImport *taken, const char *form,
                                          const char *const *texts)
{
    static char sentence[512];
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(GError) error = NULL;
    const BbImporter *importer = bb_importer_find(form);
    ck_assert_ptr_nonnull(importer);
    gpointer reading = importer->begin(&taken->import);
    const char *path = NULL;
    bool good = true;
    for (guint i = 0; good && texts[i]; i++) {
        g_autofree char *name = g_strdup_printf("input%u", i);
        path = scratch_file(scratch, name, texts[i], strlen(texts[i]));
        good = importer->read(reading, path, &error);
    }
    good = good && importer->finish(reading, &error);
    ck_assert_int_eq(good, error == NULL);
    importer->end(reading);
    if (error)
        g_strlcpy(sentence,
                  error->message + (g_str_has_prefix(error->message, path) ? strlen(path) : 0),
                  sizeof sentence);
    return error ? sentence : NULL;
}

static inline const char *span_import_run(SpanImport *taken, const char *form, const char *text)
{
    const char *const texts[] = {text, NULL};
    return span_import_all(taken, form, texts);
}

static inline guint64 span_import_counter(const SpanImport *taken, const char *name)
{
    return bb_counters_get(taken->counters, name);
}

static inline void assert_spans(const char *form, const char *json, const char *wanted)
{
    g_autoptr(SpanImport) taken = span_import_new();
    ck_assert_ptr_null(span_import_run(taken, form, json));
    ck_assert_str_eq(taken->text->str, wanted);
    ck_assert_str_eq(taken->warnings->str, "");
}
