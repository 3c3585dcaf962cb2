// SPDX-License-Identifier: Apache-2.0
// Heads of ONC RPC messages (RFC 5531), the programs we know by name, and what the first words of
// their results say.
#pragma once

#include "capture/cursor.h"
#include "capture/decoder.h"
#include "capture/protocols/label.h"

#define BB_RPC_REPLY_MIN 20u  // bytes of a reply that refuses the credentials
#define BB_RPC_FRONT 1200u    // bytes of a message that hold its head and what labels are made of
#define BB_RPC_STATUS_MAX 40u // bytes of a status, with its end
#define BB_RPC_CALLBACK_40 0x40000000u // program that NFS v4 clients serve (RFC 7530, 18)

typedef enum {
    BB_RPC_BAD,   // no RPC message
    BB_RPC_SHORT, // too few bytes to tell
    BB_RPC_CUT,   // a call, of which a part of the credentials or the verifier is missing
    BB_RPC_READ,
} BbRpcVerdict;

typedef struct BbRpcMessage {
    guint32 xid;
    bool is_reply;
    // Calls.
    guint32 program, version, procedure;
    guint8 service;  // of RPCSEC_GSS (RFC 2203): how arguments and results are wrapped
    guint8 gss;      // procedure of RPCSEC_GSS: 0 = a call of the program
    bool starts_tls; // asks for TLS (RFC 9289), or grants it
    // Replies.
    bool denied;
    guint32 why;   // accept_stat, or reject_stat where denied
    BbCursor body; // arguments or results, as far as they are there
} BbRpcMessage;

// Reads the head of a message. It is READ also where only its arguments are missing; of one that is
// CUT, nothing is known but the procedure.
BbRpcVerdict bb_rpc_message_read(BbRpcMessage *message, const guint8 *data, gsize length);

// What a call leaves for its reply to be understood: fits into the tag of an open call. 0: nothing
// is known.
guint32 bb_rpc_message_tag(const BbRpcMessage *call);

// "program.procedure", by names or numbers; out has BB_LABEL_MAX + 1 bytes. Returns its length.
gsize bb_rpc_message_label(const BbRpcMessage *call, char *out);
// How the call of tag was answered; out has BB_RPC_STATUS_MAX bytes. Returns its length.
gsize bb_rpc_message_status(const BbRpcMessage *reply, guint32 tag, char *out);

// The operation of an NFS v4 COMPOUND (RFC 7530, 8881) that it is made for; arguments as sent.
const char *bb_rpc_compound_name(BbCursor arguments, bool callback);
// "NFS3ERR_NOENT"; NULL if the code is not known. version 2 to 4.
const char *bb_rpc_nfs_error(guint32 version, guint32 code, char *out);

// Record mark and message, or a datagram: bb_decoder_oncrpc's.
BbMatch bb_rpc_probe_message(const guint8 *data, gsize length);
BbMatch bb_rpc_probe_record(const guint8 *data, gsize length);
