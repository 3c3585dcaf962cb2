// SPDX-License-Identifier: Apache-2.0
// In: IP fragments in any order, repeated, damaged. Out: the packets they make.
#include "capture/layers/fragment.h"

#include "data/keys.h"

#define PAYLOAD_MAX 65535u // an IP packet has no longer one (RFC 791, RFC 8200 section 4.5)

// Compared and hashed as bytes: no padding.
typedef struct Key {
    BbAddress source, target;
    guint32 id, protocol, vlan, vni;
} Key;
G_STATIC_ASSERT(sizeof(Key) == 48);

typedef struct Piece {
    guint32 offset, length; // in the packet
    guint32 captured;       // of length
    guint32 at;             // in the bytes held
} Piece;

typedef struct Assembly {
    Key key;
    GList link;        // in `open` or in `settled`
    bool is_settled;   // complete or refused: only remembered
    gint64 since_ns;   // when its first fragment came, or when it was settled
    GByteArray *bytes; // captured bytes in the order of arrival
    GArray *pieces;    // Piece, by offset, never overlapping
    guint32 filled;    // bytes of the packet that the pieces cover
    guint32 total;     // bytes of the packet; 0 = its last fragment has not come
    guint8 protocol;   // of the fragment at offset 0
    gint64 time_ns;    // of the fragment at offset 0
    BbPlace place;     // likewise
    gint64 last_ns;    // of the last that came
} Assembly;

struct BbFragments {
    BbLoss *loss;
    gsize bytes, max_bytes;
    GHashTable *assemblies; // Key -> Assembly, lent: never iterated
    GQueue open, settled;   // Assembly, oldest first
    GByteArray *lent;
};

static guint key_hash(gconstpointer data)
{
    return bb_keys_bytes(data, sizeof(Key));
}

static gboolean key_equal(gconstpointer a, gconstpointer b)
{
    return memcmp(a, b, sizeof(Key)) == 0;
}

#define HAS_VNI 0x80000000u // among the 24 bits of the VLAN

// IPv6 tells packets apart by addresses and id alone, within a network.
static Key key_of(const BbFragment *fragment)
{
    bool v4 = bb_address_is_v4(&fragment->source);
    return (Key){.source = fragment->source,
                 .target = fragment->target,
                 .id = fragment->id,
                 .protocol = v4 ? fragment->protocol : 0,
                 .vlan = fragment->vlan | (fragment->has_vni ? HAS_VNI : 0),
                 .vni = fragment->has_vni ? fragment->vni : 0};
}

static gsize held(const Assembly *assembly)
{
    return sizeof *assembly + assembly->bytes->len + assembly->pieces->len * sizeof(Piece);
}

BbFragments *bb_fragments_new(BbLoss *loss, gsize max_bytes)
{
    BbFragments *fragments = g_new0(BbFragments, 1);
    fragments->loss = loss;
    fragments->max_bytes = max_bytes;
    fragments->assemblies = g_hash_table_new(key_hash, key_equal);
    g_queue_init(&fragments->open);
    g_queue_init(&fragments->settled);
    fragments->lent = g_byte_array_new();
    return fragments;
}

static Assembly *assembly_new(BbFragments *fragments, const Key *key, gint64 now_ns)
{
    Assembly *assembly = g_new0(Assembly, 1);
    assembly->key = *key;
    assembly->link.data = assembly;
    assembly->since_ns = assembly->last_ns = now_ns;
    assembly->bytes = g_byte_array_new();
    assembly->pieces = g_array_new(FALSE, FALSE, sizeof(Piece));
    g_hash_table_insert(fragments->assemblies, &assembly->key, assembly);
    g_queue_push_tail_link(&fragments->open, &assembly->link);
    fragments->bytes += held(assembly);
    return assembly;
}

// What an open assembly holds goes; what stays is its key.
static void release_bytes(BbFragments *fragments, Assembly *assembly)
{
    fragments->bytes -= held(assembly);
    g_clear_pointer(&assembly->bytes, g_byte_array_unref);
    g_clear_pointer(&assembly->pieces, g_array_unref);
}

static void forget(BbFragments *fragments, Assembly *assembly)
{
    if (assembly->is_settled) {
        g_queue_unlink(&fragments->settled, &assembly->link);
    } else {
        g_queue_unlink(&fragments->open, &assembly->link);
        release_bytes(fragments, assembly);
        fragments->loss->count[BB_FRAGMENT_LOST]++;
    }
    g_hash_table_remove(fragments->assemblies, &assembly->key);
    g_free(assembly);
}

static void settle(BbFragments *fragments, Assembly *assembly, gint64 now_ns)
{
    release_bytes(fragments, assembly);
    g_queue_unlink(&fragments->open, &assembly->link);
    assembly->is_settled = true;
    assembly->since_ns = now_ns;
    g_queue_push_tail_link(&fragments->settled, &assembly->link);
}

void bb_fragments_finish(BbFragments *fragments)
{
    while (fragments->open.head)
        forget(fragments, fragments->open.head->data);
}

void bb_fragments_free(BbFragments *fragments)
{
    if (!fragments)
        return;
    bb_fragments_finish(fragments);
    while (fragments->settled.head)
        forget(fragments, fragments->settled.head->data);
    g_hash_table_unref(fragments->assemblies);
    g_byte_array_unref(fragments->lent);
    g_free(fragments);
}

gsize bb_fragments_bytes(const BbFragments *fragments)
{
    return fragments->bytes;
}

// Time runs backwards where captures are read in another order than they were made: a packet that
// lies far ahead is as little of use as one far behind.
static bool is_over(const Assembly *assembly, gint64 now_ns)
{
    gint64 limit_ns = assembly->is_settled ? BB_FRAGMENT_SETTLED_NS : BB_FRAGMENT_TIMEOUT_NS;
    guint64 age_ns = assembly->since_ns < now_ns ? (guint64)now_ns - (guint64)assembly->since_ns
                                                 : (guint64)assembly->since_ns - (guint64)now_ns;
    return age_ns > (guint64)limit_ns;
}

static void expire(BbFragments *fragments, GQueue *queue, gint64 now_ns)
{
    while (queue->head && is_over(queue->head->data, now_ns))
        forget(fragments, queue->head->data);
}

static void keep_limits(BbFragments *fragments)
{
    GQueue *open = &fragments->open;
    while (open->head &&
           (fragments->bytes > fragments->max_bytes || open->length > BB_FRAGMENT_PACKETS))
        forget(fragments, open->head->data);
    if (fragments->settled.length > BB_FRAGMENT_PACKETS)
        forget(fragments, fragments->settled.head->data);
}

static Assembly *assembly_for(BbFragments *fragments, const BbFragment *fragment)
{
    Key key = key_of(fragment);
    Assembly *assembly = g_hash_table_lookup(fragments->assemblies, &key);
    if (assembly && is_over(assembly, fragment->time_ns)) {
        forget(fragments, assembly);
        assembly = NULL;
    }
    return assembly ? assembly : assembly_new(fragments, &key, fragment->time_ns);
}

static const Piece *piece_at(const Assembly *assembly, guint index)
{
    return &g_array_index(assembly->pieces, Piece, index);
}

// Index of the first piece that begins at offset or after it.
static guint find_place(const Assembly *assembly, guint32 offset)
{
    guint low = 0, high = assembly->pieces->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (piece_at(assembly, middle)->offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Whether the fragment was seen before: mirrors show frames twice. The snap length may have cut one
// of the two more than the other.
static bool is_repeated(const Assembly *assembly, const BbFragment *fragment, guint place)
{
    if (place == assembly->pieces->len)
        return false;
    const Piece *piece = piece_at(assembly, place);
    guint32 end = fragment->offset + fragment->length;
    gsize common = MIN(piece->captured, fragment->captured);
    return piece->offset == fragment->offset && piece->length == fragment->length &&
           fragment->more == (end != assembly->total) &&
           (common == 0 || memcmp(assembly->bytes->data + piece->at, fragment->data, common) == 0);
}

static bool contradicts(const Assembly *assembly, const BbFragment *fragment, guint place)
{
    guint count = assembly->pieces->len;
    guint32 end = fragment->offset + fragment->length;
    if (assembly->total ? end > assembly->total || !fragment->more
                        : !fragment->more && place < count)
        return true;
    if (place < count && end > piece_at(assembly, place)->offset)
        return true;
    if (place == 0)
        return false;
    const Piece *before = piece_at(assembly, place - 1);
    return before->offset + before->length > fragment->offset;
}

static void insert(BbFragments *fragments, Assembly *assembly, const BbFragment *fragment,
                   guint place)
{
    Piece piece = {.offset = fragment->offset,
                   .length = fragment->length,
                   .captured = fragment->captured,
                   .at = assembly->bytes->len};
    g_array_insert_val(assembly->pieces, place, piece);
    if (fragment->captured)
        g_byte_array_append(assembly->bytes, fragment->data, fragment->captured);
    fragments->bytes += sizeof piece + fragment->captured;
    assembly->filled += fragment->length;
    assembly->last_ns = MAX(assembly->last_ns, fragment->time_ns);
    if (!fragment->more)
        assembly->total = fragment->offset + fragment->length;
    if (fragment->offset == 0) {
        assembly->protocol = fragment->protocol;
        assembly->time_ns = fragment->time_ns;
        assembly->place = fragment->place;
    }
}

// The packet's bytes up to the first one that is missing.
static GByteArray *join(const Assembly *assembly)
{
    GByteArray *bytes = g_byte_array_sized_new(assembly->total);
    for (guint i = 0; i < assembly->pieces->len; i++) {
        const Piece *piece = piece_at(assembly, i);
        if (piece->captured)
            g_byte_array_append(bytes, assembly->bytes->data + piece->at, piece->captured);
        if (piece->captured < piece->length)
            break;
    }
    return bytes;
}

static void complete(BbFragments *fragments, Assembly *assembly, const BbFragment *last,
                     BbFragment *whole)
{
    fragments->lent = join(assembly);
    *whole = *last;
    whole->offset = 0;
    whole->more = false;
    whole->protocol = assembly->protocol;
    whole->time_ns = assembly->time_ns;
    whole->last_ns = assembly->last_ns;
    whole->place = assembly->place;
    whole->data = fragments->lent->data;
    whole->captured = fragments->lent->len;
    whole->length = assembly->total;
    settle(fragments, assembly, last->time_ns);
    fragments->loss->count[BB_FRAGMENT_DONE]++;
}

static bool is_possible(const BbFragment *fragment)
{
    return fragment->length > 0 && fragment->offset <= PAYLOAD_MAX &&
           fragment->length <= PAYLOAD_MAX - fragment->offset && fragment->offset % 8 == 0 &&
           (!fragment->more || fragment->length % 8 == 0);
}

static bool add(BbFragments *fragments, const BbFragment *fragment, BbFragment *whole)
{
    Assembly *assembly = assembly_for(fragments, fragment);
    if (assembly->is_settled)
        return false;
    guint place = find_place(assembly, fragment->offset);
    if (is_repeated(assembly, fragment, place))
        return false;
    if (contradicts(assembly, fragment, place)) {
        settle(fragments, assembly, fragment->time_ns);
        fragments->loss->count[BB_FRAGMENT_BAD]++;
        return false;
    }
    insert(fragments, assembly, fragment, place);
    if (assembly->filled != assembly->total)
        return false;
    complete(fragments, assembly, fragment, whole);
    return true;
}

bool bb_fragments_push(BbFragments *fragments, const BbFragment *fragment, BbFragment *whole)
{
    fragments->loss->count[BB_FRAGMENTS]++;
    if (!is_possible(fragment)) {
        fragments->loss->count[BB_FRAGMENT_BAD]++;
        return false;
    }
    expire(fragments, &fragments->open, fragment->time_ns);
    expire(fragments, &fragments->settled, fragment->time_ns);
    GByteArray *lent_before = fragments->lent; // the fragment may lie in it
    bool done = add(fragments, fragment, whole);
    if (fragments->lent != lent_before)
        g_byte_array_unref(lent_before);
    keep_limits(fragments);
    return done;
}
