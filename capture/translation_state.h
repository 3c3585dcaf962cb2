// SPDX-License-Identifier: Apache-2.0
// What the two halves of capture/translation.h share: handshakes, in which legs are recognised
// (translation_handshake.c), and what is known of joined connections (translation.c). For these.
#pragma once

#include "capture/translation.h"

typedef struct BbLink BbLink;
typedef struct BbSyn BbSyn;

// A connection as one leg shows it. [0]: the client's end.
typedef struct BbLeg {
    BbAddress address[2];
    guint16 port[2];
    bool has_vni;
    guint32 vlan, vni; // as the packet has them; vni: 0 without has_vni
    guint64 form;      // of its last SYN: what a box leaves alone
    gint64 time_ns;
    BbLink *link;
} BbLeg;

// Legs that may be one connection, the first first. Those from `answered` on have shown the same
// SYN-ACK, last first; where these are two or more, they are one.
struct BbLink {
    BbLeg legs[BB_TRANSLATION_LEGS];
    guint n_legs, answered;
    guint32 isn, answer_seq;
    guint64 answer_form; // of the last SYN-ACK
    gint64 answer_ns;
    BbSyn *syn; // that waits for more of it; NULL: nothing does
    bool known; // it is joined, and in the table
    // Then:
    bool reset, fins[2]; // it has ended
    bool in_ended;       // the list that it is in
    // A SYN with this number came on one of its legs, before it had ended: its ports are used again
    // where that is answered.
    bool asked;
    guint32 asked_isn;
    gint64 last_ns;
    guint missed;     // segments with data that were dropped since the last leg showed anything,
    gint64 missed_ns; // the first of them
    BbLink *older, *newer;
};

// A SYN, which all legs share.
struct BbSyn {
    BbLeg leg;    // the first
    BbLink *link; // of all of them, once there are two; until it is complete
    BbSyn *chain; // of the bucket
    guint32 isn;
    bool used;
    bool answered;
    bool spent; // it proves nothing (any more)
};

// By their last packets.
typedef struct BbLinkList {
    BbLink *oldest, *newest;
} BbLinkList;

// Of one kind, in the order in which they were found.
typedef struct BbPairTable {
    guint count;
    BbTranslationPair pairs[BB_TRANSLATION_PAIRS];
} BbPairTable;

struct BbTranslations {
    BbTranslationMode mode;
    BbLoss *loss;
    guint64 seed;    // no output depends on it
    BbSyn *syns;     // a ring of BB_TRANSLATION_SYNS
    guint next;      // the oldest of it
    BbSyn **buckets; // as many, by ISN

    GHashTable *known;   // legs, as connections whatever the direction
    BbLinkList lists[2]; // live; ended
    guint joined;
    bool found; // connections on several legs: there is a NAT, and second legs are to be expected
    BbPairTable tables[2]; // BbTranslationEnd
};

// The leg that packet is on. client: who sent it is the client.
BbLeg bb_leg_of(const BbPacket *packet, bool client);
bool bb_leg_is_end(const BbLeg *leg, guint end, const BbLeg *other, guint other_end);
bool bb_leg_is_network(const BbLeg *leg, const BbLeg *other);

// A packet with SYN that is of no joined connection. Returns whether it has shown that the leg it
// is on is joined with others.
bool bb_handshake_push(BbTranslations *translations, const BbPacket *packet);

// Leg `index` has shown the answer of the next one. Returns whether they are joined.
bool bb_link_join(BbTranslations *translations, BbLink *link, guint index);
// Frees it when neither a SYN waits for it nor the table has it.
void bb_link_release(BbLink *link);
