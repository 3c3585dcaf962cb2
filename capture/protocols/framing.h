// SPDX-License-Identifier: Apache-2.0
// TCP streams whose messages say their own length: cuts them into frames, passes over bodies,
// finds its place again after a gap. A decoder tells how long a frame is and what it means.
#pragma once

#include "capture/decoder.h"

#define BB_FRAME_MAX (1u << 30) // bytes of a frame; longer ones are bad

typedef enum {
    BB_FRAME_BAD,  // no frame of this protocol
    BB_FRAME_MORE, // too few bytes to tell
    BB_FRAME_OK,
} BbFrameVerdict;

typedef struct BbFrameSize {
    gsize length; // of the whole
    gsize wanted; // of its first bytes those that begin() is to see
} BbFrameSize;

// A byte that frames have, for a search that passes over most bytes at once.
typedef struct BbFrameSign {
    bool known;
    guint8 byte;
    gint8 at; // place in the frame; -1: before its first byte, as the frame before ends so
} BbFrameSign;

typedef struct BbFraming {
    // How long is the frame that begins at data?
    BbFrameVerdict (*measure)(const void *state, BbDirection direction, const guint8 *data,
                              gsize length, BbFrameSize *frame);
    // Whether a frame begins at data, which follows after bytes that were lost: strict.
    BbMatch (*probe)(const guint8 *data, gsize length);
    // The same where it takes to know the dialog, which ids are open. NULL: probe tells.
    BbMatch (*find)(BbDialog *dialog, const void *state, const BbView *view, gsize at);
    // Senders have several messages under way, so that in a backlog none begins with a packet:
    // frames are looked for at all bytes, or those that sign tells (a frame without it is found
    // where it begins a packet). measure, and probe or find, look at few bytes then.
    bool anywhere;
    BbFrameSign sign;
    // A frame began. seen: its first bytes, fewer than wanted only where the rest is lost.
    void (*begin)(BbDialog *dialog, void *state, const guint8 *data, gsize seen,
                  const BbPart *part);
    // It is over. part: as far as it was seen.
    void (*end)(BbDialog *dialog, void *state, const BbPart *part);
    // The place is lost, by a gap or by bytes that make no sense: what goes over several frames
    // ends with what was seen. NULL: nothing does.
    void (*lose)(BbDialog *dialog, void *state, BbDirection direction);
} BbFraming;

typedef struct BbFrameSide {
    BbPart part;
    guint64 end_seq; // under_way: position behind the frame
    guint32 passed;  // bytes passed over where a frame was looked for
    bool under_way;
    bool lost;   // looking for the start of a frame
    bool inside; // lost: the next byte is not the first of its packet
    bool good;   // a frame was read
} BbFrameSide;

// What the decoder's state begins with.
typedef struct BbFrames {
    BbFrameSide side[2];
} BbFrames;

// The parse, gap and finish of a decoder that has a framing (decoder.h).
gssize bb_frames_parse(BbDialog *dialog, void *state, const BbView *view);
void bb_frames_gap(BbDialog *dialog, void *state, BbDirection direction);
void bb_frames_finish(BbDialog *dialog, void *state);
