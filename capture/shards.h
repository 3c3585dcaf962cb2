// SPDX-License-Identifier: Apache-2.0
// The stage of capture.h in several threads: frames in, messages out. Connections are spread over a
// fixed number of shards by their addresses and ports, both directions to the same; each shard has
// its part of the limits, and threads serve shards. What comes out does not depend on the number of
// threads. It is what BbCapture gives as long as no limit is reached and nobody is silent for long:
// what ends by silence (capture/flow.h, capture/hold.h) does so when the next packet comes of its
// shard, or there of any, so that order and call ids may differ; and more where stamps go back.
//
// The calling thread reads: layers, IP fragments, second sightings, and hands packets over. With
// one thread it decodes too; with more a further one brings what they found in the order of the
// packets and names it (capture/scribe.h), so sink is called there.
#pragma once

#include "capture/capture.h"
#include "capture/shed.h"

#define BB_SHARDS_MOST 8u
// A shard is not to have less than that of the limits: there are fewer shards where they are low.
#define BB_SHARD_CONNECTIONS 1024u
#define BB_SHARD_HELD_BYTES (4u * 1024u * 1024u)

typedef struct BbShards BbShards;

typedef struct BbShardsOutput {
    BbMessageSink sink; // as of bb_capture_new
    // For bb_shards_mark: all messages of the frames before the mark have gone to the sink, and no
    // other; loss and network are as of then. Both are lent.
    bool (*mark)(guint mark, const BbLoss *loss, const BbNetwork *network, gpointer user,
                 GError **error);
    gpointer user;
    // Live: asked every few milliseconds while reading waits for other threads, with the time that
    // it has waited so far in all. Returns what bb_shards_shed gets. NULL: it waits as long as it
    // takes.
    BbShedding (*look)(gint64 waited_ns, gpointer user);
    // Told of each packet with payload that is left out, in the thread that reads; or NULL.
    void (*left_out)(const BbPacket *packet, gpointer user);
} BbShardsOutput;

// threads: that decode, 1 or more; more than there are shards are not used. names, nodes and loss
// are lent; nobody else touches names and nodes until finish. learn: as bb_capture_learn_names.
BbShards *bb_shards_new(const BbCaptureOptions *options, guint threads, bool learn, BbNames *names,
                        BbNodes *nodes, BbLoss *loss, BbShardsOutput output);
// Does not write what is still open: see finish.
void bb_shards_free(BbShards *shards);

// The name of a file for BbPlace.
guint32 bb_shards_file(BbShards *shards, const char *name);

// Takes a frame, or a packet. Returns false with an error when the sink failed, be it at an earlier
// one. May wait for the other threads.
bool bb_shards_frame(BbShards *shards, const BbFrame *frame, GError **error);
bool bb_shards_packet(BbShards *shards, const BbPacket *packet, GError **error);

// Has output's mark called, where the sink is called, in its place among the messages; does not
// wait for that. mark: the caller's, not 0.
bool bb_shards_mark(BbShards *shards, guint mark, GError **error);

// The same without waiting: where other threads are behind, its place is where packets go to them
// next, or the end. Several that come together by then are one, with the bits of all.
bool bb_shards_mark_soon(BbShards *shards, guint mark, GError **error);
// The bits that wait for that.
guint bb_shards_marks(const BbShards *shards);

// From this packet on so much is left out. Where reading waits for other threads, packets that
// these have not got yet are thinned, too; with output's look, it may be left as it was where they
// have not heard of the last few changes: look, or the caller, says it again. BB_SHED_TRIMMED
// counts packets that went to them only, so that each packet is counted as trimmed or as shed, or
// as neither.
void bb_shards_shed(BbShards *shards, const BbShedding *shedding);

// The capture ends: connections that are still open end with it, all messages go to the sink.
bool bb_shards_finish(BbShards *shards, GError **error);

// As bb_capture_network.
const BbNetwork *bb_shards_network(const BbShards *shards);

// What was found of NATs; of the thread that reads. Lent.
const BbTranslations *bb_shards_translations(const BbShards *shards);

// Brings loss up to date with what other threads have counted by now; after finish it is complete.
void bb_shards_count(BbShards *shards);
guint bb_shards_connections(const BbShards *shards); // remembered now, or a moment ago
gsize bb_shards_held_bytes(const BbShards *shards);
guint64 bb_shards_waits(const BbShards *shards); // times that frames had to wait for other threads
gint64 bb_shards_waited(const BbShards *shards); // how long, in all, in ns

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbShards, bb_shards_free)
