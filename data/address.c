// SPDX-License-Identifier: Apache-2.0
// In: address bytes or text. Out: one form for both families, and its canonical text.
#include "data/address.h"

#include <arpa/inet.h>

static const guint8 mapped[12] = {[10] = 0xff, [11] = 0xff};

const BbAddress bb_address_any_v4 = {.bytes = {[10] = 0xff, [11] = 0xff}}; // 0.0.0.0
const BbAddress bb_address_any_v6 = {{0}};                                 // ::

BbAddress bb_address_v4(const guint8 bytes[4])
{
    BbAddress address;
    memcpy(address.bytes, mapped, sizeof mapped);
    memcpy(address.bytes + sizeof mapped, bytes, 4);
    return address;
}

BbAddress bb_address_v6(const guint8 bytes[16])
{
    BbAddress address;
    memcpy(address.bytes, bytes, sizeof address.bytes);
    return address;
}

bool bb_address_is_v4(const BbAddress *address)
{
    return memcmp(address->bytes, mapped, sizeof mapped) == 0;
}

// Writes a number of at most 16 bits in decimal. Returns the place behind it. (Each connection has
// a text, and printf takes as long for it as some packets.)
static char *put_number(char *at, guint number)
{
    for (guint power = 10000; power > 1; power /= 10)
        if (number >= power)
            *at++ = (char)('0' + number / power % 10);
    *at++ = (char)('0' + number % 10);
    return at;
}

gsize bb_address_format(const BbAddress *address, char *out)
{
    if (!bb_address_is_v4(address)) {
        inet_ntop(AF_INET6, address->bytes, out, INET6_ADDRSTRLEN);
        return strlen(out);
    }
    char *at = out;
    for (guint i = sizeof mapped; i < sizeof address->bytes; i++) {
        at = put_number(at, address->bytes[i]);
        *at++ = '.';
    }
    *--at = '\0';
    return (gsize)(at - out);
}

gsize bb_address_format_port(const BbAddress *address, guint16 port, char *out)
{
    char *at = out;
    bool is_v4 = bb_address_is_v4(address);
    if (!is_v4)
        *at++ = '[';
    at += bb_address_format(address, at);
    if (!is_v4)
        *at++ = ']';
    *at++ = ':';
    at = put_number(at, port);
    *at = '\0';
    return (gsize)(at - out);
}

bool bb_address_parse(const char *text, BbAddress *address)
{
    guint8 bytes[16];
    if (inet_pton(AF_INET, text, bytes) == 1)
        *address = bb_address_v4(bytes);
    else if (inet_pton(AF_INET6, text, bytes) == 1)
        *address = bb_address_v6(bytes);
    else
        return false;
    return true;
}

char *bb_address_split_port(char *text, char **address)
{
    *address = text;
    if (text[0] == '[') {
        char *bracket = strchr(text, ']');
        if (!bracket || (bracket[1] != ':' && bracket[1] != '\0'))
            return NULL;
        *address = text + 1;
        *bracket = '\0';
        return bracket[1] == ':' ? bracket + 2 : NULL;
    }
    char *colon = strchr(text, ':');
    if (!colon || strchr(colon + 1, ':'))
        return NULL; // none, or an IPv6 address
    *colon = '\0';
    return colon + 1;
}

bool bb_address_is_any(const BbAddress *address)
{
    return bb_address_equal(address, &bb_address_any_v6) ||
           bb_address_equal(address, &bb_address_any_v4);
}

bool bb_address_is_loopback(const BbAddress *address)
{
    static const BbAddress v6 = {.bytes = {[15] = 1}};
    return bb_address_is_v4(address) ? address->bytes[12] == 127 : bb_address_equal(address, &v6);
}

bool bb_address_is_group(const BbAddress *address)
{
    return bb_address_is_v4(address) ? address->bytes[12] >= 224 : address->bytes[0] == 0xff;
}

bool bb_address_is_host(const BbAddress *address)
{
    bool is_nobody = bb_address_is_v4(address) ? address->bytes[12] == 0
                                               : bb_address_equal(address, &bb_address_any_v6);
    return !is_nobody && !bb_address_is_group(address);
}

void bb_address_mask(BbAddress *address, guint prefix)
{
    for (guint i = 0; i < sizeof address->bytes; i++) {
        guint kept = prefix > i * 8 ? MIN(prefix - i * 8, 8) : 0;
        address->bytes[i] &= (guint8)(0xff00u >> kept);
    }
}
