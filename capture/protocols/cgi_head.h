// SPDX-License-Identifier: Apache-2.0
// The header section of a reply as gateways send it: CGI's (RFC 3875, section 6) or, from some,
// that of HTTP/1. Read as it comes; only its status is kept.
#pragma once

#include "capture/dialog.h"

#define BB_CGI_LINE 40u // bytes of a line that are looked at

typedef struct BbCgiHead {
    guint32 seen; // bytes
    guint16 code; // of a Status field or a status line; 0: none yet
    bool redirect;
    bool in_fields; // its first line is over
    bool done;      // the section is over
    bool raw;       // it is no header section
    bool damaged;   // bytes of it are missing
    guint8 used;
    guint8 line[BB_CGI_LINE];
} BbCgiHead;

void bb_cgi_head_feed(BbCgiHead *head, const guint8 *data, gsize length);
// Bytes are missing here.
void bb_cgi_head_lose(BbCgiHead *head);
// The reply is over: what has no end of a header section had none.
void bb_cgi_head_end(BbCgiHead *head);
// HTTP's number: of the Status field or status line, else 302 where it names another place, else
// 200; "ok" of a reply without header section; BB_NAME_NONE where it was not seen.
guint32 bb_cgi_head_status(const BbCgiHead *head, BbDialog *dialog);

// Whether a header section begins here: a field that gateways send first, or HTTP's status line.
bool bb_cgi_head_begins(const guint8 *data, gsize length);
