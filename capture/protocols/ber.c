// SPDX-License-Identifier: Apache-2.0
// In: bytes of BER (X.690). Out: elements, numbers, strings, or why not.
#include "capture/protocols/ber.h"

#define LENGTH_BYTES 4u // bytes of the long form of a length; 1 GiB is enough
#define LENGTH_MAX (1u << 30)
#define HIGH_TAG 0x1fu // tags of several bytes, which neither protocol has

static guint8 take_byte(BbBer *ber)
{
    if (ber->bad || ber->cut)
        return 0;
    if (ber->left == 0) {
        ber->bad = ber->beyond == 0;
        ber->cut = !ber->bad;
        return 0;
    }
    ber->left--;
    return *ber->at++;
}

// X.690, 8.1.3. The indefinite form is not used (RFC 4511, 5.1; RFC 3417, 8).
static gsize take_length(BbBer *ber)
{
    guint8 first = take_byte(ber);
    if (first < 0x80)
        return first;
    guint bytes = first & 0x7f;
    guint32 length = 0;
    if (bytes == 0 || bytes > LENGTH_BYTES) {
        ber->bad = true;
        return 0;
    }
    for (guint i = 0; i < bytes; i++)
        length = length << 8 | take_byte(ber);
    ber->bad |= length > LENGTH_MAX;
    return length;
}

guint8 bb_ber_peek(const BbBer *ber)
{
    return bb_ber_ok(ber) && ber->left ? ber->at[0] : 0;
}

// tag 0: any.
static BbBer enter(BbBer *ber, guint8 tag)
{
    guint8 found = take_byte(ber);
    if (bb_ber_ok(ber) && ((tag && found != tag) || (found & HIGH_TAG) == HIGH_TAG || !found))
        ber->bad = true;
    gsize length = take_length(ber);
    gsize there = MIN(length, ber->left);
    if (bb_ber_ok(ber) && length - there > ber->beyond)
        ber->bad = true;
    BbBer inside = {.at = ber->at, .bad = ber->bad, .cut = ber->cut};
    if (!bb_ber_ok(ber))
        return inside;
    inside.left = there;
    inside.beyond = length - there;
    ber->at += there;
    ber->left -= there;
    ber->beyond -= inside.beyond;
    return inside;
}

BbBer bb_ber_enter(BbBer *ber, guint8 tag)
{
    return enter(ber, tag);
}

void bb_ber_skip(BbBer *ber)
{
    (void)enter(ber, 0);
}

gint64 bb_ber_integer(BbBer *ber, guint8 tag)
{
    BbBer inside = enter(ber, tag);
    gsize length = inside.left + inside.beyond;
    guint64 value = 0;
    if (bb_ber_ok(&inside) && (length == 0 || length > 8))
        ber->bad = true;
    if (!bb_ber_ok(ber))
        return 0;
    if (inside.beyond) {
        ber->cut = true;
        return 0;
    }
    if (inside.at[0] & 0x80)
        value = G_MAXUINT64; // two's complement
    for (gsize i = 0; i < length; i++)
        value = value << 8 | inside.at[i];
    return (gint64)value;
}

const guint8 *bb_ber_string(BbBer *ber, guint8 tag, gsize *length)
{
    BbBer inside = enter(ber, tag);
    *length = bb_ber_ok(&inside) ? inside.left : 0;
    return *length ? inside.at : NULL;
}

bool bb_ber_oid_format(const guint8 *oid, gsize length, char *out, gsize size)
{
    gsize written = 0;
    guint32 arc = 0;
    for (gsize i = 0; i < length; i++) {
        if (arc > G_MAXUINT32 >> 7)
            return false;
        arc = arc << 7 | (oid[i] & 0x7f);
        if (oid[i] & 0x80)
            continue;
        guint32 top = MIN(arc / 40, 2);
        int n = written ? g_snprintf(out + written, size - written, ".%u", arc)
                        : g_snprintf(out, size, "%u.%u", top, arc - top * 40);
        if ((gsize)n >= size - written)
            return false;
        written += (gsize)n;
        arc = 0;
    }
    return written > 0 && !(oid[length - 1] & 0x80);
}
