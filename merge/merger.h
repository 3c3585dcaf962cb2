// SPDX-License-Identifier: Apache-2.0
// Many traces as one flow of messages in order of time. A file is opened when its first message is
// due and closed at its end. Where more are due at once than may be open, batches of them are
// merged into temporary files first (in TMPDIR; they have no name while they are read).
//
// Memory: about half a megabyte for an open file, and BB_MERGER_WAITING messages in all that are
// put in order, in equal parts for the files that are open.
#pragma once

#include "data/counters.h"
#include "data/message.h"
#include "data/network.h"

#define BB_MERGER_WAITING 262144u
#define BB_MERGER_OPEN 192u // files open at once, if not told otherwise
#define BB_MERGER_OPEN_MIN 4u
#define BB_MERGER_PARTS 16u // of a file; the last one has the rest

// Takes messages in order of time; equal times in the order of the inputs. input counts the paths
// from 0. Returns false to stop (with an error set).
typedef bool (*BbMergerSink)(const BbMessage *message, guint input, gpointer user, GError **error);

// Where a reading of a file is.
typedef struct BbMergerPlace {
    guint input;
    // Of the preparer: the time that it gave to the message before; G_MININT64 where there is none.
    gint64 last_ns;
    guint part; // of the preparer: the one of the file's parts that the message is in
} BbMergerPlace;

// What is done to messages before they are put in order, and to the order of a file.
typedef struct BbMergerPreparer {
    // May change names and times of a message. NULL for none.
    void (*prepare)(BbMessage *message, BbMergerPlace *place, gpointer user);
    // In how many parts a file of this observer is, whose times are in order in each part as far as
    // they are in the file. Each is read as if it were a file. NULL for one.
    guint (*parts)(guint32 observer, gpointer user);
    gpointer user;
} BbMergerPreparer;

typedef struct BbMergerOptions {
    bool skip_bad_lines;
    bool by_folder; // files of one folder are of one observer
    guint open_max; // 0: BB_MERGER_OPEN
    BbMergerPreparer preparer;
} BbMergerOptions;

typedef struct BbMerger BbMerger;

// names is lent; paths (copied) end with NULL; "-" is standard input. A message without observer
// gets that of its file (merge/observers.h).
BbMerger *bb_merger_new(const BbMergerOptions *options, BbNames *names, const char *const *paths);
void bb_merger_free(BbMerger *merger);

guint bb_merger_inputs(const BbMerger *merger);
guint32 bb_merger_observer(const BbMerger *merger, guint input);
// Whether all inputs can be read again: no pipe is among them.
bool bb_merger_can_repeat(const BbMerger *merger);

// Reads all inputs one after the other, each in its own order, which is cheaper than a run, and
// remembers what makes the next run cheaper. sink and failures are as those of a run.
bool bb_merger_scan(BbMerger *merger, BbMergerSink sink, gpointer user, GError **error);

// Reads all inputs. May be called again, with another preparer, where
// bb_merger_can_repeat. Fails when the sink does or a temporary file cannot be used. An input that
// cannot be read costs itself only, a damaged one its bad blocks: see bb_merger_complaint.
bool bb_merger_run(BbMerger *merger, BbMergerSink sink, gpointer user, GError **error);
void bb_merger_prepare_by(BbMerger *merger, const BbMergerPreparer *preparer);

// What is wrong with an input, a sentence for each, of the last run in order of the inputs; NULL
// behind the last. Lent. *failed says that the input could not be read to its end.
const char *bb_merger_complaint(const BbMerger *merger, guint index, bool *failed);

// Of the last run, so far.
guint64 bb_merger_messages(const BbMerger *merger);
guint bb_merger_inputs_done(const BbMerger *merger);
// Messages that came after a later one had gone to the sink.
guint64 bb_merger_late(const BbMerger *merger);
// Loss and drop counters of all inputs. Lent.
const BbCounters *bb_merger_counters(const BbMerger *merger);
// Notes of all inputs (char *), each once, at most BB_TRACE_NOTES. Lent.
const GPtrArray *bb_merger_notes(const BbMerger *merger);
// What TCP told of the network, nodes named as prepare names them: the files of one observer add
// up, of observers that watched at the same time the one that saw more packets of an edge is
// believed (witnesses.h). Added to network.
void bb_merger_tell_network(const BbMerger *merger, BbNetwork *network);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbMerger, bb_merger_free)
