// SPDX-License-Identifier: Apache-2.0
// In: a ring of a flight recorder; or `R`, and sub-buffers (u8 sequence, u8 first, u8 run, then
// records: u8 type, u8 size, bytes; type 0 ends one) that are given good heads and checksums, since
// mutations hardly find one. What is read can be written as a trace.
#include "data/crc32c.h"
#include "data/recorder.h"
#include "data/recorder_form.h"
#include "data/trace.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size);

#define SUBS_MAX 8u

static int open_memory(const guint8 *data, gsize size)
{
    int fd = memfd_create("ring", MFD_CLOEXEC);
    g_assert(fd >= 0);
    for (gsize done = 0; done < size;) {
        gssize put = write(fd, data + done, size - done);
        g_assert(put > 0);
        done += (gsize)put;
    }
    return fd;
}

// Takes one sub-buffer off data.
static void add_sub(GByteArray *file, BbBytes *data)
{
    BbRingSub sub = {.sequence = bb_bytes_u8(data), .size = BB_RING_SUB_MIN};
    sub.first = bb_bytes_u8(data);
    sub.run = bb_bytes_u8(data);
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_byte_array_set_size(bytes, BB_RING_SUB_HEAD);
    for (guint8 type = bb_bytes_u8(data); type && bytes->len + 300 < BB_RING_SUB_MIN;
         type = bb_bytes_u8(data)) {
        gsize begin = bytes->len, length = MIN((gsize)bb_bytes_u8(data), data->left);
        const guint8 *content = bb_bytes_take(data, length);
        g_byte_array_set_size(bytes, bytes->len + BB_RING_RECORD_HEAD);
        if (content)
            g_byte_array_append(bytes, content, (guint)length);
        bb_ring_record_end(bytes, begin, type, bb_ring_seed(sub.sequence));
    }
    guint used = bytes->len;
    g_byte_array_set_size(bytes, BB_RING_SUB_MIN);
    memset(bytes->data + used, 0, BB_RING_SUB_MIN - used);
    bb_ring_sub_write(bytes->data, &sub);
    bb_bytes_put_u32(bytes->data, BB_RING_SUB_MAGIC);
    bb_bytes_put_u32(bytes->data + 4, used);
    g_byte_array_append(file, bytes->data, bytes->len);
}

static GByteArray *make_ring(const guint8 *data, gsize size)
{
    BbBytes left = {.at = data, .left = size};
    GByteArray *file = g_byte_array_new();
    g_byte_array_append(file, (const guint8 *)BB_RING_MAGIC, BB_RING_MAGIC_SIZE);
    guint head = file->len;
    g_byte_array_set_size(file, BB_RING_PAGE);
    memset(file->data + head, 0, BB_RING_PAGE - head); // a damaged head: found by their own
    for (guint i = 0; i < SUBS_MAX && left.left > 0; i++)
        add_sub(file, &left);
    return file;
}

static void read_ring(int fd)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(GError) error = NULL;
    g_autoptr(BbRecorderReader) reader = bb_recorder_reader_open(dup(fd), "ring", &error);
    g_assert(!reader == !!error);
    if (!reader)
        return;
    BbMessage message;
    guint64 count = 0;
    for (; bb_recorder_read(reader, names, &message, &error); count++)
        g_assert(message.time_ns >= 0 && message.sender < bb_names_count(names) &&
                 message.kind <= BB_FREE);
    g_assert(!error);
    BbRecorderFindings findings = bb_recorder_reader_findings(reader);
    g_assert(count == 0 || findings.runs > 0);
}

static void read_as_trace(int fd)
{
    g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", fd);
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbTraceReader) reader = bb_trace_reader_open(path, names, NULL);
    g_autoptr(BbTraceWriter) writer = bb_trace_writer_open("/dev/null", BB_TRACE_BBT, names, NULL);
    BbMessage message;
    while (reader && bb_trace_reader_next(reader, &message, NULL))
        g_assert(bb_trace_writer_push(writer, &message, NULL));
    g_assert(bb_trace_writer_finish(writer, NULL, NULL));
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    g_autoptr(GByteArray) made = NULL;
    if (size > 0 && data[0] == 'R') {
        made = make_ring(data + 1, size - 1);
        data = made->data;
        size = made->len;
    }
    int fd = open_memory(data, size);
    read_ring(fd);
    read_as_trace(fd);
    close(fd);
    return 0;
}
