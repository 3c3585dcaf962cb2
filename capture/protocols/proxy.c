// SPDX-License-Identifier: Apache-2.0
// In: the first bytes of a client. Out: whether they are a head of the PROXY protocol
// (proxy-protocol.txt of haproxy), and how long it is. Whom it names is not looked at.
#include "capture/protocols/proxy.h"

#include "capture/cursor.h"

#include <string.h>

// Version 1 is a line: PROXY TCP4 <source> <target> <source port> <target port>. Of what is UNKNOWN
// the rest may be anything.
static BbMatch match_line(const guint8 *data, gsize length, guint32 *size)
{
    static const char *const begins[] = {"PROXY TCP4 ", "PROXY TCP6 ", "PROXY UNKNOWN"};
    bool begun = false;
    gsize most = MIN(length, BB_PROXY_DECIDED);
    for (guint i = 0; i < G_N_ELEMENTS(begins); i++)
        begun |= memcmp(data, begins[i], MIN(length, strlen(begins[i]))) == 0;
    for (gsize i = 0; begun && i < most; i++) {
        if (data[i] == '\n' && data[i - 1] == '\r') {
            *size = (guint32)i + 1;
            return BB_MATCH_REQUEST;
        }
        begun = g_ascii_isprint((gchar)data[i]) || data[i] == '\r';
    }
    return begun && length < BB_PROXY_DECIDED ? BB_MATCH_MORE : BB_MATCH_NO;
}

// Version 2: signature, version and command, address family and transport, how many bytes follow.
static BbMatch match_binary(const guint8 *data, gsize length, guint32 *size)
{
    static const guint8 signature[] = "\r\n\r\n\0\r\nQUIT\n";
    const gsize fixed = sizeof signature - 1;
    if (memcmp(data, signature, MIN(length, fixed)) != 0)
        return BB_MATCH_NO;
    BbCursor c = bb_cursor(data, length);
    bb_cursor_skip(&c, fixed);
    guint8 command = bb_cursor_u8(&c), family = bb_cursor_u8(&c);
    guint16 rest = bb_cursor_be16(&c);
    if (!bb_cursor_ok(&c))
        return BB_MATCH_MORE;
    bool is_local = (command & 15) == 0; // its family is to be ignored (2.2)
    if (command >> 4 != 2 || (command & 15) > 1)
        return BB_MATCH_NO;
    if (!is_local && (family >> 4 > 3 || (family & 15) > 2))
        return BB_MATCH_NO;
    *size = (guint32)fixed + 4 + rest;
    return BB_MATCH_REQUEST;
}

BbMatch bb_proxy_match(const guint8 *data, gsize length, guint32 *size)
{
    if (length == 0)
        return BB_MATCH_MORE;
    return data[0] == '\r' ? match_binary(data, length, size) : match_line(data, length, size);
}
