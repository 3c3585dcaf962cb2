// SPDX-License-Identifier: Apache-2.0
// In: words of --rotate-size, --rotate-time, --ring, --flush and --sync. Out: what they mean.
#include "cli/rotation.h"

#include <string.h>

#define NS_PER_S G_GINT64_CONSTANT(1000000000)
#define TIME_MAX_NS (366 * 24 * 3600 * NS_PER_S)
#define FLUSH_MIN_NS (NS_PER_S / 1000)
#define FLUSH_MAX_NS (3600 * NS_PER_S)
#define RING_FILES_MAX 1000000u
#define RING_PARTS 10u // files of a ring in bytes, where no size of a file is given

void bb_rotation_clear(BbRotation *rotation)
{
    g_free(rotation->size_word);
    g_free(rotation->time_word);
    g_free(rotation->ring_word);
    g_free(rotation->flush_word);
    g_free(rotation->sync_word);
}

// Checks below return an exit status, or -1 to go on.
static int check_cuts(BbRotation *r, const char *program)
{
    if (r->size_word &&
        (!bb_parse_size(r->size_word, &r->bytes) || r->bytes < BB_TRACE_FILES_BYTES_MIN))
        return bb_say_usage(program,
                            "--rotate-size '%s' is no size of 4K or more: 100M, for example",
                            r->size_word);
    if (r->time_word && (!bb_parse_duration(r->time_word, &r->ns) ||
                         r->ns < BB_TRACE_FILES_NS_MIN || r->ns > TIME_MAX_NS))
        return bb_say_usage(program,
                            "--rotate-time '%s' is no duration of 1s or more: 10min, for example",
                            r->time_word);
    return -1;
}

static bool is_number(const char *text)
{
    return *text && text[strspn(text, "0123456789")] == '\0';
}

// A bare number counts files, one with a unit bytes.
static int check_ring(BbRotation *r, const char *program)
{
    guint64 value = 0;
    if (!r->ring_word)
        return -1;
    if (!bb_parse_size(r->ring_word, &value))
        return bb_say_usage(program, "--ring '%s' is neither a number of files nor a size like 10G",
                            r->ring_word);
    if (is_number(r->ring_word)) {
        if (value < BB_TRACE_FILES_RING_MIN || value > RING_FILES_MAX)
            return bb_say_usage(program, "--ring takes %u to %u files, or a size like 10G",
                                BB_TRACE_FILES_RING_MIN, RING_FILES_MAX);
        if (!r->bytes && !r->ns)
            return bb_say_usage(program, "when does a file of the ring end? Give --rotate-size or "
                                         "--rotate-time");
        r->ring_files = (guint)value;
        return -1;
    }
    r->ring_bytes = value;
    if (!r->bytes)
        r->bytes = MAX(value / RING_PARTS, BB_TRACE_FILES_BYTES_MIN);
    if (r->bytes > value / BB_TRACE_FILES_RING_MIN)
        return bb_say_usage(program, "--ring '%s' must have room for %u files of --rotate-size",
                            r->ring_word, BB_TRACE_FILES_RING_MIN);
    return -1;
}

static int check_flush(BbRotation *r, const char *program, bool live)
{
    r->flush_ns = live ? NS_PER_S : 0;
    if (r->flush_word && (!bb_parse_duration(r->flush_word, &r->flush_ns) ||
                          r->flush_ns < FLUSH_MIN_NS || r->flush_ns > FLUSH_MAX_NS))
        return bb_say_usage(program, "--flush '%s' is no duration from 1ms to 1h", r->flush_word);
    return -1;
}

static int check_sync(BbRotation *r, const char *program, bool live)
{
    static const char *const words[] = {
        [BB_TRACE_SYNC_NEVER] = "never",
        [BB_TRACE_SYNC_FILE] = "file",
        [BB_TRACE_SYNC_FLUSH] = "flush",
    };
    r->sync = live ? BB_TRACE_SYNC_FILE : BB_TRACE_SYNC_NEVER;
    if (!r->sync_word)
        return -1;
    for (guint i = 0; i < G_N_ELEMENTS(words); i++)
        if (strcmp(words[i], r->sync_word) == 0) {
            r->sync = (BbTraceSync)i;
            return -1;
        }
    return bb_say_usage(program, "--sync is never, file or flush, not '%s'", r->sync_word);
}

int bb_rotation_parse(BbRotation *r, const char *program, const char *out, bool live)
{
    bool standard = bb_is_stdout(out);
    if (standard && (r->size_word || r->time_word || r->ring_word || r->sync_word))
        return bb_say_usage(program, "--rotate-size, --rotate-time, --ring and --sync are for "
                                     "files: give -w FILE");
    int status = check_cuts(r, program);
    if (status < 0)
        status = check_ring(r, program);
    if (status < 0)
        status = check_flush(r, program, live);
    return status < 0 ? check_sync(r, program, live) : status;
}

BbTraceFilesOptions bb_rotation_options(const BbRotation *r, const char *out)
{
    return (BbTraceFilesOptions){
        .path = out ? out : "-",
        .form = out ? BB_TRACE_BBT : BB_TRACE_TEXT,
        .sync = r->sync,
        .file_bytes = r->bytes,
        .file_ns = r->ns,
        .ring_files = r->ring_files,
        .ring_bytes = r->ring_bytes,
    };
}
