// SPDX-License-Identifier: Apache-2.0
// In: a trace of either form; or `B`, and contents of blocks (u8 type, u16 size, bytes) that are
// given good heads, since mutations hardly find a checksum. What is read is written as text and
// read again.
#include "data/crc32c.h"
#include "data/trace.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size);

static int open_memory(void)
{
    int fd = memfd_create("trace", MFD_CLOEXEC);
    g_assert(fd >= 0);
    return fd;
}

static void put_all(int fd, const guint8 *data, gsize size)
{
    while (size > 0) {
        gssize done = write(fd, data, size);
        g_assert(done > 0);
        data += done;
        size -= (gsize)done;
    }
}

static void append_u32(GByteArray *out, guint32 value)
{
    value = GUINT32_TO_LE(value);
    g_byte_array_append(out, (const guint8 *)&value, sizeof value);
}

static GByteArray *make_blocks(const guint8 *data, gsize size)
{
    static const char types[][5] = {"NAME", "MESG", "LOSS", "DONE", "XTRA"};
    GByteArray *file = g_byte_array_new();
    g_byte_array_append(file,
                        (const guint8 *)"\x89"
                                        "BBT\r\n\x1a\n\1\0\x10\0",
                        12);
    append_u32(file, bb_crc32c(0, file->data, 12));
    while (size >= 3) {
        gsize content = MIN((gsize)(data[1] | data[2] << 8), size - 3);
        guint begin = file->len;
        g_byte_array_append(file, (const guint8 *)types[data[0] % G_N_ELEMENTS(types)], 4);
        append_u32(file, 0);
        append_u32(file, (guint32)content);
        append_u32(file, bb_crc32c(0, data + 3, content));
        append_u32(file, bb_crc32c(0, file->data + begin, 16));
        g_byte_array_append(file, data + 3, (guint)content);
        data += 3 + content;
        size -= 3 + content;
    }
    return file;
}

// Reads the trace in fd, and writes it to writer if there is one. Returns how many messages it has.
static guint64 read_trace(int fd, BbNames *names, bool skip, BbTraceWriter *writer)
{
    g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", fd);
    g_autoptr(GError) error = NULL;
    g_autoptr(BbTraceReader) reader = bb_trace_reader_open(path, names, &error);
    g_assert(!reader == !!error);
    if (!reader)
        return 0;
    bb_trace_reader_skip_bad_lines(reader, skip);
    BbMessage message;
    while (bb_trace_reader_next(reader, &message, &error)) {
        g_assert(message.time_ns >= 0);
        if (writer)
            g_assert(bb_trace_writer_push(writer, &message, NULL));
    }
    g_assert(!error || (!skip && bb_trace_reader_form(reader) == BB_TRACE_TEXT));
    if (writer)
        g_assert(bb_trace_writer_finish(writer, bb_trace_reader_counters(reader), NULL));
    return bb_trace_reader_messages(reader);
}

static void read_twice(int fd, BbTraceForm form)
{
    g_autoptr(BbNames) names = bb_names_new();
    int copy = open_memory();
    g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", copy);
    g_autoptr(BbTraceWriter) writer = bb_trace_writer_open(path, form, names, NULL);
    guint64 messages = read_trace(fd, names, true, writer);
    guint64 again = read_trace(copy, names, false, NULL);
    g_assert(messages == 0 || again == messages);
    close(copy);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    int fd = open_memory();
    if (size > 0 && data[0] == 'B') {
        g_autoptr(GByteArray) file = make_blocks(data + 1, size - 1);
        put_all(fd, file->data, file->len);
    } else {
        put_all(fd, data, size);
    }
    g_autoptr(BbNames) names = bb_names_new();
    (void)read_trace(fd, names, false, NULL);
    read_twice(fd, BB_TRACE_TEXT);
    read_twice(fd, BB_TRACE_BBT);
    close(fd);
    return 0;
}
