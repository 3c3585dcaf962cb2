// SPDX-License-Identifier: Apache-2.0
// What is said inside of TLS where it cannot be read: records, by turns. What the client says until
// the server answers is a call, what the server says then is its return; what a server says
// unasked, or a second and more after its answer, is free messages, and so is what a client says
// before it closes.
//
// TLS 1.3 hides which records are no application data. Those of the length of an alert at the end,
// and those before a server's first answer that look like session tickets, are taken for that.
#pragma once

#include "capture/dialog.h"

typedef struct BbTlsTurns {
    BbPart part;           // the turn under way
    BbPart held[2];        // a record that is an alert if nothing follows it
    BbPart tickets;        // records that are tickets if something else follows them
    BbPart newest;         // those of the last packet with some
    guint64 call;          // server: the call that part answers; 0: none
    BbDirection direction; // of part, or of the newest record
    guint16 alert_length;  // TLS 1.3: of a record that holds an alert; else 0
    guint16 ticket_length;
    guint8 n_tickets;
    bool speaking;        // direction is valid
    bool expects_tickets; // the server's first records are still to come
    bool pushing;         // server: its turn answers nothing
    bool broken;          // bytes of this turn are missing: what follows of it is dropped
    bool left[2];         // said that it will say no more
    bool spoke[2];
} BbTlsTurns;

// A record of application data, of so many bytes without head.
void bb_tls_turns_add(BbDialog *dialog, BbTlsTurns *turns, const BbPart *record, guint16 length);
// What the turn under way has of that direction was no application data.
void bb_tls_turns_forget(BbTlsTurns *turns, BbDirection direction);
// That side has closed, before the other did.
void bb_tls_turns_leave(BbTlsTurns *turns, BbDirection direction);
void bb_tls_turns_gap(BbDialog *dialog, BbTlsTurns *turns, BbDirection direction);
void bb_tls_turns_finish(BbDialog *dialog, BbTlsTurns *turns);
