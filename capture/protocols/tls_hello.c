// SPDX-License-Identifier: Apache-2.0
// In: the bytes of a ClientHello or a ServerHello. Out: name, random, version, cipher suite.
#include "capture/protocols/tls_hello.h"

#include "capture/cursor.h"

enum {
    EXTENSION_NAME = 0,
    EXTENSION_ENCRYPT_THEN_MAC = 22, // RFC 7366
    EXTENSION_VERSIONS = 43,
};

#define SESSION_ID_MAX 32u
#define OLD_BIT 0x8000u // in the length of a hello of SSL 2: no padding
#define OLD_FIXED 9u    // type, version, three lengths
#define CHALLENGE_MIN 16u
#define CHALLENGE_MAX 32u

// RFC 8446, 4.1.3: a ServerHello with this random is a HelloRetryRequest (SHA-256 of those words).
static const guint8 retry_random[BB_TLS_RANDOM] = {
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
    0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
};

// A cursor over the next size bytes of c, or over those of them that there are.
static BbCursor take_part(BbCursor *c, gsize size)
{
    gsize have = MIN(size, c->left);
    const guint8 *at = bb_cursor_take(c, have);
    return bb_cursor(at, at ? have : 0);
}

static guint32 read_24(BbCursor *c)
{
    guint32 high = bb_cursor_u8(c);
    return high << 16 | bb_cursor_be16(c);
}

// ---- extensions -------------------------------------------------------------------------------

static void read_name(BbTlsHello *hello, BbCursor c)
{
    bb_cursor_skip(&c, 2); // length of the list, which has one element
    guint8 type = bb_cursor_u8(&c);
    guint16 length = bb_cursor_be16(&c);
    const guint8 *name = bb_cursor_take(&c, length);
    if (!name || type != 0)
        return;
    hello->name = name;
    hello->name_length = length;
}

static void read_extension(BbTlsHello *hello, guint16 type, BbCursor body, bool server)
{
    if (type == EXTENSION_NAME && !server)
        read_name(hello, body);
    else if (type == EXTENSION_ENCRYPT_THEN_MAC)
        hello->encrypt_then_mac = true;
    else if (type == EXTENSION_VERSIONS && server && body.left == 2)
        hello->version = bb_cursor_be16(&body);
}

// They may be left out before TLS 1.3.
static void read_extensions(BbTlsHello *hello, BbCursor *c, bool server)
{
    if (!bb_cursor_ok(c) || !c->left)
        return;
    guint16 size = bb_cursor_be16(c);
    BbCursor all = take_part(c, size);
    while (bb_cursor_ok(&all) && all.left) {
        guint16 type = bb_cursor_be16(&all), length = bb_cursor_be16(&all);
        BbCursor body = take_part(&all, length);
        read_extension(hello, type, body, server);
    }
}

// ---- hellos -----------------------------------------------------------------------------------

// Reads head, version and random of a message of that type; c is what follows them in it.
static bool begin(BbTlsHello *hello, const guint8 *data, gsize length, guint8 type, BbCursor *c)
{
    *hello = (BbTlsHello){0};
    BbCursor all = bb_cursor(data, length);
    if (bb_cursor_u8(&all) != type)
        return false;
    guint32 size = read_24(&all);
    hello->size = BB_TLS_HANDSHAKE_HEAD + size;
    *c = take_part(&all, size);
    hello->version = bb_cursor_be16(c);
    const guint8 *random = bb_cursor_take(c, BB_TLS_RANDOM);
    if (random)
        memcpy(hello->random, random, BB_TLS_RANDOM);
    return true;
}

bool bb_tls_client_hello(BbTlsHello *hello, const guint8 *data, gsize length)
{
    BbCursor c;
    if (!begin(hello, data, length, BB_TLS_CLIENT_HELLO, &c))
        return false;
    bb_cursor_skip(&c, bb_cursor_u8(&c));   // session id
    bb_cursor_skip(&c, bb_cursor_be16(&c)); // cipher suites
    bb_cursor_skip(&c, bb_cursor_u8(&c));   // compression methods
    read_extensions(hello, &c, false);
    return true;
}

bool bb_tls_server_hello(BbTlsHello *hello, const guint8 *data, gsize length)
{
    BbCursor c;
    if (!begin(hello, data, length, BB_TLS_SERVER_HELLO, &c))
        return false;
    bb_cursor_skip(&c, bb_cursor_u8(&c)); // session id
    hello->suite = bb_cursor_be16(&c);
    bb_cursor_skip(&c, 1); // compression method
    read_extensions(hello, &c, true);
    hello->retry = memcmp(hello->random, retry_random, BB_TLS_RANDOM) == 0;
    hello->cut = length < hello->size;
    return true;
}

bool bb_tls_old_hello(BbTlsHello *hello, const guint8 *data, gsize length)
{
    *hello = (BbTlsHello){0};
    if (bb_tls_match_old_hello(data, length) != BB_MATCH_REQUEST)
        return false;
    BbCursor c = bb_cursor(data, length);
    hello->size = BB_TLS_OLD_HEAD + (bb_cursor_be16(&c) & ~OLD_BIT);
    bb_cursor_skip(&c, 1); // type
    hello->version = bb_cursor_be16(&c);
    guint16 suites = bb_cursor_be16(&c), session = bb_cursor_be16(&c);
    guint16 size = bb_cursor_be16(&c);
    bb_cursor_skip(&c, (gsize)suites + session);
    const guint8 *challenge = bb_cursor_take(&c, size);
    if (challenge) // the random, its missing bytes in front being 0
        memcpy(hello->random + BB_TLS_RANDOM - size, challenge, size);
    return true;
}

// ---- the first bytes --------------------------------------------------------------------------

// Type, a length that the record agrees with, and a version: more than 32 bits. A hello may go on
// in the next record.
BbMatch bb_tls_match_hello(const guint8 *body, gsize length, gsize record)
{
    BbCursor c = bb_cursor(body, length);
    guint8 type = bb_cursor_u8(&c);
    bool client = type == BB_TLS_CLIENT_HELLO;
    if (length && !client && type != BB_TLS_SERVER_HELLO)
        return BB_MATCH_NO;
    guint32 size = read_24(&c);
    guint16 version = bb_cursor_be16(&c);
    if (!bb_cursor_ok(&c))
        return length < record ? BB_MATCH_MORE : BB_MATCH_NO;
    gsize least = 2 + BB_TLS_RANDOM + 1 + 2 + 1; // of client and server
    bool fits =
        size >= least && size < 0x10000 &&
        (client ? size + BB_TLS_HANDSHAKE_HEAD >= record : size + BB_TLS_HANDSHAKE_HEAD <= record);
    if (!fits || version < 0x0300 || version > 0x0303)
        return BB_MATCH_NO;
    return client ? BB_MATCH_REQUEST : BB_MATCH_REPLY;
}

BbMatch bb_tls_match_old_hello(const guint8 *data, gsize length)
{
    BbCursor c = bb_cursor(data, length);
    guint16 total = bb_cursor_be16(&c) & (guint16)~OLD_BIT;
    guint8 type = bb_cursor_u8(&c);
    guint16 version = bb_cursor_be16(&c), suites = bb_cursor_be16(&c);
    guint16 session = bb_cursor_be16(&c), challenge = bb_cursor_be16(&c);
    if (length && !(data[0] & 0x80))
        return BB_MATCH_NO;
    if ((length >= 3 && type != BB_TLS_CLIENT_HELLO) ||
        (length >= 5 && (version < 0x0300 || version > 0x0303)))
        return BB_MATCH_NO;
    if (!bb_cursor_ok(&c))
        return BB_MATCH_MORE;
    bool fits = suites > 0 && suites % 3 == 0 && session <= SESSION_ID_MAX &&
                challenge >= CHALLENGE_MIN && challenge <= CHALLENGE_MAX &&
                OLD_FIXED + suites + session + challenge == total;
    return fits ? BB_MATCH_REQUEST : BB_MATCH_NO;
}
