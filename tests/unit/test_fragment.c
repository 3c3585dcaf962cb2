// SPDX-License-Identifier: Apache-2.0
// Fragments: repetitions, contradictions, limits, time; random ones against a slow twin.
#include "capture/layers/fragment.h"
#include "tests/unit/test.h"

#define SECOND G_GINT64_CONSTANT(1000000000)
#define NOW_NS (G_GINT64_CONSTANT(1047680084) * SECOND)

typedef struct Run {
    BbLoss loss;
    BbFragments *fragments;
    BbFragment whole;
    gint64 now_ns;
} Run;

// Bytes of the packets: each place differs from its neighbours. Filled by run_init.
static guint8 text[1 << 17];

static void fill_text(void)
{
    for (gsize i = 0; i < sizeof text; i++)
        text[i] = (guint8)(i * 31 + (i >> 8));
}

static void run_init(Run *run, gsize max_bytes)
{
    fill_text();
    memset(run, 0, sizeof *run);
    run->fragments = bb_fragments_new(&run->loss, max_bytes);
    run->now_ns = NOW_NS;
}

static void run_clear(Run *run)
{
    bb_fragments_free(run->fragments);
}

static guint64 count(const Run *run, BbLossKind kind)
{
    return run->loss.count[kind];
}

static BbFragment fragment(guint32 id, guint32 offset, guint32 length, bool more)
{
    static const guint8 source[] = {10, 0, 0, 1}, target[] = {10, 0, 0, 2};
    return (BbFragment){.source = bb_address_v4(source),
                        .target = bb_address_v4(target),
                        .id = id,
                        .protocol = 17,
                        .offset = offset,
                        .more = more,
                        .data = text + offset,
                        .captured = length,
                        .length = length};
}

// The data in memory of its own, so that the sanitizer sees a read past it or after the call.
static bool push(Run *run, BbFragment f)
{
    g_autofree guint8 *copy = g_memdup2(f.data, f.captured);
    f.data = copy;
    if (f.time_ns == 0)
        f.time_ns = run->now_ns;
    return bb_fragments_push(run->fragments, &f, &run->whole);
}

static void check_whole(const Run *run, guint32 length)
{
    ck_assert_uint_eq(run->whole.length, length);
    ck_assert_uint_eq(run->whole.captured, length);
    ck_assert_uint_eq(run->whole.offset, 0);
    ck_assert(!run->whole.more);
    ck_assert_mem_eq(run->whole.data, text, length);
}

START_TEST(in_order)
{
    Run run;
    run_init(&run, 1 << 20);
    ck_assert(!push(&run, fragment(1, 0, 1480, true)));
    ck_assert(!push(&run, fragment(1, 1480, 1480, true)));
    run.now_ns++;
    ck_assert(push(&run, fragment(1, 2960, 41, false)));
    check_whole(&run, 3001);
    ck_assert_uint_eq(run.whole.id, 1);
    ck_assert_uint_eq(run.whole.protocol, 17);
    ck_assert_int_eq(run.whole.time_ns, NOW_NS);
    ck_assert_uint_eq(count(&run, BB_FRAGMENTS), 3);
    ck_assert_uint_eq(count(&run, BB_FRAGMENT_DONE), 1);
    ck_assert_uint_eq(bb_fragments_bytes(run.fragments), 0);
    bb_fragments_finish(run.fragments);
    ck_assert_uint_eq(count(&run, BB_FRAGMENT_LOST), 0);
    ck_assert_uint_eq(count(&run, BB_FRAGMENT_BAD), 0);
    run_clear(&run);
}
END_TEST

// The time is that of the first byte, also where it comes last.
START_TEST(backwards)
{
    Run run;
    run_init(&run, 1 << 20);
    ck_assert(!push(&run, fragment(1, 16, 5, false)));
    run.now_ns += 5;
    ck_assert(!push(&run, fragment(1, 8, 8, true)));
    run.now_ns += 5;
    ck_assert(push(&run, fragment(1, 0, 8, true)));
    check_whole(&run, 21);
    ck_assert_int_eq(run.whole.time_ns, NOW_NS + 10);
    run_clear(&run);
}
END_TEST

// Everything in the key tells packets apart; of IPv6 the protocol does not, and offset 0 says it.
START_TEST(keys)
{
    Run run;
    run_init(&run, 1 << 20);
    ck_assert(!push(&run, fragment(1, 0, 8, true)));
    BbFragment last = fragment(1, 8, 8, false);
    BbFragment other = last;
    other.id = 2;
    ck_assert(!push(&run, other));
    other = last;
    other.protocol = 6;
    ck_assert(!push(&run, other));
    other = last;
    other.source.bytes[15]++;
    ck_assert(!push(&run, other));
    other = last;
    other.target.bytes[15]++;
    ck_assert(!push(&run, other));
    other = last;
    other.vlan = 10;
    ck_assert(!push(&run, other));
    other = last;
    other.has_vni = true;
    ck_assert(!push(&run, other));
    other.vni = 5000;
    ck_assert(!push(&run, other));
    ck_assert(push(&run, last));

    BbFragment first = fragment(9, 0, 8, true);
    last = fragment(9, 8, 8, false);
    first.source.bytes[0] = last.source.bytes[0] = 0x20;
    first.target.bytes[0] = last.target.bytes[0] = 0x20;
    last.protocol = 60;
    ck_assert(!push(&run, last));
    ck_assert(push(&run, first));
    ck_assert_uint_eq(run.whole.protocol, 17);
    first.id = last.id = 10;
    ck_assert(!push(&run, first));
    ck_assert(push(&run, last));
    ck_assert_uint_eq(run.whole.protocol, 17);
    bb_fragments_finish(run.fragments);
    ck_assert_uint_eq(count(&run, BB_FRAGMENT_LOST), 7);
    run_clear(&run);
}
END_TEST

// A mirror shows every frame twice, in any mix: one packet comes of it, and nothing is lost.
START_TEST(everything_twice)
{
    static const guint8 orders[][4] = {{0, 0, 1, 1}, {0, 1, 0, 1}, {0, 1, 1, 0},
                                       {1, 1, 0, 0}, {1, 0, 1, 0}, {1, 0, 0, 1}};
    Run run;
    run_init(&run, 1 << 20);
    for (guint32 id = 0; id < G_N_ELEMENTS(orders); id++) {
        guint packets = 0;
        for (guint i = 0; i < 4; i++)
            packets +=
                push(&run, orders[id][i] ? fragment(id, 16, 4, false) : fragment(id, 0, 16, true));
        ck_assert_uint_eq(packets, 1);
        check_whole(&run, 20);
    }
    bb_fragments_finish(run.fragments);
    ck_assert_uint_eq(count(&run, BB_FRAGMENT_DONE), G_N_ELEMENTS(orders));
    ck_assert_uint_eq(count(&run, BB_FRAGMENT_LOST), 0);
    ck_assert_uint_eq(count(&run, BB_FRAGMENT_BAD), 0);
    run_clear(&run);
}
END_TEST

// An id comes again: soon it is a repetition, later another packet.
START_TEST(same_id_again)
{
    Run run;
    run_init(&run, 1 << 20);
    ck_assert(!push(&run, fragment(1, 0, 8, true)));
    ck_assert(push(&run, fragment(1, 8, 8, false)));
    run.now_ns += BB_FRAGMENT_SETTLED_NS;
    ck_assert(!push(&run, fragment(1, 0, 8, true)));
    ck_assert(!push(&run, fragment(1, 8, 8, false)));
    run.now_ns++;
    ck_assert(!push(&run, fragment(1, 0, 8, true)));
    ck_assert(push(&run, fragment(1, 8, 8, false)));
    ck_assert_uint_eq(count(&run, BB_FRAGMENT_DONE), 2);
    run_clear(&run);
}
END_TEST

// Each pair contradicts itself in another way; the packet is given up, whatever follows.
typedef struct Pair {
    guint32 offset, length;
    bool more;
    guint32 offset2, length2;
    bool more2;
} Pair;

static const Pair contradictions[] = {
    {0, 16, true, 8, 16, true},    // begins in the one before
    {8, 16, true, 0, 16, true},    // ends in the one behind
    {0, 32, true, 8, 8, true},     // inside
    {8, 8, true, 0, 32, true},     // around
    {0, 16, true, 0, 8, true},     // same begin, shorter
    {0, 8, true, 0, 16, true},     // same begin, longer
    {0, 16, true, 8, 8, true},     // same end
    {16, 8, false, 24, 8, true},   // behind the last
    {16, 8, false, 24, 8, false},  // two last ones
    {16, 8, false, 8, 5, false},   // a last one inside
    {16, 8, false, 16, 8, true},   // last and not last
    {16, 8, true, 16, 8, false},   // not last and last
    {16, 8, true, 0, 8, false},    // the last one before another
    {16, 8, true, 8, 9, false},    // the last one ends in another
    {16, 16, false, 16, 8, false}, // two ends
    {16, 8, false, 16, 16, false}, // two ends
};

static void check_contradiction(const Pair *pair)
{
    Run run;
    run_init(&run, 1 << 20);
    ck_assert(!push(&run, fragment(1, pair->offset, pair->length, pair->more)));
    ck_assert_uint_eq(count(&run, BB_FRAGMENT_BAD), 0);
    ck_assert(!push(&run, fragment(1, pair->offset2, pair->length2, pair->more2)));
    ck_assert_uint_eq(count(&run, BB_FRAGMENT_BAD), 1);
    ck_assert_uint_eq(bb_fragments_bytes(run.fragments), 0);
    for (guint32 offset = 0; offset < 64; offset += 8)
        ck_assert(!push(&run, fragment(1, offset, 8, offset < 56)));
    ck_assert_uint_eq(count(&run, BB_FRAGMENT_BAD), 1);
    bb_fragments_finish(run.fragments);
    ck_assert_uint_eq(count(&run, BB_FRAGMENT_LOST), 0);
    run_clear(&run);
}

START_TEST(contradiction_of_each_kind)
{
    for (guint i = 0; i < G_N_ELEMENTS(contradictions); i++)
        check_contradiction(&contradictions[i]);
}
END_TEST

// The same place with other bytes is no repetition.
START_TEST(other_bytes)
{
    Run run;
    run_init(&run, 1 << 20);
    BbFragment first = fragment(1, 0, 8, true);
    ck_assert(!push(&run, first));
    first.data = text + 1;
    ck_assert(!push(&run, first));
    ck_assert_uint_eq(count(&run, BB_FRAGMENT_BAD), 1);
    ck_assert(!push(&run, fragment(1, 8, 8, false)));
    ck_assert_uint_eq(count(&run, BB_FRAGMENT_DONE), 0);
    run_clear(&run);
}
END_TEST

// Impossible alone: refused without harm to the packet it claims to be of.
START_TEST(impossible)
{
    Run run;
    run_init(&run, 1 << 20);
    ck_assert(!push(&run, fragment(1, 0, 8, true)));
    ck_assert(!push(&run, fragment(1, 8, 0, false)));     // empty
    ck_assert(!push(&run, fragment(1, 8, 7, true)));      // not the last, and no multiple of 8
    ck_assert(!push(&run, fragment(1, 12, 8, true)));     // no place on the wire is so
    ck_assert(!push(&run, fragment(1, 65528, 8, false))); // 65536 bytes
    ck_assert(!push(&run, fragment(1, 8, 65528, false))); // as well
    ck_assert(!push(&run, fragment(1, 65536, 8, false)));
    BbFragment huge = fragment(1, 8, 8, false);
    huge.offset = G_MAXUINT32 - 7;
    ck_assert(!push(&run, huge));
    huge.offset = 8;
    huge.length = G_MAXUINT32;
    ck_assert(!push(&run, huge));
    ck_assert_uint_eq(count(&run, BB_FRAGMENT_BAD), 8);
    ck_assert(push(&run, fragment(1, 8, 65527, false)));
    check_whole(&run, 65535);
    ck_assert_uint_eq(count(&run, BB_FRAGMENTS), 10);
    run_clear(&run);
}
END_TEST

// The packet ends where the first byte is missing, whatever is there behind it.
START_TEST(cut_by_the_snap_length)
{
    Run run;
    run_init(&run, 1 << 20);
    for (guint32 cut = 0; cut < 16; cut++) {
        BbFragment middle = fragment(cut, 16, 16, true);
        middle.captured = cut;
        ck_assert(!push(&run, fragment(cut, 32, 8, false)));
        ck_assert(!push(&run, middle));
        ck_assert(push(&run, fragment(cut, 0, 16, true)));
        ck_assert_uint_eq(run.whole.length, 40);
        ck_assert_uint_eq(run.whole.captured, 16 + cut);
        ck_assert_mem_eq(run.whole.data, text, 16 + cut);
    }
    BbFragment nothing = fragment(99, 0, 16, true);
    nothing.captured = 0;
    ck_assert(!push(&run, nothing));
    nothing = fragment(99, 16, 16, false);
    nothing.captured = 0;
    ck_assert(push(&run, nothing));
    ck_assert_uint_eq(run.whole.length, 32);
    ck_assert_uint_eq(run.whole.captured, 0);
    run_clear(&run);
}
END_TEST

// Repeated with more or less of it cut: no contradiction.
START_TEST(cut_and_repeated)
{
    Run run;
    run_init(&run, 1 << 20);
    BbFragment first = fragment(1, 0, 16, true);
    ck_assert(!push(&run, first));
    first.captured = 3;
    ck_assert(!push(&run, first));
    first.captured = 0;
    ck_assert(!push(&run, first));
    ck_assert(push(&run, fragment(1, 16, 16, false)));
    check_whole(&run, 32);
    ck_assert_uint_eq(count(&run, BB_FRAGMENT_BAD), 0);
    run_clear(&run);
}
END_TEST

START_TEST(timeout)
{
    Run run;
    run_init(&run, 1 << 20);
    ck_assert(!push(&run, fragment(1, 0, 8, true)));
    run.now_ns += BB_FRAGMENT_TIMEOUT_NS;
    ck_assert(push(&run, fragment(1, 8, 8, false))); // just in time
    ck_assert(!push(&run, fragment(2, 0, 8, true)));
    run.now_ns += BB_FRAGMENT_TIMEOUT_NS + 1;
    ck_assert(!push(&run, fragment(2, 8, 8, false))); // too late: begins another packet
    ck_assert_uint_eq(count(&run, BB_FRAGMENT_LOST), 1);
    ck_assert(push(&run, fragment(2, 0, 8, true)));
    ck_assert(!push(&run, fragment(3, 0, 8, true)));
    run.now_ns += BB_FRAGMENT_TIMEOUT_NS + 1;
    ck_assert(!push(&run, fragment(4, 0, 8, true))); // time passes for the others, too
    ck_assert_uint_eq(count(&run, BB_FRAGMENT_LOST), 2);
    run_clear(&run);
}
END_TEST

// Captures read in another order than they were made; stamps at the ends of time.
START_TEST(time_runs_backwards)
{
    Run run;
    run_init(&run, 1 << 20);
    ck_assert(!push(&run, fragment(1, 0, 8, true)));
    run.now_ns -= SECOND;
    ck_assert(push(&run, fragment(1, 8, 8, false)));
    ck_assert(!push(&run, fragment(2, 0, 8, true)));
    run.now_ns -= BB_FRAGMENT_TIMEOUT_NS + 1;
    ck_assert(!push(&run, fragment(2, 8, 8, false)));
    ck_assert_uint_eq(count(&run, BB_FRAGMENT_LOST), 1);
    run.now_ns = G_MAXINT64;
    ck_assert(!push(&run, fragment(3, 0, 8, true)));
    run.now_ns = G_MININT64;
    ck_assert(!push(&run, fragment(3, 8, 8, false)));
    ck_assert_uint_eq(count(&run, BB_FRAGMENT_LOST), 3);
    run_clear(&run);
}
END_TEST

START_TEST(bytes_limit)
{
    Run run;
    gsize limit = 10000;
    run_init(&run, limit);
    for (guint32 id = 0; id < 100; id++) {
        ck_assert(!push(&run, fragment(id, 0, 1024, true)));
        ck_assert_uint_le(bb_fragments_bytes(run.fragments), limit);
    }
    guint64 lost = count(&run, BB_FRAGMENT_LOST);
    ck_assert_uint_ge(lost, 91);
    ck_assert_uint_le(lost, 95);
    ck_assert(push(&run, fragment(99, 1024, 8, false))); // the youngest are there
    ck_assert(!push(&run, fragment(0, 1024, 8, false))); // the oldest went first
    ck_assert_uint_eq(count(&run, BB_FRAGMENT_DONE), 1);
    bb_fragments_finish(run.fragments);
    ck_assert_uint_eq(count(&run, BB_FRAGMENT_LOST) + count(&run, BB_FRAGMENT_DONE), 101);
    ck_assert_uint_eq(bb_fragments_bytes(run.fragments), 0);
    run_clear(&run);
}
END_TEST

// A limit too small for one fragment: nothing stays, nothing breaks.
START_TEST(no_room_at_all)
{
    Run run;
    run_init(&run, 0);
    ck_assert(!push(&run, fragment(1, 0, 1024, true)));
    ck_assert(!push(&run, fragment(1, 1024, 8, false)));
    ck_assert_uint_eq(count(&run, BB_FRAGMENT_LOST), 2);
    ck_assert_uint_eq(bb_fragments_bytes(run.fragments), 0);
    run_clear(&run);
}
END_TEST

START_TEST(packets_limit)
{
    Run run;
    run_init(&run, G_MAXSIZE);
    for (guint32 id = 0; id < BB_FRAGMENT_PACKETS; id++)
        ck_assert(!push(&run, fragment(id, 0, 8, true)));
    ck_assert_uint_eq(count(&run, BB_FRAGMENT_LOST), 0);
    ck_assert(!push(&run, fragment(BB_FRAGMENT_PACKETS, 0, 8, true)));
    ck_assert_uint_eq(count(&run, BB_FRAGMENT_LOST), 1);
    ck_assert(!push(&run, fragment(0, 8, 8, false))); // pushes 1 out
    ck_assert(!push(&run, fragment(1, 8, 8, false))); // pushes 2 out
    for (guint32 id = 3; id < BB_FRAGMENT_PACKETS; id++)
        ck_assert(push(&run, fragment(id, 8, 8, false)));
    // More settled packets than are remembered: the first of them are new again.
    for (guint32 id = 10000; id < 10000 + BB_FRAGMENT_PACKETS; id++) {
        ck_assert(!push(&run, fragment(id, 0, 8, true)));
        ck_assert(push(&run, fragment(id, 8, 8, false)));
    }
    ck_assert(!push(&run, fragment(3, 0, 8, true)));
    ck_assert(push(&run, fragment(3, 8, 8, false)));
    ck_assert_uint_eq(count(&run, BB_FRAGMENT_LOST), 3);
    run_clear(&run);
}
END_TEST

// A packet put together may itself hold a fragment (IP in IP).
START_TEST(fragment_in_a_packet_lent)
{
    Run run;
    run_init(&run, 1 << 20);
    ck_assert(!push(&run, fragment(1, 0, 8, true)));
    ck_assert(push(&run, fragment(1, 8, 8, false)));
    BbFragment inner = run.whole;
    inner.id = 2;
    inner.more = true;
    ck_assert(!bb_fragments_push(run.fragments, &inner, &run.whole));
    ck_assert(push(&run, fragment(2, 16, 8, false)));
    check_whole(&run, 24);
    // One that completes a packet while it lies in the packet lent before.
    ck_assert(!push(&run, fragment(3, 0, 8, true)));
    ck_assert(!push(&run, fragment(4, 8, 16, false)));
    ck_assert(push(&run, fragment(4, 0, 8, true)));
    inner = run.whole;
    inner.id = 3;
    inner.offset = 8;
    inner.data += 8;
    inner.captured = inner.length = 16;
    ck_assert(bb_fragments_push(run.fragments, &inner, &run.whole));
    check_whole(&run, 24);
    run_clear(&run);
}
END_TEST

// ---- the slow twin ----------------------------------------------------------------------------

// One packet in 64 KiB with a map of what is there. Fragments are remembered as they came, to tell
// repetitions; nothing is sorted or searched.
typedef struct Twin {
    guint8 bytes[65536];
    bool filled[65536], missing[65536]; // missing: on the wire, not captured
    BbFragment seen[256];
    guint n_seen;
    gint64 first_ns;
    bool settled;
} Twin;

typedef enum { TWIN_WAITS, TWIN_WHOLE, TWIN_BAD } TwinVerdict;

static bool twin_repeated(const Twin *twin, const BbFragment *f)
{
    for (guint i = 0; i < twin->n_seen; i++) {
        const BbFragment *seen = &twin->seen[i];
        if (seen->offset == f->offset && seen->length == f->length && seen->more == f->more)
            return memcmp(seen->data, f->data, MIN(seen->captured, f->captured)) == 0;
    }
    return false;
}

static bool twin_contradicts(const Twin *twin, const BbFragment *f)
{
    guint32 end = f->offset + f->length;
    for (guint32 i = f->offset; i < end; i++)
        if (twin->filled[i])
            return true;
    for (guint i = 0; i < twin->n_seen; i++) {
        const BbFragment *seen = &twin->seen[i];
        guint32 seen_end = seen->offset + seen->length;
        if ((!seen->more && (!f->more || end > seen_end)) || (!f->more && seen_end > end))
            return true;
    }
    return false;
}

static bool twin_is_whole(const Twin *twin, guint32 *length)
{
    *length = 0;
    for (guint i = 0; i < twin->n_seen; i++)
        if (!twin->seen[i].more)
            *length = twin->seen[i].offset + twin->seen[i].length;
    for (guint32 i = 0; i < *length; i++)
        if (!twin->filled[i])
            return false;
    return *length > 0;
}

static TwinVerdict twin_push(Twin *twin, const BbFragment *f)
{
    if (twin->settled || twin_repeated(twin, f))
        return TWIN_WAITS;
    if (twin_contradicts(twin, f)) {
        twin->settled = true;
        return TWIN_BAD;
    }
    twin->seen[twin->n_seen++] = *f;
    for (guint32 i = 0; i < f->length; i++) {
        twin->filled[f->offset + i] = true;
        twin->missing[f->offset + i] = i >= f->captured;
        if (i < f->captured)
            twin->bytes[f->offset + i] = f->data[i];
    }
    if (f->offset == 0)
        twin->first_ns = f->time_ns;
    guint32 length;
    twin->settled = twin_is_whole(twin, &length);
    return twin->settled ? TWIN_WHOLE : TWIN_WAITS;
}

static void twin_compare(const Twin *twin, const BbFragment *whole)
{
    guint32 length, captured = 0;
    ck_assert(twin_is_whole(twin, &length));
    while (captured < length && !twin->missing[captured])
        captured++;
    ck_assert_uint_eq(whole->length, length);
    ck_assert_uint_eq(whole->captured, captured);
    ck_assert_int_eq(whole->time_ns, twin->first_ns);
    ck_assert_mem_eq(whole->data, twin->bytes, captured);
}

// A packet cut at random into fragments, shuffled; now and then one is repeated, cut by the snap
// length, shifted, resized or altered.
static GArray *random_fragments(GRand *rand)
{
    GArray *list = g_array_new(FALSE, FALSE, sizeof(BbFragment));
    guint32 total = (guint32)g_rand_int_range(rand, 9, g_rand_int_range(rand, 0, 8) ? 400 : 65536);
    guint32 step = MAX(8, total / 20 / 8 * 8);
    for (guint32 offset = 0; offset < total;) {
        guint32 length = step * (guint32)g_rand_int_range(rand, 1, 4);
        bool more = offset + length < total;
        BbFragment f = fragment(1, offset, more ? length : total - offset, more);
        g_array_append_val(list, f);
        offset += length;
    }
    for (gint changes = g_rand_int_range(rand, 0, 4); changes > 0; changes--) {
        guint at = (guint)g_rand_int_range(rand, 0, (gint32)list->len);
        BbFragment f = g_array_index(list, BbFragment, at);
        switch (g_rand_int_range(rand, 0, 8)) {
        case 0:
            f.length = f.captured = f.length + 8;
            break;
        case 1:
            f.offset += 8;
            break;
        case 2:
            f.data++;
            break;
        case 3:
            f.more = !f.more;
            break;
        default:
            f.captured = (guint32)g_rand_int_range(rand, 0, (gint32)f.length + 1);
            break;
        }
        if (g_rand_int_range(rand, 0, 3) == 0)
            g_array_index(list, BbFragment, at) = f;
        else
            g_array_append_val(list, f);
    }
    for (guint i = list->len; i > 1; i--) {
        guint j = (guint)g_rand_int_range(rand, 0, (gint32)i);
        BbFragment swapped = g_array_index(list, BbFragment, i - 1);
        g_array_index(list, BbFragment, i - 1) = g_array_index(list, BbFragment, j);
        g_array_index(list, BbFragment, j) = swapped;
    }
    return list;
}

START_TEST(same_as_the_slow_twin)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("same_as_the_slow_twin"));
    guint verdicts[3] = {0};
    Run run;
    run_init(&run, 1 << 20);
    g_autofree Twin *twin = g_new(Twin, 1);
    for (guint32 id = 0; id < 4000; id++) {
        memset(twin, 0, sizeof *twin);
        g_autoptr(GArray) list = random_fragments(rand);
        for (guint i = 0; i < list->len; i++) {
            BbFragment f = g_array_index(list, BbFragment, i);
            f.id = id;
            f.time_ns = NOW_NS + id * 1000 + i;
            if (f.offset + f.length > 65535 || (f.more && f.length % 8 != 0))
                continue; // refused alone: another test
            guint64 bad = count(&run, BB_FRAGMENT_BAD);
            bool done = push(&run, f);
            TwinVerdict verdict = twin_push(twin, &f);
            ck_assert_int_eq(done, verdict == TWIN_WHOLE);
            ck_assert_uint_eq(count(&run, BB_FRAGMENT_BAD) - bad, verdict == TWIN_BAD);
            verdicts[verdict]++;
            if (done)
                twin_compare(twin, &run.whole);
        }
    }
    ck_assert_uint_gt(verdicts[TWIN_WHOLE], 1000);
    ck_assert_uint_gt(verdicts[TWIN_BAD], 200);
    bb_fragments_finish(run.fragments);
    ck_assert_uint_eq(bb_fragments_bytes(run.fragments), 0);
    run_clear(&run);
}
END_TEST

TEST_MAIN("fragment", in_order, backwards, keys, everything_twice, same_id_again,
          contradiction_of_each_kind, other_bytes, impossible, cut_by_the_snap_length,
          cut_and_repeated, timeout, time_runs_backwards, bytes_limit, no_room_at_all,
          packets_limit, fragment_in_a_packet_lent, same_as_the_slow_twin)
