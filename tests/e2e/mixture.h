// SPDX-License-Identifier: Apache-2.0
// Frames of several captures among each other, as no network has them: some are lost, come twice,
// are swapped or cut, some stamps are wrong, captures begin again (the same ports, the same
// numbers). What mixture_next gives depends on the captures and the seed alone.
#pragma once

#include "capture/packet.h"

#define MIXTURE_AT_ONCE 12u // captures
#define MIXTURE_LATE 6u     // frames that may be swapped

typedef struct MixtureFrame {
    BbFrame frame;
    guint8 *bytes; // owned by who has read the capture
} MixtureFrame;

// Of one capture, where it stands.
typedef struct MixtureReader {
    const GArray *frames; // of MixtureFrame
    guint next;
    gint64 begun_ns; // stamp of its first frame here
} MixtureReader;

typedef struct Mixture {
    GRand *rand;
    const GPtrArray *captures; // of GArray of MixtureFrame
    MixtureReader readers[MIXTURE_AT_ONCE];
    MixtureFrame waiting[MIXTURE_LATE];
    guint n_waiting;
    gint64 now_ns;
    guint odd;  // of a thousand frames, so many suffer each mishap
    bool paced; // stamps rise evenly, for all; else each capture keeps its own pace
} Mixture;

static inline guint mixture_below(Mixture *mixture, guint most)
{
    return (guint)g_rand_int_range(mixture->rand, 0, (gint32)most);
}

static inline bool mixture_has_mishap(Mixture *mixture)
{
    return mixture_below(mixture, 1000) < mixture->odd;
}

// captures is lent: each has a frame at least.
static inline void mixture_begin(Mixture *mixture, const GPtrArray *captures, guint32 seed)
{
    static const guint odd[] = {0, 5, 30, 100};
    *mixture = (Mixture){
        .rand = g_rand_new_with_seed(seed),
        .captures = captures,
        .now_ns = G_GINT64_CONSTANT(1000000000000000),
    };
    mixture->odd = odd[mixture_below(mixture, G_N_ELEMENTS(odd))];
    mixture->paced = mixture_below(mixture, 2);
}

static inline void mixture_end(Mixture *mixture)
{
    g_rand_free(mixture->rand);
}

static inline gint64 mixture_stamp(Mixture *mixture, const MixtureReader *reader, gint64 time_ns)
{
    static const gint64 wrong_ns[] = {-1000,       1000000,     -20000000,   4000000000,
                                      -4000000000, 70000000000, -70000000000};
    const BbFrame *first = &g_array_index(reader->frames, MixtureFrame, 0).frame;
    mixture->now_ns += 1000 + mixture_below(mixture, 100000);
    if (mixture->odd && mixture_below(mixture, 2000) == 0)
        mixture->now_ns += wrong_ns[mixture_below(mixture, G_N_ELEMENTS(wrong_ns))];
    gint64 stamp_ns =
        mixture->paced ? mixture->now_ns : reader->begun_ns + time_ns - first->time_ns;
    if (mixture_has_mishap(mixture))
        stamp_ns += wrong_ns[mixture_below(mixture, G_N_ELEMENTS(wrong_ns))];
    return stamp_ns;
}

static inline MixtureFrame mixture_read(Mixture *mixture)
{
    MixtureReader *reader = &mixture->readers[mixture_below(mixture, MIXTURE_AT_ONCE)];
    if (!reader->frames || reader->next == reader->frames->len)
        *reader = (MixtureReader){
            .frames = mixture->captures->pdata[mixture_below(mixture, mixture->captures->len)],
            .begun_ns = mixture->now_ns};
    MixtureFrame read = g_array_index(reader->frames, MixtureFrame, reader->next++);
    read.frame.time_ns = mixture_stamp(mixture, reader, read.frame.time_ns);
    if (mixture_has_mishap(mixture) && read.frame.captured)
        read.frame.captured = mixture_below(mixture, read.frame.captured);
    return read;
}

// The next frame; what it points to lives as long as the captures.
static inline BbFrame mixture_next(Mixture *mixture)
{
    while (mixture->n_waiting < MIXTURE_LATE) {
        MixtureFrame read = mixture_read(mixture);
        if (!mixture_has_mishap(mixture)) // else it is lost
            mixture->waiting[mixture->n_waiting++] = read;
    }
    guint which = mixture_has_mishap(mixture) ? mixture_below(mixture, MIXTURE_LATE) : 0;
    BbFrame next = mixture->waiting[which].frame;
    if (mixture_has_mishap(mixture)) // and it comes twice
        return next;
    for (mixture->n_waiting--; which < mixture->n_waiting; which++)
        mixture->waiting[which] = mixture->waiting[which + 1];
    return next;
}
