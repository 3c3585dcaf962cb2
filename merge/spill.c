// SPDX-License-Identifier: Apache-2.0
// In: messages with the numbers of their inputs. Out: the same, later.
#include "merge/spill.h"

#include "merge/stream.h"

#include <errno.h>
#include <glib/gstdio.h>

struct BbSpill {
    BbNames *names;
    char *path; // NULL once the file has no name any more
    BbTraceWriter *writer;
    BbStream *stream;
    FILE *inputs; // a guint for each message
};

static void set_error(const char *what, GError **error)
{
    int reason = errno;
    g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(reason),
                "%s: cannot %s a temporary file: %s: free space there, or set TMPDIR to a folder "
                "that has some",
                g_get_tmp_dir(), what, g_strerror(reason));
}

BbSpill *bb_spill_new(BbNames *names, GError **error)
{
    g_autoptr(BbSpill) spill = g_new0(BbSpill, 1);
    spill->names = names;
    int fd = g_file_open_tmp("bbtrace-XXXXXX", &spill->path, error);
    if (fd < 0)
        return NULL;
    g_close(fd, NULL);
    spill->writer = bb_trace_writer_open_with(
        spill->path, &(BbTraceWriterOptions){.form = BB_TRACE_BBT}, names, error);
    if (!spill->writer)
        return NULL;
    char *second = NULL;
    fd = g_file_open_tmp("bbtrace-XXXXXX", &second, error);
    if (fd < 0)
        return NULL;
    (void)g_unlink(second);
    g_free(second);
    spill->inputs = fdopen(fd, "w+b");
    if (!spill->inputs) {
        set_error("open", error);
        g_close(fd, NULL);
        return NULL;
    }
    return g_steal_pointer(&spill);
}

static void remove_name(BbSpill *spill)
{
    if (spill->path)
        (void)g_unlink(spill->path);
    g_clear_pointer(&spill->path, g_free);
}

void bb_spill_free(BbSpill *spill)
{
    if (!spill)
        return;
    remove_name(spill);
    bb_trace_writer_free(spill->writer);
    bb_stream_free(spill->stream);
    if (spill->inputs)
        (void)fclose(spill->inputs);
    g_free(spill);
}

bool bb_spill_push(BbSpill *spill, const BbMessage *message, guint input, GError **error)
{
    if (fwrite(&input, sizeof input, 1, spill->inputs) != 1) {
        set_error("write", error);
        return false;
    }
    return bb_trace_writer_push(spill->writer, message, error);
}

bool bb_spill_turn(BbSpill *spill, GError **error)
{
    if (!bb_trace_writer_finish(spill->writer, NULL, error))
        return false;
    if (fflush(spill->inputs) != 0) {
        set_error("write", error);
        return false;
    }
    rewind(spill->inputs);
    g_clear_pointer(&spill->writer, bb_trace_writer_free);
    spill->stream = bb_stream_open(spill->path, spill->names, 0, false, error);
    remove_name(spill);
    return spill->stream;
}

const BbMessage *bb_spill_next(BbSpill *spill, guint *input, GError **error)
{
    const BbMessage *message = bb_stream_next(spill->stream, error);
    if (!message)
        return NULL;
    if (fread(input, sizeof *input, 1, spill->inputs) == 1)
        return message;
    set_error("read", error);
    return NULL;
}
