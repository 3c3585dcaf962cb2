// SPDX-License-Identifier: Apache-2.0
// In: a message. Out: the key by which another observer's sighting of it is recognised.
#include "merge/sighting.h"

#include <string.h>

// Two lanes of multiply and shift, each step of which can be undone: equal lanes only come of equal
// input or by accident. The constants are odd, without pattern: fractions of sqrt(2) and sqrt(3).
typedef struct Hash {
    guint64 hi, lo;
} Hash;

#define HASH_HI G_GUINT64_CONSTANT(0x6a09e667f3bcc909)
#define HASH_LO G_GUINT64_CONSTANT(0xbb67ae8584caa73b)

static void hash_word(Hash *hash, guint64 word)
{
    hash->hi = (hash->hi + (word << 32 | word >> 32)) * HASH_HI;
    hash->hi ^= hash->hi >> 29;
    hash->lo = (hash->lo ^ word) * HASH_LO;
    hash->lo ^= hash->lo >> 32;
}

// The length comes first, so that no two sequences of texts are the same words.
static void hash_text(Hash *hash, const char *text)
{
    gsize left = strlen(text);
    hash_word(hash, left);
    for (; left > 0; text += 8) {
        guint64 word = 0;
        gsize take = MIN(left, sizeof word);
        memcpy(&word, text, take);
        hash_word(hash, GUINT64_FROM_LE(word));
        left -= take;
    }
}

static void hash_end(Hash *hash)
{
    for (guint i = 0; i < 2; i++) {
        guint64 hi = hash->hi;
        hash_word(hash, hash->lo);
        hash_word(hash, hi);
    }
}

static void hash_position(Hash *hash, const BbMessage *message)
{
    hash_word(hash, BB_SIGHTING_BY_POSITION);
    hash_text(hash, message->conn);
    hash_word(hash, message->offset);
}

static void hash_id(Hash *hash, const BbMessage *message, const BbNames *names)
{
    BbId id = message->id;
    hash_word(hash, BB_SIGHTING_BY_ID);
    hash_text(hash, bb_names_text(names, message->sender));
    hash_text(hash, bb_names_text(names, message->receiver));
    hash_word(hash, message->kind);
    hash_word(hash, MIN(id.form, BB_ID_STEM));
    if (id.form >= BB_ID_STEM)
        hash_text(hash, bb_names_text(names, id.form - BB_ID_STEM));
    hash_word(hash, id.number);
}

// One name may stand for both ends, or none be known to both observers: then kinds tell.
bool bb_sighting_same_way(BbSightingWay a, BbSightingWay b)
{
    bool same = a.sender == b.sender || a.receiver == b.receiver;
    bool turned = a.sender == b.receiver || a.receiver == b.sender;
    if (same != turned)
        return same;
    return a.kind == b.kind || a.kind == BB_FREE || b.kind == BB_FREE;
}

bool bb_sighting_id_is_local(const BbMessage *message)
{
    bool number = message->id.form == BB_ID_STEM && message->id.number != BB_ID_BARE;
    return number && !message->at_receiver && message->proto != BB_NAME_NONE &&
           message->bytes != BB_BYTES_NONE && message->end_ns != BB_TIME_NONE;
}

static BbSightingBy recognised_by(const BbMessage *message)
{
    if (message->conn && message->offset != BB_OFFSET_NONE)
        return BB_SIGHTING_BY_POSITION;
    if (message->id.form == BB_ID_ABSENT || message->id.form == BB_ID_DASH)
        return BB_SIGHTING_BY_ORDER;
    return BB_SIGHTING_BY_ID;
}

BbSightingKey bb_sighting_key(const BbMessage *message, const BbNames *names)
{
    BbSightingKey key = {
        .by = recognised_by(message),
        .way = {message->sender, message->receiver, message->kind},
        .at_receiver = message->at_receiver,
    };
    Hash hash = {HASH_LO, HASH_HI};
    if (key.by == BB_SIGHTING_BY_ORDER)
        return key;
    if (key.by == BB_SIGHTING_BY_POSITION) {
        hash_position(&hash, message);
    } else {
        key.local = bb_sighting_id_is_local(message);
        hash_id(&hash, message, names);
    }
    hash_end(&hash);
    key.hi = hash.hi;
    key.lo = hash.lo;
    return key;
}
