// SPDX-License-Identifier: Apache-2.0
// Packets of the MySQL client/server protocol (MySQL Internals, MariaDB Knowledge Base): three
// bytes of length, a sequence number, a payload. What can be told from one without knowing the
// session.
#pragma once

#include "capture/cursor.h"
#include "capture/decoder.h"

#define BB_MYSQL_HEAD 4u
#define BB_MYSQL_FULL 0xffffffu // a payload of this length goes on in the next packet
#define BB_MYSQL_TEXT_MAX 4096u // bytes of a statement that are looked at
#define BB_MYSQL_SHOWN 32u      // bytes of a server's payload that tell what it is

// Capabilities.
#define BB_MYSQL_COMPRESS (1u << 5)
#define BB_MYSQL_PROTOCOL_41 (1u << 9)
#define BB_MYSQL_SSL (1u << 11)
#define BB_MYSQL_DEPRECATE_EOF (1u << 24)
#define BB_MYSQL_OPTIONAL_METADATA (1u << 25)
#define BB_MYSQL_ZSTD (1u << 26)
#define BB_MYSQL_QUERY_ATTRIBUTES (1u << 27)

// Flags of a server's status.
#define BB_MYSQL_MORE_RESULTS 0x0008u
#define BB_MYSQL_CURSOR 0x0040u
#define BB_MYSQL_STATE_CHANGED 0x4000u

// First bytes of a server's payload.
enum {
    BB_MYSQL_OK = 0x00,
    BB_MYSQL_AUTH_MORE = 0x01, // in a login
    BB_MYSQL_LOCAL_INFILE = 0xfb,
    BB_MYSQL_EOF = 0xfe,
    BB_MYSQL_ERROR = 0xff,
};

typedef struct BbMysqlHead {
    guint32 length; // of the payload
    guint8 sequence;
} BbMysqlHead;

// head: BB_MYSQL_HEAD bytes.
BbMysqlHead bb_mysql_head(const guint8 *head);

// Takes a number of 1, 3, 4 or 9 bytes. NULL (0xfb) and what is no number break the cursor.
guint64 bb_mysql_number(BbCursor *c);

// ---- commands ---------------------------------------------------------------------------------

// What answers a command.
typedef enum {
    BB_MYSQL_ONE_WAY, // nothing
    BB_MYSQL_STATUS,  // OK, EOF or ERR
    BB_MYSQL_LOGIN,   // the same after rounds of authentication
    BB_MYSQL_TEXT,    // one packet of text
    BB_MYSQL_RESULT,  // OK, ERR, or sets of rows, or a request for a local file
    BB_MYSQL_FIELDS,  // column definitions up to an EOF
    BB_MYSQL_ROWS,    // rows up to an EOF
    BB_MYSQL_PREPARE, // an id, definitions of parameters and columns
    BB_MYSQL_STREAM,  // events without end
} BbMysqlShape;

enum {
    BB_MYSQL_QUERY = 0x03,
    BB_MYSQL_CHANGE_USER = 0x11,
    BB_MYSQL_STMT_PREPARE = 0x16,
    BB_MYSQL_STMT_EXECUTE = 0x17,
    BB_MYSQL_STMT_CLOSE = 0x19,
    BB_MYSQL_STMT_FETCH = 0x1c,
    BB_MYSQL_BULK_EXECUTE = 0xfa, // MariaDB
};

typedef struct BbMysqlCommand {
    const char *name; // as label
    guint8 code;
    guint8 shape; // BbMysqlShape
    guint8 least; // bytes of its payload, code included
    guint32 most; // likewise
} BbMysqlCommand;

// NULL if there is no such command.
const BbMysqlCommand *bb_mysql_command(guint8 code);

// Where the text of a COM_QUERY begins in its payload, behind the code and the query attributes;
// its end where they go beyond the front that is there. attributes: the client may send them.
BbCursor bb_mysql_query_text(BbCursor payload, bool attributes);

// ---- what the server says -----------------------------------------------------------------------

// The status flags of an OK or EOF packet of length bytes.
guint16 bb_mysql_status_flags(BbCursor payload, guint32 length);
// The error's code; 0 where it is none (a report of progress, or cut).
guint16 bb_mysql_error_code(BbCursor payload);
// Columns of the set of rows that this payload begins. with_definitions: they follow. optional:
// CLIENT_OPTIONAL_RESULTSET_METADATA was agreed on.
guint64 bb_mysql_column_count(BbCursor payload, bool optional, bool *with_definitions);
bool bb_mysql_is_definition(BbCursor payload);

typedef struct BbMysqlGreeting {
    guint32 capabilities;
} BbMysqlGreeting;

// Reads a whole payload. False: it is no greeting of protocol 10.
bool bb_mysql_greeting_read(BbMysqlGreeting *greeting, BbCursor payload);

// Whether the payload is a HandshakeResponse41 or an SSLRequest, and its capabilities.
bool bb_mysql_response_read(BbCursor payload, guint32 *capabilities);

BbMatch bb_mysql_probe(const guint8 *data, gsize length);
// The same of one direction.
BbMatch bb_mysql_probe_client(const guint8 *data, gsize length);
BbMatch bb_mysql_probe_server(const guint8 *data, gsize length);
