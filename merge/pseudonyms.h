// SPDX-License-Identifier: Apache-2.0
// Other names for what a trace tells of a system: nodes, labels, ids and connections. A name has
// the same pseudonym wherever it stands, in all traces that were made with the same key: the first
// bits of HMAC-SHA-256 (RFC 2104) under that key.
//
//   node, observer  n and 12 hexadecimal digits; with prefixes kept an address becomes an address
//                   (merge/pseudonym_address.h), of a name that begins with one ADDRESS@n and 12
//                   digits
//   operation       op- and 12 digits, or as it was, or left out
//   id, parent      16 digits; path: 16 others
//   connection      c and 12 digits; with ports kept NODE:PORT-NODE:PORT
//   off             of a datagram another print; left out where there is no key. Not where nothing
//                   but labels may change, and they are kept
//   file, frame     left out
//   other keys      likewise, since nobody knows what they hold
//
// Protocols, statuses, sizes and positions in a connection of TCP stay.
#pragma once

#include "data/message.h"
#include "data/network.h"

// What becomes of labels of operations.
typedef enum { BB_LABELS_HASH, BB_LABELS_KEEP, BB_LABELS_OFF } BbLabels;

typedef struct BbPseudonymOptions {
    gconstpointer key; // lent while the table is made
    gsize key_size;
    BbLabels labels;
    bool only_labels;   // nothing else changes: nodes, ids, connections, files and times stay
    bool keep_ports;    // of node names and connections that end with a port
    bool keep_prefixes; // of nodes that are addresses: which ones are of one network
    gint64 shift_ns;    // added to all times
} BbPseudonymOptions;

typedef struct BbPseudonyms BbPseudonyms;

// names is lent; pseudonyms are interned there.
BbPseudonyms *bb_pseudonyms_new(const BbPseudonymOptions *options, BbNames *names);
void bb_pseudonyms_free(BbPseudonyms *pseudonyms);

// Replaces what is in message; its conn is then lent until the next call.
void bb_pseudonyms_apply(BbPseudonyms *pseudonyms, BbMessage *message);

// The pseudonym of a node, and what becomes of the label of an operation (BB_NAME_NONE where it is
// left out).
guint32 bb_pseudonyms_node(BbPseudonyms *pseudonyms, guint32 name);
guint32 bb_pseudonyms_op(BbPseudonyms *pseudonyms, guint32 name);

// Adds what network tells of its edges to renamed, under the pseudonyms of their nodes.
void bb_pseudonyms_network(BbPseudonyms *pseudonyms, const BbNetwork *network, BbNetwork *renamed);

// A sentence for the trace on what was done to its names. The result is yours.
char *bb_pseudonyms_note(const BbPseudonymOptions *options);

// Times that would be before 1970 or after 2262, and stay at that end.
guint64 bb_pseudonyms_clipped(const BbPseudonyms *pseudonyms);

// Writes which name became which, as CSV with the columns kind (node, op), name and pseudonym,
// sorted. Ids and connections are not in it. The file can be read by its owner only.
bool bb_pseudonyms_write_map(const BbPseudonyms *pseudonyms, const char *path, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbPseudonyms, bb_pseudonyms_free)
