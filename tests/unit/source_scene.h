// SPDX-License-Identifier: Apache-2.0
// Capture files as tests write them, and what a source gave of them.
#pragma once

#include "capture/sources/source.h"
#include "tests/unit/pcapfile.h"
#include "tests/unit/scratch.h"

#define START_NS G_GINT64_CONSTANT(1700000000123456789)
#define LINK_ETHERNET 1
#define LINK_RAW 101
#define DLT_RAW_HERE 12  // what libpcap makes of LINK_RAW on Linux
#define LINK_UNKNOWN 147 // LINKTYPE_USER0

// An Ethernet frame with an IPv4 UDP packet to port in it.
#define FRAME_BYTES 60
static inline void udp_frame(guint8 frame[FRAME_BYTES], guint16 port)
{
    static const guint8 head[] = {2, 0, 0,    0, 0, 2,  2,  0, 0, 0, 0,    1,
                                  8, 0, 0x45, 0, 0, 46, 0,  0, 0, 0, 64,   17,
                                  0, 0, 10,   0, 0, 1,  10, 0, 0, 2, 0x9c, 0x40};
    memset(frame, 0, FRAME_BYTES);
    memcpy(frame, head, sizeof head);
    frame[36] = (guint8)(port >> 8);
    frame[37] = (guint8)port;
    frame[39] = 26; // UDP length
}

// count packets, a microsecond and a nanosecond apart, to ports first, first + 1, ...
static inline PcapFile *capture_of(PcapFileForm form, guint count, guint16 first)
{
    PcapFile *file = pcapfile_new_form(form, LINK_ETHERNET);
    for (guint i = 0; i < count; i++) {
        guint8 frame[FRAME_BYTES];
        udp_frame(frame, (guint16)(first + i));
        pcapfile_add(file, START_NS + i * G_GINT64_CONSTANT(1001), frame, FRAME_BYTES, 1500);
    }
    return file;
}

// What a source gave: ports of its frames, errors and warnings, one a line.
typedef struct {
    GString *ports, *errors, *warnings;
    guint frames, idle;
    BbLoss loss;
} Gathered;

static inline Gathered *gather(const char *filter, const char *const *files)
{
    Gathered *all = g_new0(Gathered, 1);
    all->ports = g_string_new(NULL);
    all->errors = g_string_new(NULL);
    all->warnings = g_string_new(NULL);
    BbSourceOptions options = bb_source_options_default();
    options.files = files;
    options.filter = filter;
    g_autoptr(GError) error = NULL;
    g_autoptr(BbSource) source = bb_source_open(&options, &all->loss, &error);
    if (!source) {
        g_string_printf(all->errors, "open: %s\n", error->message);
        return all;
    }
    BbFrame frame;
    BbSourceStatus status;
    while ((status = bb_source_next(source, &frame, &error)) != BB_SOURCE_END) {
        for (char *text; (text = bb_source_take_warning(source)); g_free(text))
            g_string_append_printf(all->warnings, "%s\n", text);
        if (status == BB_SOURCE_ERROR) {
            g_string_append_printf(all->errors, "%s\n", error->message);
            g_clear_error(&error);
        } else if (status == BB_SOURCE_IDLE) {
            all->idle++;
        } else if (all->frames++ < 100) {
            g_string_append_printf(all->ports, "%d ", frame.data[36] << 8 | frame.data[37]);
        }
    }
    for (char *text; (text = bb_source_take_warning(source)); g_free(text))
        g_string_append_printf(all->warnings, "%s\n", text);
    ck_assert_int_eq(bb_source_next(source, &frame, &error), BB_SOURCE_END);
    return all;
}

static inline void gathered_free(Gathered *all)
{
    g_string_free(all->ports, TRUE);
    g_string_free(all->errors, TRUE);
    g_string_free(all->warnings, TRUE);
    g_free(all);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Gathered, gathered_free)

static inline Gathered *gather_one(const char *path)
{
    return gather(NULL, (const char *const[]){path, NULL});
}

#define ASSERT_HOLDS(text, part) \
    ck_assert_msg(strstr((text)->str, (part)) != NULL, "%s", (text)->str)

static inline const char *save(Scratch *scratch, const char *name, const PcapFile *file)
{
    const char *path = scratch_path(scratch, name);
    pcapfile_save(file, path);
    return path;
}

static inline BbSource *open_source(const char *const *files, BbLoss *loss)
{
    BbSourceOptions options = bb_source_options_default();
    options.files = files;
    g_autoptr(GError) error = NULL;
    BbSource *source = bb_source_open(&options, loss, &error);
    ck_assert_msg(source != NULL, "%s", error ? error->message : "no reason");
    return source;
}
