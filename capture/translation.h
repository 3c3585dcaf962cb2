// SPDX-License-Identifier: Apache-2.0
// Connections that a mirror shows on both sides of a NAT or of a load balancer that only rewrites
// addresses and ports (DNAT, SNAT, both; NAT64; several in a row): one TCP connection, seen on two
// legs or more. They are joined to one, which goes from the client's own address, as the first leg
// has it, to the server's own, as the last leg has it.
//
// Two legs are one connection where
//   - their SYNs have the same sequence number, window and options (but for the value of the MSS,
//     which boxes clamp), at most BB_TRANSLATION_WINDOW_NS apart, the second before any answer;
//   - their SYN-ACKs have the same sequence and acknowledgement numbers, window and options
//     likewise, so close together, and come in the other order: the last leg's first.
// Initial sequence numbers are random (RFC 9293, section 3.4.1; RFC 6528), those of client and
// server independent of each other, so that two connections agree by accident with a chance of
//     2^-32 * 2^-32 = 5.4e-20.
// At 100,000 new connections a second each has 2 * 10^4 others within the window, which are 10^9
// pairs a second: 5.4e-11 wrong ones are to be expected a second, one in 580 years, even if window,
// options (with a time stamp of another 32 random bits where TCP has them) and order always agreed.
// Numbers below BB_TRANSLATION_ISN, and those that come again otherwise, are not random: they prove
// nothing. So 1 of 2^15 true pairs stays two, too.
//
// Of a joined connection the packets of the last leg are taken, as if they alone had been seen;
// those of the other legs are dropped. What is sent again is thus counted once, whatever the box
// does to identifications and times, and the facts of the network are those of the last leg.
//
// Not recognised: boxes that write new sequence numbers (a proxy that speaks TCP itself has
// connections of its own, and these are two calls, rightly), connections whose SYNs carry data
// (RFC 7413) or that were open when the capture began, and datagrams, whose identification (often
// 0) and content are the same where a resolver passes a question on.
#pragma once

#include "capture/loss.h"
#include "capture/packet.h"

#define BB_TRANSLATION_WINDOW_NS (100 * G_GINT64_CONSTANT(1000000)) // a box under load
#define BB_TRANSLATION_ISN 65536u
#define BB_TRANSLATION_LEGS 4u // of a connection; one with more stays several
// SYNs remembered, of 96 bytes; beyond it the oldest is forgotten (BB_NAT_LIMIT where it might
// still have been joined: another leg has it, or others were joined before).
#define BB_TRANSLATION_SYNS 8192u
// Joined connections, of 400 bytes. One that has ended is remembered for so long, for its last
// packets; beyond the limit the one that was silent for longest is forgotten, of those that have
// ended where there are any; else it becomes two again (BB_NAT_LIMIT).
#define BB_TRANSLATION_CONNECTIONS 65536u
#define BB_TRANSLATION_ENDED_NS (60 * G_GINT64_CONSTANT(1000000000))
// A last leg that shows nothing while so many segments with data came on others, for so long, is
// not mirrored any more: the connection becomes several again (BB_NAT_PARTED). So does one whose
// ports are used again before it was seen to end: a SYN with another number is answered.
#define BB_TRANSLATION_MISSED 16u
#define BB_TRANSLATION_MISSED_NS G_GINT64_CONSTANT(1000000000)
#define BB_TRANSLATION_PAIRS 64u // of addresses, told to people; of services, and of clients

typedef enum {
    BB_TRANSLATION_OFF,
    BB_TRANSLATION_HINT, // found and counted, left as they are
    BB_TRANSLATION_JOIN,
} BbTranslationMode;

typedef struct BbTranslations BbTranslations;

// loss is lent.
BbTranslations *bb_translations_new(BbTranslationMode mode, BbLoss *loss);
void bb_translations_free(BbTranslations *translations);

// Takes a packet, in order of arrival. Returns whether it is to be taken further; its `translated`
// is then set (capture/packet.h). Otherwise it is a second sighting, counted.
bool bb_translations_check(BbTranslations *translations, BbPacket *packet);

typedef enum { BB_TRANSLATION_CLIENTS, BB_TRANSLATION_SERVICES } BbTranslationEnd;

// What is called otherwise behind a box: a service, with its port; or clients, whose ports differ
// by connection (0), one pair for all that have an address there in common.
typedef struct BbTranslationPair {
    BbAddress before, after; // before: of the first client
    guint16 before_port, after_port;
    bool others; // further clients are called so, too
    guint64 connections;
} BbTranslationPair;

// In the order in which they were found: index < count, BB_TRANSLATION_PAIRS at most. Lent.
guint bb_translations_pairs(const BbTranslations *translations, BbTranslationEnd end);
const BbTranslationPair *bb_translations_pair(const BbTranslations *translations,
                                              BbTranslationEnd end, guint index);
guint bb_translations_joined(const BbTranslations *translations); // remembered now

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbTranslations, bb_translations_free)
