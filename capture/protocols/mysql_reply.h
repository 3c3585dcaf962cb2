// SPDX-License-Identifier: Apache-2.0
// What a MySQL server answers to a command, packet by packet: which one is the last.
#pragma once

#include "capture/protocols/mysql_packet.h"

// Zeroed by bb_mysql_reply_begin.
typedef struct BbMysqlReply {
    guint64 columns;    // definitions to come
    guint64 parameters; // of a prepared statement, likewise
    guint32 statement;  // id, where the reply prepares one
    guint16 error;      // 0: none
    guint8 shape;       // BbMysqlShape
    guint8 stage;
    bool cursor_opens; // the command may leave rows for STMT_FETCH
    bool prepared;     // statement is set
    bool asks;         // the client has to say more: a file, a password
    bool over;         // the last packet was read
} BbMysqlReply;

// How sets of rows are laid out on a connection: by agreement, or learned.
typedef struct BbMysqlLayout {
    bool optional_metadata;
    bool known; // whether eof is
    bool eof;   // definitions are followed by an EOF packet
} BbMysqlLayout;

// command: NULL if it is not known.
void bb_mysql_reply_begin(BbMysqlReply *reply, const BbMysqlCommand *command);
// Reads the next packet: the front of its payload, and its length.
void bb_mysql_reply_read(BbMysqlReply *reply, BbMysqlLayout *layout, BbCursor payload,
                         guint32 length);
// Whether a payload that begins so can come next.
bool bb_mysql_reply_fits(const BbMysqlReply *reply, BbCursor payload);
// Whether a payload that begins with this byte is a row and nothing else comes next but rows.
bool bb_mysql_reply_is_row(const BbMysqlReply *reply, guint8 first);
