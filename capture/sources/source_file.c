// SPDX-License-Identifier: Apache-2.0
// In: names of capture files and pipes. Out: their frames, one file after the other as one capture,
// and a sentence about each file that is none or breaks off.
#include "capture/sources/file_order.h"
#include "capture/sources/heads.h"
#include "capture/sources/savefile.h"
#include "capture/sources/source_kind.h"
#include "capture/sources/stamp_order.h"

#include "data/quantity.h"

#include <string.h>
#include <sys/stat.h>

// After so many frames that the filter refused the caller gets a chance to look around (signals).
#define REFUSED_IN_A_ROW 65536
// How often it gets one while nothing comes by a pipe, and how often until what waits is given.
#define SILENT_MS 100
#define SILENT_TURNS 5
// Network cards with several queues give packets in less disorder.
#define DISORDER_NS G_GINT64_CONSTANT(10000000)

typedef struct {
    const char **files;  // in the order of reading; the names are lent
    const char **next;   // to open
    const char *filter;  // lent, or NULL
    BbLoss *loss;        // lent
    GQueue *warnings;    // lent
    GError *pending;     // why the first file could not be opened, to be told by next()
    BbSavefile *file;    // the one that is open, or NULL
    char **names;        // of those that were opened or could not be
    guint opened;        // how many these are
    guint current;       // which of them the last frame is of
    BbStampOrder *order; // frames that wait; NULL before the first file of several interfaces
    guint64 bytes_total; // of all files; 0 where one of them is a pipe
    guint64 bytes_done;  // of the files that are closed
    gint64 newest_ns;    // time of the last frame
    guint32 interface;   // of the last frame, where there are several
    guint silent;        // times that nothing came by a pipe of several interfaces
    guint steps;         // back in time
    guint64 refused;     // frames, by the filter
    bool passed;         // one did it pass
    bool told_disorder, told_clocks;
} FileSource;

static bool has_waiting(const FileSource *source)
{
    return source->order && !bb_stamp_order_is_empty(source->order);
}

// Opens the next file. Afterwards that file is behind us, whether it could be opened or not.
static bool open_next(FileSource *source, GError **error)
{
    const char *path = *source->next++;
    source->file = bb_savefile_open(path, source->filter, source->loss, source->warnings, error);
    source->names[source->opened] = g_strdup(source->file ? bb_savefile_name(source->file) : path);
    if (!has_waiting(source))
        source->current = source->opened;
    source->opened++;
    return source->file != NULL;
}

static void end_file(FileSource *source)
{
    char *damage = bb_savefile_damage(source->file);
    if (damage) {
        source->loss->count[BB_SOURCE_CUT]++;
        g_queue_push_tail(source->warnings, damage);
    }
    source->bytes_done += bb_savefile_size(source->file);
    g_clear_pointer(&source->file, bb_savefile_free);
}

// Bytes of all the files, 0 where that cannot be known.
static guint64 total_size(const char **files)
{
    guint64 total = 0;
    for (; *files; files++) {
        struct stat about = {0};
        if (strcmp(*files, "-") == 0 || stat(*files, &about) < 0 || !S_ISREG(about.st_mode))
            return 0;
        total += (guint64)about.st_size;
    }
    return total;
}

// The times of a capture go on, but for some disorder; these do not.
static void take_step(FileSource *source, gint64 time_ns)
{
    source->loss->count[BB_CLOCK_SET_BACK]++;
    if (source->steps++ < BB_SOURCE_STEPS_SAID)
        g_queue_push_tail(
            source->warnings,
            g_strdup_printf(
                "%s: time stamps step back by %.3f s: the clock was set, or captures "
                "overlap: make a trace of each with bbtrace capture, then one of these with "
                "bbtrace merge%s",
                source->names[source->current], ((double)source->newest_ns - (double)time_ns) / 1e9,
                source->steps == BB_SOURCE_STEPS_SAID ? "; further steps are only counted" : ""));
}

// Once: what is behind is not counted, since it may come to nothing.
static void tell_disorder(FileSource *source, guint64 back_ns)
{
    if (source->told_disorder)
        return;
    source->told_disorder = true;
    g_queue_push_tail(source->warnings,
                      g_strdup_printf("%s: packets are not in the order of their time stamps (one "
                                      "is %.3f s before the one ahead of it), and calls may be "
                                      "missed: run reordercap on the file first",
                                      source->names[source->current], (double)back_ns / 1e9));
}

static void look_at_time(FileSource *source, gint64 time_ns)
{
    if (G_UNLIKELY(time_ns < source->newest_ns)) {
        guint64 back_ns = (guint64)source->newest_ns - (guint64)time_ns;
        if (back_ns > BB_HEADS_STEP_NS)
            take_step(source, time_ns);
        else if (back_ns > DISORDER_NS)
            tell_disorder(source, back_ns);
    }
    source->newest_ns = time_ns;
}

// ---- several interfaces -------------------------------------------------------------------------

// Once: a clock that drifts is told of no second time.
static void tell_clocks(FileSource *source)
{
    if (source->told_clocks)
        return;
    source->told_clocks = true;
    g_queue_push_tail(
        source->warnings,
        g_strdup_printf("%s: clocks of its interfaces disagree, by about %.3f s: packets are taken "
                        "in the order of the file, and times from one interface to another are "
                        "wrong by that: stamp all interfaces by one clock (those of one host by "
                        "the host, cards after phc2sys)",
                        source->names[source->current],
                        (double)bb_stamp_order_apart(source->order) / 1e9));
}

// Stamps of clocks that disagree compare within their interface only.
static void look_at_held(FileSource *source, const BbHeldFrame *held)
{
    bool compares = !held->as_it_stands || held->frame.interface == source->interface;
    source->interface = held->frame.interface;
    if (held->as_it_stands)
        tell_clocks(source);
    if (compares)
        look_at_time(source, held->frame.time_ns);
    else
        source->newest_ns = held->frame.time_ns;
}

// Whether the frame can be given now: it need not wait for others, and none waits. A file of one
// interface behind one of several comes after what that has.
static bool give_at_once(FileSource *source, const BbFrame *frame)
{
    bool is_mixed = bb_savefile_is_mixed(source->file);
    if (G_LIKELY(!is_mixed && !has_waiting(source))) {
        source->current = source->opened - 1;
        look_at_time(source, frame->time_ns);
        return true;
    }
    if (!source->order)
        source->order = bb_stamp_order_new();
    if (!is_mixed)
        bb_stamp_order_flush(source->order);
    bb_stamp_order_push(source->order, frame, source->opened - 1);
    if (!is_mixed)
        bb_stamp_order_flush(source->order);
    return false;
}

static bool give_waiting(FileSource *source, BbFrame *frame)
{
    const BbHeldFrame *held = bb_stamp_order_take(source->order);
    if (!held)
        return false;
    *frame = held->frame;
    source->current = held->file;
    source->loss->count[BB_FRAMES_CROSSED] += held->crossed;
    look_at_held(source, held);
    return true;
}

// Nobody knows when more comes by a pipe. Returns whether nothing came.
static bool is_silent(FileSource *source)
{
    if (!bb_savefile_is_silent(source->file, SILENT_MS)) {
        source->silent = 0;
        return false;
    }
    if (++source->silent == SILENT_TURNS)
        bb_stamp_order_flush(source->order);
    return true;
}

// ---- the kind -----------------------------------------------------------------------------------

static bool file_is_meant(const BbSourceOptions *options)
{
    return options->files && options->files[0];
}

static void file_close(gpointer state)
{
    FileSource *source = state;
    bb_savefile_free(source->file);
    g_clear_error(&source->pending);
    bb_stamp_order_free(source->order);
    g_strfreev(source->names);
    g_free(source->files);
    g_free(source);
}

static gpointer file_open(const BbSourceOptions *options, BbLoss *loss, GQueue *warnings,
                          GError **error)
{
    FileSource *source = g_new0(FileSource, 1);
    source->files = source->next = bb_file_order(options->files, warnings);
    source->names = g_new0(char *, g_strv_length((char **)source->files) + 1);
    source->filter = options->filter;
    source->loss = loss;
    source->warnings = warnings;
    source->bytes_total = total_size(source->files);
    if (open_next(source, &source->pending))
        return source;
    bool is_usage = g_error_matches(source->pending, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE);
    if (!is_usage && *source->next)
        return source; // told by the first next(): the other files may be good
    g_propagate_error(error, g_steal_pointer(&source->pending));
    file_close(source);
    return NULL;
}

// Nothing passed: that is rarely meant.
static BbSourceStatus end_all(FileSource *source)
{
    g_autoptr(GString) packets = g_string_new(NULL);
    bb_quantity_append_counted(packets, source->refused, "packet");
    if (!source->passed && source->refused)
        g_queue_push_tail(source->warnings,
                          g_strdup_printf("the filter \"%s\" lets none of what was read through "
                                          "(%s): see pcap-filter(7)",
                                          source->filter, packets->str));
    source->refused = 0;
    return BB_SOURCE_END;
}

static BbSourceStatus file_next(gpointer state, BbFrame *frame, GError **error)
{
    FileSource *source = state;
    guint refused = 0;
    if (G_UNLIKELY(source->pending)) {
        g_propagate_error(error, g_steal_pointer(&source->pending));
        return BB_SOURCE_ERROR;
    }
    while (true) {
        if (G_UNLIKELY(source->order) && give_waiting(source, frame))
            return BB_SOURCE_FRAME;
        if (G_UNLIKELY(!source->file)) {
            if (!*source->next && !has_waiting(source))
                return end_all(source);
            if (!*source->next)
                bb_stamp_order_flush(source->order);
            else if (!open_next(source, error))
                return BB_SOURCE_ERROR;
            continue;
        }
        if (G_UNLIKELY(source->order) && is_silent(source))
            return BB_SOURCE_IDLE;
        BbSavefileStatus status = bb_savefile_next(source->file, frame);
        source->refused += status == BB_SAVEFILE_REFUSED;
        if (G_LIKELY(status == BB_SAVEFILE_FRAME)) {
            source->passed = true;
            if (G_LIKELY(give_at_once(source, frame)))
                return BB_SOURCE_FRAME;
        } else if (status == BB_SAVEFILE_END) {
            end_file(source);
        } else if (++refused == REFUSED_IN_A_ROW) {
            return BB_SOURCE_IDLE;
        }
    }
}

static void file_stop(gpointer state)
{
    FileSource *source = state;
    g_clear_pointer(&source->file, bb_savefile_free);
    g_clear_error(&source->pending);
    while (*source->next)
        source->next++;
}

static const char *file_current(gpointer state)
{
    const FileSource *source = state;
    return source->names[source->current];
}

static double file_progress(gpointer state)
{
    const FileSource *source = state;
    if (source->bytes_total == 0)
        return -1;
    guint64 done = source->bytes_done + (source->file ? bb_savefile_position(source->file) : 0);
    return MIN((double)done / (double)source->bytes_total, 1.0);
}

const BbSourceKind bb_source_file = {
    .is_meant = file_is_meant,
    .open = file_open,
    .next = file_next,
    .stop = file_stop,
    .current = file_current,
    .progress = file_progress,
    .close = file_close,
};
