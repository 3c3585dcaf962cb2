// SPDX-License-Identifier: Apache-2.0
// In: lines that are no records, and why. Out: an error, or a warning at the end.
#include "merge/bad_lines.h"

#include "data/trace.h"

bool bb_bad_lines_add(BbBadLines *lines, const BbImport *import, const char *file, guint64 number,
                      const char *reason, GError **error)
{
    lines->bad++;
    if (import->skip_bad)
        return true;
    g_set_error(error, BB_TRACE_ERROR, BB_TRACE_ERROR_LINE,
                "%s:%" G_GUINT64_FORMAT ": %s: correct the line, or use --skip-bad-lines to count "
                "and skip such lines",
                file, number, reason);
    return false;
}

bool bb_bad_lines_end(const BbBadLines *lines, const BbImport *import, const char *file,
                      const char *damage, GError **error)
{
    if (damage)
        import->warn(damage);
    if (lines->bad == 0)
        return true;
    if (lines->good == 0) {
        g_set_error(error, BB_TRACE_ERROR, BB_TRACE_ERROR_FORM,
                    "%s: none of its %" G_GUINT64_FORMAT " lines is a message: is --from right?",
                    file, lines->bad);
        return false;
    }
    g_autofree char *text = g_strdup_printf("%s: %" G_GUINT64_FORMAT " malformed line%s skipped",
                                            file, lines->bad, lines->bad == 1 ? " was" : "s were");
    import->warn(text);
    return true;
}
