// SPDX-License-Identifier: Apache-2.0
// Every message of a trace with two causes: the one that was inferred (convolution) and the true
// one. Collected message by message and window by window, then settled.
#pragma once

#include "data/path.h"

typedef enum {
    BB_EFFECT_UNTOLD, // the trace does not tell: left out of all figures
    BB_EFFECT_ROOT,   // nothing caused the message
    BB_EFFECT_CAUSED, // its cause is in the trace
    BB_EFFECT_LOST,   // its cause is not there: it is to stay without one
} BbEffectTruth;

#define BB_EFFECT_NONE G_MAXUINT32

// Ids by number: BB_EFFECT_NO_ID where there is none.
#define BB_EFFECT_NO_ID 0u
#define BB_EFFECT_ROOT_ID G_MAXUINT32 // of parent=-

typedef struct BbEffect {
    gint64 sent_ns, arrived_ns; // by the sender's clock, and by the receiver's where it was seen
    gint64 stated_ns;           // delay after the inferred cause by the inference's own statement;
                                // BB_TIME_NONE without cause
    guint32 sender, receiver;   // names
    guint32 id, path, parent;   // numbers of ids
    guint32 real, found;        // true and inferred cause; BB_EFFECT_NONE
    float confidence;           // that found is right; BB_CONFIDENCE_NONE if not stated
    guint8 kind;                // BbKind
    guint8 truth;               // BbEffectTruth, once settled
    bool at_receiver;           // seen at the receiver only
} BbEffect;

// Memory: 64 bytes a message, 48 more when it is inferred, some 80 for each id; at the peak, with
// what settling takes, some 350 bytes a message.
typedef struct BbEffects {
    GArray *effects;     // of BbEffect, in the order of the trace; once settled without second
                         // sightings
    guint64 untold;      // once settled: messages whose cause is not told, circular ones included
    guint64 circular;    // whose true causes, if followed, come back to the message
    GArray *findings;    // what windows said; NULL once settled
    GHashTable *numbers; // of ids: BbId -> number; likewise
} BbEffects;

BbEffects *bb_effects_new(void);
void bb_effects_free(BbEffects *effects);

// Takes note of a message, in the order of the trace.
void bb_effects_push(BbEffects *effects, const BbMessage *message);

// Adds what the inference says of the messages of a window, which may come before or after them.
void bb_effects_add(BbEffects *effects, const BbPaths *paths);

// Joins sightings of one message, gives each message what was inferred of it (of messages that are
// equal in all but what is inferred in the order of the trace), and finds the true causes. After it
// nothing can be added.
void bb_effects_settle(BbEffects *effects);

static inline BbEffect *bb_effects_at(const BbEffects *effects, guint32 index)
{
    return &g_array_index(effects->effects, BbEffect, index);
}

static inline bool bb_effect_is_right(const BbEffect *effect)
{
    return effect->truth != BB_EFFECT_UNTOLD && effect->found == effect->real;
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbEffects, bb_effects_free)
