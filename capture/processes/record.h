// SPDX-License-Identifier: Apache-2.0
// What the process that looks at sockets tells the one that captures: records in datagrams, of
// fixed size but for the name. Who reads them trusts nothing in them.
#pragma once

#include "capture/cursor.h"
#include "capture/processes/socket.h"

typedef enum {
    BB_RECORD_HERE,   // key.local is an address of this network namespace
    BB_RECORD_BEYOND, // likewise of another one of this host
    BB_RECORD_SOCKET, // the socket of key belongs to name
    BB_RECORD_GONE,   // that was known and has not been there for a while
    BB_RECORD_LOOKED, // all of a look was told; number: nudges that had come before it
    BB_RECORD_HIDDEN, // there are sockets whose process could not be found for want of rights
    BB_RECORD_BLIND,  // the kernel does not list its sockets; a look was in vain
    BB_RECORD_FULL,   // there are more than BB_LOOK_SOCKETS: the others are not seen
    BB_RECORD_LEFT,   // key.local was told by HERE, and is no longer an address of this namespace
    BB_RECORD_KINDS,
} BbRecordKind;

#define BB_RECORD_NAME 96u                     // bytes of a name, without NUL
#define BB_RECORD_BYTES (44u + BB_RECORD_NAME) // at most, of a record
#define BB_RECORD_DATAGRAM 16384u              // at most, of records that travel together

typedef struct BbRecord {
    BbRecordKind kind;
    BbSocketKey key;
    guint32 number;                // of LOOKED
    char name[BB_RECORD_NAME + 1]; // of SOCKET: not empty
} BbRecord;

void bb_record_append(GByteArray *out, const BbRecord *record);
// Takes the next record. Returns false at the end, or (cursor broken) where there is none: then
// nothing behind it counts either. A name has no byte below 0x21, no `/` and no 0x7f.
bool bb_record_take(BbCursor *cursor, BbRecord *record);
