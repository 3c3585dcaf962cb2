// SPDX-License-Identifier: Apache-2.0
// An IP address; IPv4 as IPv4-mapped IPv6 (RFC 4291, 2.5.5.2), so that one form serves both.
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <string.h>

typedef struct BbAddress {
    guint8 bytes[16];
} BbAddress;

// 0.0.0.0 and ::, at which who waits takes what comes to any address.
extern const BbAddress bb_address_any_v4, bb_address_any_v6;

// Room for the longest text with a port: "[" 45 "]:65535" NUL.
#define BB_ADDRESS_TEXT 56

BbAddress bb_address_v4(const guint8 bytes[4]);
BbAddress bb_address_v6(const guint8 bytes[16]);
bool bb_address_is_v4(const BbAddress *address);

// Writes the canonical text (RFC 5952); out holds BB_ADDRESS_TEXT bytes. Returns its length.
gsize bb_address_format(const BbAddress *address, char *out);
// The same with the port: 10.0.0.1:80, [2001:db8::1]:80.
gsize bb_address_format_port(const BbAddress *address, guint16 port, char *out);

// Parses an address alone. Returns false when text is none.
bool bb_address_parse(const char *text, BbAddress *address);
// Parts "[v6]:port" and "v4:port" in place. Returns what stands for the port; NULL for an address
// alone (also "[v6]"). *address is the other part.
char *bb_address_split_port(char *text, char **address);

// 0.0.0.0 or ::.
bool bb_address_is_any(const BbAddress *address);
// 127/8 or ::1.
bool bb_address_is_loopback(const BbAddress *address);
// Multicast (224/4, RFC 5771; ff00::/8, RFC 4291, 2.7), 255.255.255.255 and the rest of 240/4.
bool bb_address_is_group(const BbAddress *address);
// Whether it may be one host's: neither a group nor of 0/8, nor ::.
bool bb_address_is_host(const BbAddress *address);

// Sets the bits beyond the first `prefix` of 128 to 0.
void bb_address_mask(BbAddress *address, guint prefix);

static inline bool bb_address_equal(const BbAddress *a, const BbAddress *b)
{
    guint64 x[2], y[2];
    memcpy(x, a->bytes, sizeof x);
    memcpy(y, b->bytes, sizeof y);
    return ((x[0] ^ y[0]) | (x[1] ^ y[1])) == 0;
}
