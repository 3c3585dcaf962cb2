// SPDX-License-Identifier: Apache-2.0
// In: clocks, counters of the kernel, stamps of packets. Out: how much a capture leaves out, and
// sentences on that.
#include "cli/capture_shed.h"

#include "data/call.h"
#include "data/message.h"
#include "data/quantity.h"

#define LOOK_NS G_GINT64_CONSTANT(5000000)
#define COUNT_NS G_GINT64_CONSTANT(50000000) // how often the kernel is asked: a system call or two
#define STEP_NS G_GINT64_CONSTANT(5000000)   // of the one clock against the other: it was set
#define STEPPED_NS G_GINT64_CONSTANT(300000000) // after which stamps are of the clock as set
// Of another clock, or of one that was set.
#define LAG_MOST_NS (60 * G_GINT64_CONSTANT(1000000000))

// How libpcap has the kernel's ring (TPACKET_V3): in blocks, of which one is closed each so long if
// there is any packet in it; and what comes before a packet in a block, at most.
#define BLOCK_BYTES 262144.0
#define BLOCK_NS 100e6
#define HEAD_BYTES 128.0

#define WARNINGS 3u // periods that are said; further ones are only counted

// While flows are left out.
typedef struct Period {
    gint64 from_ns, to_ns; // of the host's clock; from_ns is BB_TIME_NONE where there is none
    guint most;            // parts left out, at most
    guint64 seed;          // that chose them; where it is several periods, of the last one
    guint count;           // periods that it stands for
} Period;

struct BbCaptureShed {
    BbCaptureShedSetup setup;
    BbShed *policy;
    gint64 looked_ns, counted_ns; // monotonic
    guint64 frames, bytes;        // read by then
    gint64 never_read;            // packets that were counted and will not be
    gint64 waiting;               // in the kernel's rings when they were counted
    double mean, room;            // bytes of a packet; as of BbShedSigns
    gint64 ahead_ns;              // the host's clock of the monotonic one, when it was looked at
    gint64 stepped_ns;            // monotonic: when that changed
    Period now, rest;             // rest: those without a sentence of their own
    guint periods;
    GPtrArray *notes; // of char *: all
    guint taken;      // of these
    bool vain;        // nothing helped, and that was said
    GQueue warnings;
};

// Nobody can know beforehand which flows will stay.
static guint64 draw(gpointer user)
{
    return bb_mix_seed();
}

BbCaptureShed *bb_capture_shed_new(const BbCaptureShedSetup *setup)
{
    BbCaptureShed *shed = g_new0(BbCaptureShed, 1);
    shed->setup = *setup;
    shed->policy = bb_shed_new(setup->can_trim, draw, NULL);
    shed->ahead_ns = (g_get_real_time() - g_get_monotonic_time()) * 1000;
    shed->stepped_ns = -STEPPED_NS;
    shed->now.from_ns = shed->rest.from_ns = BB_TIME_NONE;
    shed->notes = g_ptr_array_new_with_free_func(g_free);
    g_queue_init(&shed->warnings);
    return shed;
}

void bb_capture_shed_free(BbCaptureShed *shed)
{
    if (!shed)
        return;
    bb_shed_free(shed->policy);
    g_ptr_array_unref(shed->notes);
    g_queue_clear_full(&shed->warnings, g_free);
    g_free(shed);
}

bool bb_capture_shed_is_due(const BbCaptureShed *shed)
{
    return g_get_monotonic_time() * 1000 - shed->looked_ns >= LOOK_NS;
}

// ---- periods ------------------------------------------------------------------------------------

static char *make_note(const Period *period)
{
    GString *note = g_string_new("shed: from ");
    bb_quantity_append_time(note, period->from_ns);
    g_string_append(note, " to ");
    bb_quantity_append_time(note, period->to_ns);
    if (period->count > 1)
        g_string_append_printf(note, ", %u times,", period->count);
    g_string_append_printf(note,
                           " up to %u of %u flows were not kept, since packets came faster than "
                           "they could be decoded or written (%sseed %016" G_GINT64_MODIFIER "x)",
                           period->most, BB_SHED_PARTS, period->count > 1 ? "last " : "",
                           period->seed);
    return g_string_free(note, FALSE);
}

static void end_period(BbCaptureShed *shed)
{
    Period *rest = &shed->rest;
    shed->now.to_ns = g_get_real_time() * 1000;
    if (shed->periods <= BB_CAPTURE_SHED_NOTES) {
        g_ptr_array_add(shed->notes, make_note(&shed->now));
    } else {
        if (rest->from_ns == BB_TIME_NONE)
            rest->from_ns = shed->now.from_ns;
        rest->to_ns = shed->now.to_ns;
        rest->most = MAX(rest->most, shed->now.most);
        rest->seed = shed->now.seed;
        rest->count++;
    }
    shed->now.from_ns = BB_TIME_NONE;
}

static void follow_period(BbCaptureShed *shed, const BbShedding *shedding)
{
    guint parts = shedding->parts;
    if (parts && shed->now.from_ns == BB_TIME_NONE) {
        shed->now = (Period){.from_ns = g_get_real_time() * 1000, .count = 1};
        if (++shed->periods <= WARNINGS)
            g_queue_push_tail(
                &shed->warnings,
                g_strdup_printf(
                    "packets come faster than they can be decoded or written: whole flows are "
                    "left out until that is over, and counted; a FILTER, --follow, "
                    "more --threads or a larger -B would help%s",
                    shed->periods == WARNINGS ? "; further times are only counted" : ""));
    }
    shed->now.most = MAX(shed->now.most, parts);
    shed->now.seed = shedding->seed;
    if (parts || shed->now.from_ns == BB_TIME_NONE)
        return;
    end_period(shed);
    if (shed->periods <= WARNINGS)
        g_queue_push_tail(&shed->warnings, g_strdup("all flows are kept again"));
}

static void warn_in_vain(BbCaptureShed *shed)
{
    if (shed->vain || !bb_shed_vain(shed->policy))
        return;
    shed->vain = true;
    g_queue_push_tail(&shed->warnings,
                      g_strdup_printf("leaving flows out does not help, whichever they are: they "
                                      "are kept for %u s at a time, and the kernel drops packets "
                                      "as they come; the disk may be too slow, or the processor "
                                      "busy with something else",
                                      (guint)(BB_SHED_CALM_MOST_NS / 1000000000)));
}

// ---- looking ------------------------------------------------------------------------------------

// A clock that was set forward makes packets look old.
static gint64 lag_of(BbCaptureShed *shed, gint64 now_ns, gint64 time_ns)
{
    gint64 real_ns = g_get_real_time() * 1000;
    gint64 ahead_ns = real_ns - now_ns;
    if (ABS(ahead_ns - shed->ahead_ns) > STEP_NS)
        shed->stepped_ns = now_ns;
    shed->ahead_ns = ahead_ns;
    if (!shed->setup.host_clock || time_ns == BB_TIME_NONE ||
        now_ns - shed->stepped_ns < STEPPED_NS)
        return BB_SHED_LAG_UNKNOWN;
    gint64 lag_ns = bb_time_between(time_ns, real_ns);
    return lag_ns >= 0 && lag_ns <= LAG_MOST_NS ? lag_ns : BB_SHED_LAG_UNKNOWN;
}

// Where nothing waits the difference is what the kernel counts twice (loopback), and what was lost
// with an interface.
static void count_waiting(BbCaptureShed *shed, bool idle)
{
    const guint64 *count = shed->setup.loss->count;
    guint64 frames = count[BB_SEEN_FRAMES] - shed->frames,
            bytes = count[BB_SEEN_BYTES] - shed->bytes;
    bb_source_update_loss(shed->setup.source);
    gint64 unread =
        (gint64)(count[BB_KERNEL_RECEIVED] - count[BB_KERNEL_DROPPED] - count[BB_SEEN_FRAMES]);
    if (idle)
        shed->never_read = unread;
    shed->waiting = unread - shed->never_read;
    if (frames)
        shed->mean = (double)bytes / (double)frames;
    shed->frames = count[BB_SEEN_FRAMES];
    shed->bytes = count[BB_SEEN_BYTES];
}

// As if all that waits were of one interface, and as large as what was read last. Blocks can be
// closed before they are full, and where the stamps do not tell how many were, nobody knows what
// is free.
static double room_of(BbCaptureShed *shed, gint64 time_ns, gint64 lag_ns)
{
    if (!shed->setup.host_clock)
        return 0;
    if (time_ns == BB_TIME_NONE) // nothing waits
        return shed->room = 1;
    if (lag_ns == BB_SHED_LAG_UNKNOWN) // the clock was set
        return shed->room;
    double packets = (double)MAX(shed->waiting, 0) * (shed->mean + HEAD_BYTES);
    double blocks = (double)lag_ns / BLOCK_NS * BLOCK_BYTES;
    return shed->room = 1 - MIN(MAX(packets, blocks) / shed->setup.ring_bytes, 1);
}

static void count_time(BbCaptureShed *shed)
{
    guint64 *count = shed->setup.loss->count;
    gint64 flows_ns = 0;
    for (guint level = BB_SHED_TRIMS + 1; level <= BB_SHED_MOST; level++)
        flows_ns += bb_shed_spent(shed->policy, level);
    gint64 trimming_ns = flows_ns + bb_shed_spent(shed->policy, BB_SHED_TRIMS);
    count[BB_SHED_RAISES] = bb_shed_raises(shed->policy);
    count[BB_SHED_TURNS] = bb_shed_turns(shed->policy);
    count[BB_SHED_VAIN] = bb_shed_vain(shed->policy);
    count[BB_SHED_FLOWS_MS] = (guint64)(flows_ns / 1000000);
    count[BB_SHED_TRIMMING_MS] = shed->setup.can_trim ? (guint64)(trimming_ns / 1000000) : 0;
}

BbShedding bb_capture_shed_look(BbCaptureShed *shed, gint64 time_ns, gint64 waited_ns)
{
    gint64 now_ns = g_get_monotonic_time() * 1000;
    shed->looked_ns = now_ns;
    if (now_ns - shed->counted_ns >= COUNT_NS) {
        count_waiting(shed, time_ns == BB_TIME_NONE);
        shed->counted_ns = now_ns;
    }
    const guint64 *count = shed->setup.loss->count;
    gint64 lag_ns = lag_of(shed, g_get_monotonic_time() * 1000, time_ns);
    const BbShedSigns signs = {.received = count[BB_KERNEL_RECEIVED],
                               .dropped = count[BB_KERNEL_DROPPED],
                               .read = count[BB_SEEN_FRAMES],
                               .waited_ns = waited_ns,
                               .lag_ns = lag_ns,
                               .room = room_of(shed, time_ns, lag_ns)};
    bb_shed_look(shed->policy, now_ns, &signs);
    const BbShedding shedding = bb_shed_now(shed->policy);
    count_time(shed);
    follow_period(shed, &shedding);
    warn_in_vain(shed);
    return shedding;
}

void bb_capture_shed_finish(BbCaptureShed *shed)
{
    if (shed->now.from_ns != BB_TIME_NONE)
        end_period(shed);
    if (shed->rest.from_ns != BB_TIME_NONE)
        g_ptr_array_add(shed->notes, make_note(&shed->rest));
    shed->rest.from_ns = BB_TIME_NONE;
}

char *bb_capture_shed_take_note(BbCaptureShed *shed)
{
    return shed->taken < shed->notes->len ? g_strdup(shed->notes->pdata[shed->taken++]) : NULL;
}

void bb_capture_shed_notes(const BbCaptureShed *shed, GPtrArray *notes)
{
    for (guint i = 0; i < shed->notes->len; i++)
        g_ptr_array_add(notes, g_strdup(shed->notes->pdata[i]));
    const Period *const periods[] = {&shed->rest, &shed->now};
    for (guint i = 0; i < G_N_ELEMENTS(periods); i++) {
        Period period = *periods[i];
        if (period.from_ns == BB_TIME_NONE)
            continue;
        if (periods[i] == &shed->now)
            period.to_ns = g_get_real_time() * 1000;
        g_ptr_array_add(notes, make_note(&period));
    }
}

char *bb_capture_shed_take_warning(BbCaptureShed *shed)
{
    return g_queue_pop_head(&shed->warnings);
}
