// SPDX-License-Identifier: Apache-2.0
// Messages of MongoDB's wire protocol (MongoDB Wire Protocol; BSON 1.1): a head of 16 bytes and a
// body. What can be told from one without knowing the session.
#pragma once

#include "capture/cursor.h"
#include "capture/decoder.h"
#include "capture/protocols/label.h"

#define BB_MONGODB_HEAD 16u
#define BB_MONGODB_BODY_READ 4096u // bytes of a body that are looked at
#define BB_MONGODB_ERROR_MAX 48u   // bytes of an error's name

enum {
    BB_MONGODB_REPLY = 1,
    BB_MONGODB_UPDATE = 2001,
    BB_MONGODB_INSERT = 2002,
    BB_MONGODB_QUERY = 2004,
    BB_MONGODB_GET_MORE = 2005,
    BB_MONGODB_DELETE = 2006,
    BB_MONGODB_KILL_CURSORS = 2007,
    BB_MONGODB_COMPRESSED = 2012,
    BB_MONGODB_MSG = 2013,
};

typedef struct BbMongodbHead {
    guint32 length; // of the whole
    guint32 request, response_to;
    guint32 opcode;
} BbMongodbHead;

// Reads BB_MONGODB_HEAD bytes. False: they are no head.
bool bb_mongodb_head_read(BbMongodbHead *head, const guint8 *data);

// What a body says, as far as it is there.
typedef struct BbMongodbBody {
    char label[BB_LABEL_MAX + 1];         // of a request: command and collection
    char error[BB_MONGODB_ERROR_MAX + 1]; // of a reply; empty where it is ok, or unread
    bool unread;                          // nothing of what it says is there, or can be read
    bool one_way;                         // a request without reply
    bool more_to_come;                    // a reply that others may follow
    bool streams;                         // and will, unasked: an OP_MSG (the others have a cursor)
    bool exhaust;                         // a request that allows them
} BbMongodbBody;

// body: behind the head, of an OP_COMPRESSED with its own head. opcode: of the head.
void bb_mongodb_body_read(BbMongodbBody *out, guint32 opcode, bool is_request, BbCursor body);

BbMatch bb_mongodb_probe(const guint8 *data, gsize length);
