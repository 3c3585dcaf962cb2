// SPDX-License-Identifier: Apache-2.0
// What of a capture goes out under other names (--anonymize, --labels): messages, facts on the
// network and notes, before anything outside of decoding has them. Pseudonyms are those that
// bbtrace anonymize gives under the same key (merge/pseudonyms.h). Used by the thread that gives
// messages to the output, and by others when that one is at rest.
#pragma once

#include "cli/pseudonym_key.h"

typedef struct BbDisguiseOptions {
    char *labels_word, *key_file;
    gboolean anonymize, keep_ports, keep_prefixes;
    BbLabels labels;
    bool worn; // something is asked for
} BbDisguiseOptions;

// Reads the words. Returns an exit status where that was wrong usage, which was said, or -1 to go
// on.
int bb_disguise_options_parse(BbDisguiseOptions *options, const char *program);
void bb_disguise_options_clear(BbDisguiseOptions *options);

typedef struct BbDisguise BbDisguise;

// Reads the key. names are lent; pseudonyms are interned there.
BbDisguise *bb_disguise_open(const BbDisguiseOptions *options, BbNames *names, GError **error);
void bb_disguise_free(BbDisguise *disguise);

// What is to be left out of a message for good; apply does that, too.
void bb_disguise_trim(const BbDisguise *disguise, BbMessage *message);
// Its conn is then lent until the next call.
void bb_disguise_apply(BbDisguise *disguise, BbMessage *message);
// Likewise one name: of an operation, or of a node.
guint32 bb_disguise_name(BbDisguise *disguise, guint32 name, bool is_op);
// network under other names, lent until the next call.
const BbNetwork *bb_disguise_network(BbDisguise *disguise, const BbNetwork *network);

// Whether a note that others wrote may stand in the trace: names may be in it.
bool bb_disguise_takes_notes(const BbDisguise *disguise);
// The note on what was done: a sentence that is the same each time. Lent.
const char *bb_disguise_note(const BbDisguise *disguise);

// Whether messages have labels of operations at all.
bool bb_disguise_has_labels(const BbDisguise *disguise);

// A ring of a flight recorder goes on where a former run has ended: fails where messages of one are
// in it that told more than this disguise (NULL: none, which goes on in any), or have pseudonyms
// under another key. A file beside the ring remembers the note, and a digest of a constant under
// the key.
bool bb_disguise_claim_ring(const BbDisguise *disguise, const char *ring, GError **error);
// The note that it has; NULL where there is none. The result is yours.
char *bb_disguise_ring_note(const char *ring);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbDisguise, bb_disguise_free)
