// SPDX-License-Identifier: Apache-2.0
// In: any bytes as a capture file (pcap, pcapng, packed or not). Checks that what comes out is
// within its bounds, and that there is a sentence about what does not.
#include "capture/sources/source.h"

#include <sys/mman.h>
#include <unistd.h>

#define MAX_FRAMES 5000 // what is packed may unpack to very much

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size);

static void look_at(const BbFrame *frame)
{
    g_assert(frame->captured <= BB_SOURCE_SNAPLEN && frame->captured <= frame->length);
    g_assert(frame->time_ns >= 0);
    volatile guint8 last = 0; // so that a sanitizer sees where the bytes end
    for (guint32 i = 0; i < frame->captured; i++)
        last = frame->data[i];
    (void)last;
}

static void read_frames(BbSource *source)
{
    BbSourceStatus status = BB_SOURCE_IDLE;
    for (guint i = 0; i < MAX_FRAMES && status != BB_SOURCE_END; i++) {
        BbFrame frame;
        g_autoptr(GError) error = NULL;
        status = bb_source_next(source, &frame, &error);
        g_assert((status == BB_SOURCE_ERROR) == (error != NULL));
        if (status == BB_SOURCE_FRAME)
            look_at(&frame);
        double progress = bb_source_progress(source);
        g_assert(progress <= 1);
    }
    for (char *warning; (warning = bb_source_take_warning(source)); g_free(warning))
        g_assert(*warning);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    int fd = memfd_create("capture", MFD_CLOEXEC);
    g_assert(fd >= 0 && write(fd, data, size) == (gssize)size);
    g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", fd);
    const char *const files[] = {path, path, NULL};
    BbSourceOptions options = bb_source_options_default();
    options.files = files;
    options.filter = size % 2 ? "ip or ip6" : NULL;
    BbLoss loss = {0};
    g_autoptr(GError) error = NULL;
    g_autoptr(BbSource) source = bb_source_open(&options, &loss, &error);
    g_assert((source == NULL) == (error != NULL));
    if (source)
        read_frames(source);
    close(fd);
    return 0;
}
