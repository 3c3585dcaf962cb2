// SPDX-License-Identifier: Apache-2.0
// The sockets of this network namespace, asked of the kernel by netlink: sock_diag(7), netlink(7).
#pragma once

#include "capture/processes/socket.h"

typedef enum {
    BB_DIAG_MORE,   // the answer goes on in the next datagram
    BB_DIAG_DONE,   // that was all
    BB_DIAG_FAILED, // an error, or what is no such answer
} BbDiagStatus;

#define BB_DIAG_REQUEST 72u // bytes of a request

// Writes the request for the sockets of that family (AF_INET, AF_INET6) and protocol that wait for
// anybody, or those that have a peer, into out. None that have only to be forgotten.
void bb_diag_request(guint8 family, guint8 protocol, bool waiting, guint32 number,
                     guint8 out[BB_DIAG_REQUEST]);

// Reads one datagram of the answer to request `number`; appends BbSocket, up to max of them in all.
// Whatever the bytes are. Messages of other requests are passed over.
BbDiagStatus bb_diag_read(gconstpointer data, gsize size, guint32 number, guint8 protocol,
                          GArray *sockets, guint max);
