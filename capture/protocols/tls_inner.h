// SPDX-License-Identifier: Apache-2.0
// What is said inside of a TLS connection whose keys are known: records are decrypted and what they
// hold is fed to a dialog of its own, where its protocol is found.
//
// Records that are missing are noticed by the number that the next one is authenticated with: at
// most BB_TLS_INNER_TRIES numbers are tried. In the inner dialog positions count the
// content, so that decoders see no holes where records have heads and tags.
#pragma once

#include "capture/protocols/tls_key.h"

#define BB_TLS_INNER_TRIES 1024u

typedef struct BbTlsInner BbTlsInner;

typedef struct BbTlsAgreed {
    const BbTlsSuite *suite;
    bool encrypt_then_mac;
    guint8 client_random[BB_TLS_RANDOM], server_random[BB_TLS_RANDOM];
} BbTlsAgreed;

// NULL when the log does not have the connection's keys, or libcrypto cannot use them. version is
// BB_TLS_1_2 or BB_TLS_1_3. keylog is lent and must outlive the result.
BbTlsInner *bb_tls_inner_new(const BbDialog *outer, BbTlsKeylog *keylog, guint16 version,
                             const BbTlsAgreed *agreed);
// Ends what is under way inside; wipes the keys.
void bb_tls_inner_free(BbTlsInner *inner);

// TLS 1.2: what direction sends is encrypted from the record on that begins at seq.
void bb_tls_inner_begin(BbTlsInner *inner, BbDirection direction, guint64 seq);
// Likewise with the keys of another handshake, which was read inside. False: they are not to be
// had.
bool bb_tls_inner_renew(BbTlsInner *inner, BbDirection direction, guint64 seq);

typedef enum {
    BB_TLS_INNER_OPENED,  // and application data passed on
    BB_TLS_INNER_ALERT,   // opened: an alert, level and number
    BB_TLS_INNER_EARLIER, // TLS 1.3: of the handshake, with other keys
    BB_TLS_INNER_CLOSED,  // cannot be opened
} BbTlsInnerVerdict;

// Takes the record of outer that is whole at the front of view. alert: level and number.
BbTlsInnerVerdict bb_tls_inner_take(BbTlsInner *inner, const BbDialog *outer, const BbView *view,
                                    const BbTlsHead *head, guint8 alert[2]);
// That direction says no more.
void bb_tls_inner_close(BbTlsInner *inner, const BbDialog *outer, BbDirection direction);

gsize bb_tls_inner_held(const BbTlsInner *inner);
void bb_tls_inner_let_go(BbTlsInner *inner);
