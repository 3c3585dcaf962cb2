// SPDX-License-Identifier: Apache-2.0
// Views written into memory, and streams that fail.
#pragma once

#include "viz/view.h"

#include <check.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What the format writes; free() it. Not inlined: gcc takes what open_memstream leaves in text for
// the address of text itself.
static G_NO_INLINE G_GNUC_UNUSED char *view_text_len(const char *format, const BbPatterns *patterns,
                                                     const BbNames *names, BbViewOptions options,
                                                     size_t *length)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, length);
    g_autoptr(GError) error = NULL;
    bool done = bb_view_write(bb_view_format_find(format), patterns, names, &options, out, &error);
    ck_assert_msg(done, "%s: %s", format, error ? error->message : "no error set");
    ck_assert_ptr_null(error);
    fclose(out);
    return text;
}

static inline char *view_text(const char *format, const BbPatterns *patterns, const BbNames *names,
                              BbViewOptions options)
{
    size_t length = 0;
    return view_text_len(format, patterns, names, options, &length);
}

// A FILE that takes nothing: /dev/full, as when a disk is full.
static inline void view_expect_full(const char *format, const BbPatterns *patterns,
                                    const BbNames *names)
{
    FILE *out = fopen("/dev/full", "w");
    ck_assert_ptr_nonnull(out);
    BbViewOptions options = BB_VIEW_OPTIONS_DEFAULT;
    g_autoptr(GError) error = NULL;
    ck_assert(!bb_view_write(bb_view_format_find(format), patterns, names, &options, out, &error));
    ck_assert(g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOSPC));
    ck_assert_ptr_nonnull(strstr(error->message, format));
    fclose(out);
}

// How often part stands in text.
static inline guint count_of(const char *text, const char *part)
{
    guint count = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
        count++;
    return count;
}
