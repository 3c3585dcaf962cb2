// SPDX-License-Identifier: Apache-2.0
// In: the bytes of a classic pcap file. Out: its frames, in place.
#include "capture/sources/pcap_records.h"

#include "capture/cursor.h"
#include "capture/sources/source.h"

#define BUFFER_BYTES ((gsize)512 * 1024)
#define READ_BYTES ((gsize)128 * 1024) // at once: what was read is still in the cache when decoded
#define RECORD_HEAD 16u

struct BbPcapRecords {
    BbInput *input;
    guint8 *buffer; // left bytes from at on are read and not taken
    gsize at, left;
    gint64 unit_ns; // of the second field of a time stamp
    int link;
    bool big_endian;
    char *reason;
};

static guint32 read32(BbCursor *c, bool big_endian)
{
    return big_endian ? bb_cursor_be32(c) : bb_cursor_le32(c);
}

#define LINKTYPE_RAW 101
#define DLT_RAW_HERE 12 // the number that libpcap's filters know it by; others that we read agree

typedef struct Head {
    bool big_endian, nanoseconds;
    guint32 snaplen, link;
} Head;

static bool parse_head(const guint8 *bytes, gsize length, Head *head)
{
    static const struct {
        guint32 magic; // as little-endian bytes give it
        bool big_endian, nanoseconds;
    } forms[] = {
        {0xa1b2c3d4, false, false},
        {0xa1b23c4d, false, true},
        {0xd4c3b2a1, true, false},
        {0x4d3cb2a1, true, true},
    };
    BbCursor c = bb_cursor(bytes, length);
    guint32 magic = bb_cursor_le32(&c);
    for (guint i = 0; i < G_N_ELEMENTS(forms); i++) {
        if (forms[i].magic != magic)
            continue;
        bool big = forms[i].big_endian;
        guint16 major = big ? bb_cursor_be16(&c) : bb_cursor_le16(&c);
        guint16 minor = big ? bb_cursor_be16(&c) : bb_cursor_le16(&c);
        bb_cursor_skip(&c, 8); // time zone, accuracy
        *head = (Head){.big_endian = big, .nanoseconds = forms[i].nanoseconds};
        head->snaplen = read32(&c, big);
        // The upper bits tell of a frame check sequence, which the layers find by the lengths.
        head->link = read32(&c, big) & 0xffff;
        if (head->link == LINKTYPE_RAW)
            head->link = DLT_RAW_HERE;
        return bb_cursor_ok(&c) && major == 2 && minor == 4 && head->snaplen <= BB_SOURCE_SNAPLEN;
    }
    return false;
}

bool bb_pcap_records_match(const guint8 *head, gsize length)
{
    Head ignored;
    return parse_head(head, length, &ignored);
}

BbPcapRecords *bb_pcap_records_new(BbInput *input)
{
    guint8 bytes[BB_PCAP_HEAD];
    Head head = {0};
    BbPcapRecords *records = g_new0(BbPcapRecords, 1);
    records->input = input;
    records->buffer = g_malloc(BUFFER_BYTES);
    gssize got = bb_input_read(input, bytes, sizeof bytes, NULL);
    bool matched = parse_head(bytes, (gsize)MAX(got, 0), &head);
    g_assert(matched);
    records->big_endian = head.big_endian;
    records->unit_ns = head.nanoseconds ? 1 : 1000;
    records->link = (int)head.link;
    return records;
}

void bb_pcap_records_free(BbPcapRecords *records)
{
    if (!records)
        return;
    bb_input_free(records->input);
    g_free(records->buffer);
    g_free(records->reason);
    g_free(records);
}

static bool read_more(BbPcapRecords *records, gsize wanted, bool *ended)
{
    memmove(records->buffer, records->buffer + records->at, records->left);
    records->at = 0;
    while (records->left < wanted) {
        g_autoptr(GError) error = NULL;
        gsize most = MIN(MAX(READ_BYTES, wanted - records->left), BUFFER_BYTES - records->left);
        gssize got = bb_input_some(records->input, records->buffer + records->left, most, &error);
        if (got < 0)
            records->reason = g_strdup(error->message);
        *ended = got == 0;
        if (got <= 0)
            return false;
        records->left += (gsize)got;
    }
    return true;
}

// Makes at least `wanted` bytes ready. Returns false when there are fewer; *ended says whether the
// file simply ended, else the reason is set.
static inline bool make_ready(BbPcapRecords *records, gsize wanted, bool *ended)
{
    return G_LIKELY(records->left >= wanted) || read_more(records, wanted, ended);
}

static BbPcapStatus end(BbPcapRecords *records, bool ended)
{
    if (ended && records->left == 0 && !bb_input_damage(records->input))
        return BB_PCAP_END;
    if (!records->reason && bb_input_damage(records->input))
        records->reason = g_strdup(bb_input_damage(records->input));
    if (!records->reason)
        records->reason =
            g_strdup_printf("truncated after %" G_GSIZE_FORMAT " bytes of it", records->left);
    return BB_PCAP_BAD;
}

// The four numbers before a frame.
static inline void read_numbers(const guint8 *head, bool big_endian, guint32 numbers[4])
{
    BbCursor c = bb_cursor(head, RECORD_HEAD);
    for (guint i = 0; i < 4; i++)
        numbers[i] = big_endian ? bb_cursor_be32(&c) : bb_cursor_le32(&c);
}

BbPcapStatus bb_pcap_records_next(BbPcapRecords *records, BbFrame *frame)
{
    bool ended = false;
    if (!make_ready(records, RECORD_HEAD, &ended))
        return end(records, ended);
    guint32 numbers[4]; // seconds, fraction of one, bytes captured, bytes on the wire
    read_numbers(records->buffer + records->at, records->big_endian, numbers);
    guint32 captured = numbers[2];
    if (captured > BB_SOURCE_SNAPLEN) {
        records->reason =
            g_strdup_printf("it claims to hold %u bytes, more than any packet", captured);
        return BB_PCAP_BAD;
    }
    if (!make_ready(records, RECORD_HEAD + captured, &ended))
        return end(records, ended);
    *frame = (BbFrame){
        .time_ns = (gint64)numbers[0] * 1000000000 + (gint64)numbers[1] * records->unit_ns,
        .data = records->buffer + records->at + RECORD_HEAD,
        .captured = captured,
        .length = MAX(numbers[3], captured),
        .link_type = records->link,
    };
    records->at += RECORD_HEAD + captured;
    records->left -= RECORD_HEAD + captured;
    return BB_PCAP_FRAME;
}

int bb_pcap_records_link(const BbPcapRecords *records)
{
    return records->link;
}

const char *bb_pcap_records_reason(const BbPcapRecords *records)
{
    return records->reason ? records->reason : "";
}
