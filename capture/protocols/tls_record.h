// SPDX-License-Identifier: Apache-2.0
// Records of TLS (RFC 8446, section 5; RFC 5246, section 6): five bytes of head, then up to 16 KiB,
// mostly encrypted. What can be told without keys, and where a record may begin.
#pragma once

#include "capture/decoder.h"

#define BB_TLS_HEAD 5u
#define BB_TLS_BODY_MAX (16384u + 2048u) // RFC 5246, 6.2.3; TLS 1.3 allows 256 bytes more than 2^14
#define BB_TLS_1_2 0x0303u
#define BB_TLS_1_3 0x0304u

enum {
    BB_TLS_CHANGE_CIPHER = 20,
    BB_TLS_ALERT = 21,
    BB_TLS_HANDSHAKE = 22,
    BB_TLS_DATA = 23,
    BB_TLS_HEARTBEAT = 24, // RFC 6520
};

typedef struct BbTlsHead {
    guint8 type;
    guint16 version; // of the record layer: it says little since TLS 1.2
    guint16 length;  // of what follows the head
} BbTlsHead;

// Whether these BB_TLS_HEAD bytes can begin a record.
bool bb_tls_head(const guint8 *data, BbTlsHead *head);

// After a gap: the first place in view where a record seems to begin. found: it is one as far as
// can be told; otherwise what is before it can be dropped, and more bytes will tell of the rest.
gsize bb_tls_search(const BbView *view, bool *found);

#define BB_TLS_CLOSE_NOTIFY 0u
// Name of an alert (RFC 8446, section 6; RFC 5246, 7.2), NULL if there is none of this number.
const char *bb_tls_alert_name(guint8 description);

// What the first bytes of a connection say: a hello of either side is certain, other records are
// not, and nor is it who sent them.
BbMatch bb_tls_probe(const guint8 *data, gsize length);
