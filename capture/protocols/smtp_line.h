// SPDX-License-Identifier: Apache-2.0
// Single lines of SMTP (RFC 5321) and LMTP (RFC 2033): commands, replies.
#pragma once

#include "capture/decoder.h"

#define BB_SMTP_LINE_MAX 4096u // bytes in which a line must show what it is (RFC 5321, 4.5.3.1)

#define BB_SMTP_REPLY_HEAD 4u // bytes that show a reply

typedef enum {
    BB_SMTP_NONE, // no known verb
    BB_SMTP_OTHER,
    BB_SMTP_HELLO,
    BB_SMTP_LMTP_HELLO,
    BB_SMTP_MAIL,
    BB_SMTP_RCPT,
    BB_SMTP_DATA,
    BB_SMTP_CHUNK, // BDAT (RFC 3030): the bytes follow
    BB_SMTP_AUTH,
    BB_SMTP_RESET,
    BB_SMTP_TLS,
} BbSmtpVerb;

typedef struct BbSmtpCommand {
    BbSmtpVerb verb;
    const char *name; // of the verb, upper case; NULL for none
    guint64 chunk;    // BDAT: bytes that follow the line
    bool last;        // BDAT: and no more of them
    bool sure;        // what follows the verb is in its place: a line of text is hardly so
} BbSmtpCommand;

// The command that begins with these bytes, of which the line's end may be missing.
BbSmtpCommand bb_smtp_command(const guint8 *line, gsize length);

// Code of the reply that begins with these bytes (at least BB_SMTP_REPLY_HEAD), 0 if it is none.
// more: a line of the same reply follows. known: where a reply is due, a client goes by its first
// digit (RFC 5321, 4.3.2), and there are servers that say 571; elsewhere the second digit is to be
// one that has a meaning (4.2.1).
guint bb_smtp_reply(const guint8 *line, gsize length, bool known, bool *more);

// Whether there are no control bytes but blanks and line ends.
bool bb_smtp_is_text(const guint8 *data, gsize length);

BbMatch bb_smtp_probe(const guint8 *data, gsize length);
