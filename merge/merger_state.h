// SPDX-License-Identifier: Apache-2.0
// What the parts of the merger share: its sources, and where they stand. Inside of the merger only.
#pragma once

#include "merge/merger.h"
#include "merge/spill.h"
#include "merge/stream.h"
#include "merge/witnesses.h"

#define BB_MERGER_TURNS 16u

typedef struct BbMergerSource {
    BbMerger *merger;
    char *path;
    guint input;
    guint part, parts; // this is one of them
    BbMergerPlace place;
    guint32 observer;
    bool once;       // a pipe: what was opened for the survey stays open
    bool in_order;   // known from a run that read all of it
    guint32 seen;    // observer of its messages, unless mixed
    bool mixed;      // several clocks: what is in order now may not be so by other ones
    gint64 least_ns; // the earliest time as it was read; G_MAXINT64 before the first message
    gint64 head_ns, tail_ns;          // times of the first and the last message as they were read
    gint64 peak_ns;                   // the latest time since the last of these turns:
    gint64 turns[BB_MERGER_TURNS][2]; // where times fell back by more than files are in disorder,
    guint n_turns;                    // from where, and to where; the first ones
    bool scanned;                     // all of it was read: what stands above is known
    gint64 start_ns; // where its observer's file before it ended, as times are now, or G_MININT64
    gint64 from_ns, to_ns; // the times of the messages that were read in this run, as they are now
    gint64 due_ns;
    BbStream *stream; // one of the two, while it is open
    BbSpill *spill;
    const BbMessage *head; // the next message, and its input
    guint head_input;
} BbMergerSource;

struct BbMerger {
    BbMergerOptions options;
    BbNames *names;
    GPtrArray *sources; // one for each input
    GPtrArray *parts;   // of BbMergerSource: parts of inputs but for the first; made in a run
    GPtrArray *spills;  // of BbMergerSource; made in a run, kept to its end
    bool ran;

    // Of a run.
    GPtrArray *pending; // sources that are not due yet, the earliest last
    GPtrArray *heap;    // open sources by head; [0] is the earliest
    guint n_open_spills;
    GPtrArray *complaints; // of char*, by input; NULL where there is none
    GByteArray *failed;    // by input
    BbCounters *counters;
    GPtrArray *notes; // of char *, each once
    BbWitnesses *witnesses;
    guint64 messages, late;
    gint64 newest_ns;
    guint done;
};

// ---- merger_source.c

// Messages that a source holds back to put them in order, so that all together hold no more than
// they may.
gsize bb_merger_source_window(const BbMerger *merger);
// Opens what is not open. Returns false where the file cannot be read, which was noted.
bool bb_merger_source_open(BbMergerSource *source, gsize window);
// Takes the next message as head. At the end the source is closed and head is NULL. Returns false
// when a temporary file fails; of an input that is a complaint, and its end.
bool bb_merger_source_advance(BbMergerSource *source, GError **error);
// Opens the file, its messages prepared. NULL where it cannot be read.
BbStream *bb_merger_source_stream(BbMergerSource *source, gsize window, GError **error);
// Prepares a message that was not read from the file, behind one of the time last_ns.
void bb_merger_source_prepare(const BbMergerSource *source, BbMessage *message, gint64 last_ns);
// The same for the time alone, of a file with one observer.
gint64 bb_merger_source_time(const BbMergerSource *source, gint64 time_ns, gint64 last_ns);
void bb_merger_source_close(BbMergerSource *source);
void bb_merger_source_free(gpointer source);

// ---- merger_heap.c: sources by the time of their head, [0] is the earliest

void bb_merger_heap_add(GPtrArray *heap, BbMergerSource *source);
// Adds an open source with its first message, if it has any.
bool bb_merger_heap_begin(GPtrArray *heap, BbMergerSource *source, GError **error);
// Takes the next message of the first source: drops it at its end, or puts it in its new place.
bool bb_merger_heap_next(GPtrArray *heap, GError **error);

// ---- merger_spills.c

// Makes one temporary file of the next files that are pending.
bool bb_merger_spill_pending(BbMerger *merger, guint batch, GError **error);
// Makes one temporary file of all those that are open.
bool bb_merger_spill_spills(BbMerger *merger, GError **error);
