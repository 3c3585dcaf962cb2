// SPDX-License-Identifier: Apache-2.0
// Finds JSON-RPC messages in a stream of JSON texts (RFC 8259) byte by byte, without keeping them:
// their id, method, and whether they are errors.
#pragma once

#include <glib.h>
#include <stdbool.h>

#define BB_JSONRPC_METHOD_MAX 64u
#define BB_JSONRPC_DEPTH 64u         // containers nested deeper are only counted
#define BB_JSONRPC_DEEPER_MAX 65535u // and more of these are bad
#define BB_JSONRPC_SEPARATOR '\x1e'  // before each text (RFC 7464)

typedef enum {
    BB_SCAN_ON,    // inside of a message
    BB_SCAN_SPACE, // between messages
    BB_SCAN_BEGIN, // the byte begins a message, or the header before it
    BB_SCAN_END,   // the byte ends a message
    BB_SCAN_BAD,   // no JSON
} BbScanStep;

// The members of a message (JSON-RPC 2.0, sections 4 and 5; 1.0 has them all but `jsonrpc`).
typedef struct BbJsonrpcMessage {
    guint64 id; // a hash of it, with its type; 0: there is none, or null
    char method[BB_JSONRPC_METHOD_MAX];
    char code[12]; // of the error, where it is a number
    guint8 method_length, code_length;
    bool has_version, has_result, has_error;
} BbJsonrpcMessage;

typedef struct BbJsonrpcScan {
    BbJsonrpcMessage message;
    guint64 objects; // bit by depth: this container is an object
    guint64 hash;    // of the text under way
    char text[BB_JSONRPC_METHOD_MAX];
    guint text_length;
    guint header;     // bytes of a header (Content-Length, as in LSP), 0: not in one
    guint16 deeper;   // containers open inside of the deepest of those that are known
    guint8 line_ends; // in a header: that came last
    guint8 depth;
    guint8 base;        // depth of messages: 1 in a batch
    guint8 member;      // which one of the message is being read
    guint8 error_depth; // depth inside of the error, 0: not there
    bool in_string, escaped, is_key, is_value, in_scalar;
} BbJsonrpcScan;

// Zero a scan first. After BB_SCAN_END and before the next byte, scan->message is the message.
BbScanStep bb_jsonrpc_scan(BbJsonrpcScan *scan, guint8 byte);
