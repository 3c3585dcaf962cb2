// SPDX-License-Identifier: Apache-2.0
// In: notes, in the thread of the shards. Out: reels of them, in another.
#include "capture/tape.h"

#include "capture/channel.h"

#define REELS 4u // of a tape: one being written, one being read, two between them

struct BbTape {
    BbReel *reel; // being written; NULL: there will be none
    guint64 packet;
    BbChannel *full, *empty;
};

BbTape *bb_tape_new(void)
{
    BbTape *tape = g_new0(BbTape, 1);
    tape->full = bb_channel_new(REELS);
    tape->empty = bb_channel_new(REELS);
    tape->reel = g_new0(BbReel, 1);
    for (guint i = 1; i < REELS; i++)
        bb_channel_put(tape->empty, g_new0(BbReel, 1));
    return tape;
}

void bb_tape_free(BbTape *tape)
{
    if (!tape)
        return;
    g_free(tape->reel);
    for (gpointer reel = bb_channel_try(tape->full); reel; reel = bb_channel_try(tape->full))
        g_free(reel);
    for (gpointer reel = bb_channel_try(tape->empty); reel; reel = bb_channel_try(tape->empty))
        g_free(reel);
    bb_channel_free(tape->full);
    bb_channel_free(tape->empty);
    g_free(tape);
}

void bb_tape_at(BbTape *tape, guint64 packet)
{
    tape->packet = packet;
}

guint64 bb_tape_packet(const BbTape *tape)
{
    return tape->packet;
}

static void next_reel(BbTape *tape)
{
    bb_channel_put(tape->full, g_steal_pointer(&tape->reel));
    tape->reel = bb_channel_take(tape->empty);
    tape->reel->used = 0;
    tape->reel->ends_round = tape->reel->last = false;
    tape->reel->mark = 0;
}

gpointer bb_tape_add(BbTape *tape, BbNoteKind kind, guint shard, guint32 value, gsize size)
{
    gsize whole = (sizeof(BbNote) + size + 7) & ~(gsize)7;
    g_assert(whole <= G_MAXUINT16);
    if (tape->reel->used + whole > BB_REEL_BYTES)
        next_reel(tape);
    BbNote *note = (BbNote *)&tape->reel->bytes[tape->reel->used / sizeof(guint64)];
    *note = (BbNote){
        .packet = tape->packet,
        .value = value,
        .size = (guint16)whole,
        .kind = (guint8)kind,
        .shard = (guint8)shard,
    };
    tape->reel->used += whole;
    return note + 1;
}

void bb_tape_end_round(BbTape *tape, guint mark, const BbLoss *loss)
{
    tape->reel->ends_round = true;
    tape->reel->mark = mark;
    if (loss)
        tape->reel->loss = *loss;
    next_reel(tape);
}

void bb_tape_end(BbTape *tape)
{
    tape->reel->ends_round = tape->reel->last = true;
    bb_channel_put(tape->full, g_steal_pointer(&tape->reel));
}

BbReel *bb_tape_take(BbTape *tape)
{
    return bb_channel_take(tape->full);
}

void bb_tape_give_back(BbTape *tape, BbReel *reel)
{
    bb_channel_put(tape->empty, reel);
}
