// SPDX-License-Identifier: Apache-2.0
// In: the blocks of a pcapng file. Out: frames with the time, link type and number of their
// interface. References are to draft-ietf-opsawg-pcapng.
#include "capture/sources/pcapng.h"

#include "capture/cursor.h"
#include "capture/sources/source_kind.h"

#define BLOCK_SECTION 0x0a0d0d0au // section 4.1; the same in both byte orders
#define BLOCK_INTERFACE 1u        // 4.2
#define BLOCK_PACKET 2u           // appendix A: obsolete
#define BLOCK_SIMPLE 3u           // 4.4
#define BLOCK_STATISTICS 5u       // 4.6
#define BLOCK_ENHANCED 6u         // 4.3
#define BLOCK_FRAME 12u           // type, length, and length again

#define OPTION_RESOLUTION 9     // of interfaces: if_tsresol
#define OPTION_OFFSET 14        // if_tsoffset
#define OPTION_DROPPED 4        // of packets: epb_dropcount
#define OPTION_IF_DROPPED 5     // of statistics: isb_ifdrop
#define OPTION_OS_DROPPED 7     // isb_osdrop
#define DROPPED_UNKNOWN 0xffffu // in an obsolete packet block

typedef struct {
    gint64 offset_s;                // added to its time stamps
    guint64 ticks_per_second;       // of its time stamps
    guint64 if_dropped, os_dropped; // as last told; totals
    guint64 packets_dropped;        // sum of what was told with packets
    guint64 dropped;                // counted: the larger of both
    guint32 snaplen;                // 0: no limit
    int link_type;
} Interface;

struct BbPcapng {
    FILE *file;
    BbLoss *loss;
    const char *reason;
    GByteArray *block;  // room for the block at hand
    GArray *interfaces; // of the section
    guint32 earlier;    // interfaces of sections before it
    gint64 last_ns;
    guint64 taken; // bytes
    bool has_section, big_endian;
};

// ---- fields -------------------------------------------------------------------------------------

static guint16 u16(const BbPcapng *p, BbCursor *c)
{
    return p->big_endian ? bb_cursor_be16(c) : bb_cursor_le16(c);
}

static guint32 u32(const BbPcapng *p, BbCursor *c)
{
    return p->big_endian ? bb_cursor_be32(c) : bb_cursor_le32(c);
}

static guint64 u64(const BbPcapng *p, BbCursor *c)
{
    guint64 first = u32(p, c), second = u32(p, c);
    return p->big_endian ? first << 32 | second : second << 32 | first;
}

// A stamp of a packet: high half first, in either byte order (4.3).
static guint64 stamp(const BbPcapng *p, BbCursor *c)
{
    guint64 high = u32(p, c);
    return high << 32 | u32(p, c);
}

// Takes an option off c (3.5). Returns its code, 0 at the end; *value is what it holds.
static guint16 next_option(const BbPcapng *p, BbCursor *c, BbCursor *value)
{
    guint16 code = u16(p, c), length = u16(p, c);
    const guint8 *data = bb_cursor_take(c, length);
    bb_cursor_skip(c, (4 - length % 4u) % 4u);
    *value = bb_cursor(data ? data : (const guint8 *)"", data ? length : 0);
    return data ? code : 0;
}

static bool bad(BbPcapng *p, const char *reason)
{
    p->reason = reason;
    return false;
}

// ---- time ---------------------------------------------------------------------------------------

// 4.2, if_tsresol: a power of ten or, with the highest bit, of two. 0 where it fits in no 64 bits.
static guint64 ticks_of(guint8 resolution)
{
    guint power = resolution & 0x7fu;
    if (resolution & 0x80u)
        return power < 64 ? G_GUINT64_CONSTANT(1) << power : 0;
    guint64 ticks = 1;
    for (guint i = 0; i < power; i++) {
        if (ticks > G_MAXUINT64 / 10)
            return 0;
        ticks *= 10;
    }
    return ticks;
}

// Nanoseconds of a part of a second. Where the product has no room, what is below a nanosecond goes
// first: there a second has more than 1.8e10 ticks.
static gint64 fraction_ns(guint64 part, guint64 ticks_per_second)
{
    const guint64 second_ns = G_GUINT64_CONSTANT(1000000000);
    while (ticks_per_second > G_MAXUINT64 / second_ns) {
        guint by = ticks_per_second % 10 == 0 ? 10 : 2;
        ticks_per_second /= by;
        part /= by;
    }
    return (gint64)(part * second_ns / ticks_per_second);
}

static gint64 time_of(const Interface *interface, guint64 ticks)
{
    guint64 whole = ticks / interface->ticks_per_second;
    gint64 seconds = (gint64)MIN(whole, (guint64)G_MAXINT64);
    if (__builtin_add_overflow(seconds, interface->offset_s, &seconds))
        seconds = interface->offset_s < 0 ? 0 : BB_SOURCE_SECONDS_MAX;
    seconds = CLAMP(seconds, 0, BB_SOURCE_SECONDS_MAX);
    return seconds * G_GINT64_CONSTANT(1000000000) +
           fraction_ns(ticks % interface->ticks_per_second, interface->ticks_per_second);
}

// ---- blocks -------------------------------------------------------------------------------------

// A section header decides the byte order, that of its own length too.
static bool read_section_order(BbPcapng *p, const guint8 magic[4])
{
    static const guint8 big[4] = {0x1a, 0x2b, 0x3c, 0x4d}, little[4] = {0x4d, 0x3c, 0x2b, 0x1a};
    p->big_endian = memcmp(magic, big, sizeof big) == 0;
    if (!p->big_endian && memcmp(magic, little, sizeof little) != 0)
        return bad(p, "a section header without its magic");
    p->has_section = true;
    p->earlier += p->interfaces->len;
    g_array_set_size(p->interfaces, 0);
    return true;
}

static bool read_bytes(BbPcapng *p, guint8 *out, gsize size)
{
    if (fread(out, 1, size, p->file) == size)
        return true;
    return bad(p, ferror(p->file) ? "the file cannot be read" : "truncated block");
}

// Type and length of a block from its first twelve bytes, the magic of a section header among them.
static bool read_head(BbPcapng *p, const guint8 head[BLOCK_FRAME], guint32 *type, guint32 *length)
{
    BbCursor c = bb_cursor(head, BLOCK_FRAME);
    *type = u32(p, &c);
    if (*type != BLOCK_SECTION && !p->has_section)
        return bad(p, "no section header");
    if (*type == BLOCK_SECTION && !read_section_order(p, head + 8))
        return false;
    *length = u32(p, &c);
    if (*length < BLOCK_FRAME || *length % 4 != 0 || *length > BB_PCAPNG_BLOCK_MAX)
        return bad(p, "a block of a length that cannot be");
    return true;
}

// Reads a block: its type, and its body, lent until the next. false: the end (no reason), or
// damage.
static bool read_block(BbPcapng *p, guint32 *type, BbCursor *body)
{
    guint8 head[BLOCK_FRAME]; // as long as the shortest block
    guint32 length = 0;
    gsize got = fread(head, 1, sizeof head, p->file);
    if (got == 0 && !ferror(p->file))
        return false;
    if (got < sizeof head)
        return bad(p, ferror(p->file) ? "the file cannot be read" : "truncated block");
    if (!read_head(p, head, type, &length))
        return false;
    // Body and second length; the first four bytes of both have been read.
    gsize size = length - 8;
    if (p->block->len < size)
        g_byte_array_set_size(p->block, (guint)size);
    guint8 *block = p->block->data;
    memcpy(block, head + 8, 4);
    if (!read_bytes(p, block + 4, size - 4))
        return false;
    BbCursor tail = bb_cursor(block + size - 4, 4);
    if (u32(p, &tail) != length)
        return bad(p, "the two lengths of a block differ");
    *body = bb_cursor(block, size - 4);
    p->taken += length;
    return true;
}

static bool take_interface(BbPcapng *p, BbCursor *c)
{
    Interface interface = {.ticks_per_second = 1000000, .link_type = u16(p, c)};
    bb_cursor_skip(c, 2);
    interface.snaplen = u32(p, c);
    if (!bb_cursor_ok(c))
        return bad(p, "a short interface description");
    BbCursor value;
    for (guint16 code; (code = next_option(p, c, &value)) != 0;)
        if (code == OPTION_RESOLUTION && value.left >= 1)
            interface.ticks_per_second = ticks_of(bb_cursor_u8(&value));
        else if (code == OPTION_OFFSET && value.left >= 8)
            interface.offset_s = (gint64)u64(p, &value);
    if (interface.ticks_per_second == 0)
        return bad(p, "an interface with a time resolution that cannot be");
    if (p->interfaces->len == BB_PCAPNG_INTERFACES)
        return bad(p, "too many interfaces");
    if (interface.link_type == 101) // LINKTYPE_RAW; the others that we can read are the same as DLT
        interface.link_type = DLT_RAW;
    g_array_append_val(p->interfaces, interface);
    return true;
}

static Interface *find_interface(BbPcapng *p, guint32 index)
{
    return index < p->interfaces->len ? &g_array_index(p->interfaces, Interface, index) : NULL;
}

// Writers tell drops with packets, at the end, or both: what exceeds that known so far is counted.
static void count_dropped(BbPcapng *p, Interface *interface, BbLossKind kind)
{
    guint64 told = MAX(interface->packets_dropped, interface->if_dropped + interface->os_dropped);
    if (told > interface->dropped)
        p->loss->count[kind] += told - interface->dropped;
    interface->dropped = MAX(interface->dropped, told);
}

static void note_total(BbPcapng *p, Interface *interface, guint64 *total, BbLossKind kind,
                       guint64 told)
{
    *total = MAX(*total, told);
    count_dropped(p, interface, kind);
}

// Totals since the capture began; the last block tells them all. What we cannot use we do not need.
static void take_statistics(BbPcapng *p, BbCursor *c)
{
    Interface *interface = find_interface(p, u32(p, c));
    bb_cursor_skip(c, 8);
    BbCursor value;
    for (guint16 code; interface && (code = next_option(p, c, &value)) != 0;)
        if (code == OPTION_IF_DROPPED && value.left >= 8)
            note_total(p, interface, &interface->if_dropped, BB_INTERFACE_DROPPED, u64(p, &value));
        else if (code == OPTION_OS_DROPPED && value.left >= 8)
            note_total(p, interface, &interface->os_dropped, BB_KERNEL_DROPPED, u64(p, &value));
}

// Drops since the packet before, by the interface or the system.
static void note_dropped(BbPcapng *p, Interface *interface, guint64 count)
{
    interface->packets_dropped += count;
    count_dropped(p, interface, BB_KERNEL_DROPPED);
}

static void note_dropped_before(BbPcapng *p, Interface *interface, guint16 count)
{
    if (count != DROPPED_UNKNOWN)
        note_dropped(p, interface, count);
}

static void take_packet_options(BbPcapng *p, Interface *interface, BbCursor *c)
{
    BbCursor value;
    for (guint16 code; (code = next_option(p, c, &value)) != 0;)
        if (code == OPTION_DROPPED && value.left >= 8)
            note_dropped(p, interface, u64(p, &value));
}

// The three kinds of packet blocks differ in their heads only.
static bool take_packet(BbPcapng *p, guint32 type, BbCursor *c, BbFrame *frame)
{
    guint32 index = type == BLOCK_ENHANCED ? u32(p, c) : type == BLOCK_PACKET ? u16(p, c) : 0;
    Interface *interface = find_interface(p, index);
    if (!interface)
        return bad(p, "a packet of an interface that was not described");
    if (type == BLOCK_PACKET)
        note_dropped_before(p, interface, u16(p, c));
    if (type != BLOCK_SIMPLE)
        p->last_ns = time_of(interface, stamp(p, c)); // a simple packet has no time: that before it
    guint32 captured = type == BLOCK_SIMPLE ? 0 : u32(p, c), length = u32(p, c);
    if (type == BLOCK_SIMPLE)
        captured = MIN(length, interface->snaplen ? interface->snaplen : G_MAXUINT32);
    if (type == BLOCK_SIMPLE && captured > c->left)
        captured = (guint32)c->left;
    const guint8 *data = bb_cursor_take(c, captured);
    if (!data)
        return bad(p, "a packet that is longer than its block");
    bb_cursor_skip(c, (4 - captured % 4u) % 4u);
    if (type == BLOCK_ENHANCED)
        take_packet_options(p, interface, c);
    captured = MIN(captured, (guint32)BB_SOURCE_SNAPLEN);
    *frame = (BbFrame){.time_ns = p->last_ns,
                       .data = data,
                       .captured = captured,
                       .length = MAX(length, captured),
                       .link_type = interface->link_type,
                       .interface = p->earlier + index};
    return true;
}

// ---- the contract -------------------------------------------------------------------------------

// Reads blocks until one gives a frame or, with frame NULL, an interface.
static BbPcapngStatus walk(BbPcapng *p, BbFrame *frame)
{
    guint32 type = 0;
    BbCursor c;
    while (!p->reason && read_block(p, &type, &c)) {
        if (type == BLOCK_INTERFACE) {
            if (take_interface(p, &c) && !frame)
                return BB_PCAPNG_END;
        } else if (type == BLOCK_STATISTICS) {
            take_statistics(p, &c);
        } else if (type == BLOCK_ENHANCED || type == BLOCK_SIMPLE || type == BLOCK_PACKET) {
            BbFrame ignored;
            if (take_packet(p, type, &c, frame ? frame : &ignored))
                return BB_PCAPNG_FRAME;
        }
    }
    return p->reason ? BB_PCAPNG_BAD : BB_PCAPNG_END;
}

BbPcapng *bb_pcapng_new(FILE *file, BbLoss *loss)
{
    BbPcapng *p = g_new0(BbPcapng, 1);
    p->file = file;
    p->loss = loss;
    p->block = g_byte_array_new();
    p->interfaces = g_array_new(FALSE, FALSE, sizeof(Interface));
    (void)walk(p, NULL); // no packet can come before the first interface
    return p;
}

void bb_pcapng_free(BbPcapng *p)
{
    if (!p)
        return;
    fclose(p->file);
    g_byte_array_unref(p->block);
    g_array_unref(p->interfaces);
    g_free(p);
}

BbPcapngStatus bb_pcapng_next(BbPcapng *p, BbFrame *frame)
{
    return walk(p, frame);
}

int bb_pcapng_first_link(const BbPcapng *p)
{
    return p->interfaces->len > 0 ? g_array_index(p->interfaces, Interface, 0).link_type : -1;
}

guint bb_pcapng_interfaces(const BbPcapng *p)
{
    return p->interfaces->len;
}

guint64 bb_pcapng_taken(const BbPcapng *p)
{
    return p->taken;
}

const char *bb_pcapng_reason(const BbPcapng *p)
{
    return p->reason ? p->reason : "";
}
