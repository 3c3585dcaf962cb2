// SPDX-License-Identifier: Apache-2.0
// One Received header (RFC 5321, 4.4): who gave a mail to whom, and when. The grammar there is kept
// by few; what is read here is what the common servers write.
#pragma once

#include "merge/mail_date.h"
#include "merge/mail_host.h"

typedef struct BbMailHop {
    BbMailHost said;    // what the sender called itself (HELO)
    BbMailHost found;   // the name the receiver found for the sender's address (DNS)
    BbMailHost address; // the sender's address as the receiver saw it; never a name
    BbMailHost by;      // what the receiver calls itself
    bool from_given, by_given;
    BbMailDate date;
    gint64 time_ns; // of the receiver's clock; good unless date is bad
} BbMailHop;

// Reads an unfolded header, without its name, of length bytes.
BbMailHop bb_mail_hop_read(const char *text, gsize length);
