// SPDX-License-Identifier: Apache-2.0
// A file of mail: an mbox, or one message. Gives of each mail the headers that say how it came.
#pragma once

#include "data/counters.h"

// Received headers of one mail, and bytes of one header without its name; what is more is counted.
// (RFC 5321, 6.3, takes 100 for a loop.)
#define BB_MAIL_RECEIVED_MAX 128
#define BB_MAIL_HEADER_MAX 16384

typedef struct BbMail {
    GPtrArray *received; // of char*, unfolded, the latest first
    char *id;            // Message-ID with its angle brackets, NULL if there is none
} BbMail;

// Counters: mails, mail_headers_cut (longer than BB_MAIL_HEADER_MAX), mail_headers_left_out (more
// than BB_MAIL_RECEIVED_MAX), mail_bad_lines (in a header, neither field nor folded).
typedef struct BbMailbox BbMailbox;

// Opens path; "-" is standard input; .gz, .xz and .zst are unpacked. Fails when it cannot be read,
// nothing is in it, or it begins with neither a "From " line nor a header. counters is lent, and
// outlives the mailbox.
BbMailbox *bb_mailbox_open(const char *path, BbCounters *counters, GError **error);
void bb_mailbox_free(BbMailbox *box);

// The next mail, lent until the next call. NULL at the end (error not set), or when reading fails
// or nothing that was read has any of the headers that make a mail (error set).
const BbMail *bb_mailbox_next(BbMailbox *box, GError **error);

// A sentence on where a compressed file broke off, NULL while it is whole. Lent.
const char *bb_mailbox_damage(const BbMailbox *box);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbMailbox, bb_mailbox_free)
