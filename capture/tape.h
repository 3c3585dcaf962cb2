// SPDX-License-Identifier: Apache-2.0
// What the shards of one thread found, on its way to the thread that gives names and ids
// (capture/scribe.h): notes in order of the packets, in reels of fixed size. When all reels are
// under way the writer of the tape waits, so that memory is bounded.
#pragma once

#include "capture/endpoints.h"
#include "capture/loss.h"
#include "data/message.h"
#include "data/network.h"

typedef enum {
    BB_NOTE_CALL,     // value: an id that stands for a new call from here on
    BB_NOTE_NODE,     // value: a number that stands for a node from here on; BbNoteNode
    BB_NOTE_LABEL,    // value: the shard's next name, of a label
    BB_NOTE_OTHER,    // the label of those that are too many is needed from here on
    BB_NOTE_PROTOCOL, // value: a number that stands for a protocol from here on; its name
    BB_NOTE_MESSAGE,  // a BbMessage of such ids, nodes, names and protocols, and the text of its
                      // conn
    BB_NOTE_EDGE,     // BbNoteEdge
    BB_NOTE_LEARNED,  // BbAddress, and the text of its name
} BbNoteKind;

#define BB_TAPE_OTHER G_MAXUINT32 // as a name: the label of those that are too many

typedef struct BbNote {
    guint64 packet; // that it was found at
    guint32 value;
    guint16 size; // with what follows, a multiple of 8
    guint8 kind, shard;
} BbNote;

typedef struct BbNoteNode {
    BbEndpoints endpoints;
    guint8 end;
    bool is_server;
} BbNoteNode;

typedef struct BbNoteEdge {
    BbEndpoints endpoints;
    BbNetworkEdge edge;
    guint8 client;
    bool has_data, is_over;
} BbNoteEdge;

#define BB_REEL_BYTES (128u * 1024u)

typedef struct BbReel {
    gsize used;
    bool ends_round; // no more notes of packets up to the end of this round come on this tape
    bool last;       // the tape ends
    guint mark;      // of the round (capture/shards.h)
    BbLoss loss;     // where there is a mark: what was counted up to it
    guint64 bytes[BB_REEL_BYTES / sizeof(guint64)]; // BbNotes
} BbReel;

typedef struct BbTape BbTape;

BbTape *bb_tape_new(void);
void bb_tape_free(BbTape *tape);

// Later notes are of this packet.
void bb_tape_at(BbTape *tape, guint64 packet);
guint64 bb_tape_packet(const BbTape *tape); // that number

// Appends a note with room for what belongs to it (8 bytes aligned, to be filled in at once).
gpointer bb_tape_add(BbTape *tape, BbNoteKind kind, guint shard, guint32 value, gsize size);
// Hands over what was added.
// loss: see BbReel; NULL without a mark.
void bb_tape_end_round(BbTape *tape, guint mark, const BbLoss *loss);
void bb_tape_end(BbTape *tape);

// The next reel, waited for; to be given back when it is read.
BbReel *bb_tape_take(BbTape *tape);
void bb_tape_give_back(BbTape *tape, BbReel *reel);

// What follows a note.
static inline gconstpointer bb_note_rest(const BbNote *note)
{
    return note + 1;
}
