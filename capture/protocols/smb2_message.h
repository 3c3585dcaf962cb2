// SPDX-License-Identifier: Apache-2.0
// The header of one SMB2/3 message (MS-SMB2, 2.2.1) and what frames it in TCP (RFC 1002, 4.3).
#pragma once

#include "capture/decoder.h"

#define BB_SMB2_FRAMING 4u // NetBIOS session header: type, length
#define BB_SMB2_HEADER 64u
#define BB_SMB2_FILE 16u                                              // bytes of a FileId
#define BB_SMB2_WANTED (BB_SMB2_FRAMING + 16u + BB_SMB2_HEADER + 16u) // compressed; with a FileId
#define BB_SMB2_BODY (BB_SMB2_FRAMING + BB_SMB2_HEADER + 56u) // longest body before file's data

typedef enum {
    BB_SMB2_NOTHING,   // keepalive, NetBIOS session set-up
    BB_SMB2_PLAIN,     // a header in the clear
    BB_SMB2_HIDDEN,    // encrypted, or compressed with its header
    BB_SMB2_NEGOTIATE, // SMB1's, by which both find SMB2 (MS-SMB2, 3.2.4.2.2.1)
    BB_SMB2_SMB1,      // any other message of SMB1
} BbSmb2Kind;

enum {
    BB_SMB2_CLOSE = 0x06,
    BB_SMB2_READ_FILE = 0x08,
    BB_SMB2_WRITE_FILE = 0x09,
    BB_SMB2_IOCTL = 0x0b,
    BB_SMB2_CANCEL = 0x0c,
    BB_SMB2_OPLOCK_BREAK = 0x12,
};

#define BB_SMB2_STATUS_PENDING 0x00000103u

typedef struct BbSmb2Message {
    BbSmb2Kind kind;
    gsize length; // of the message with its NetBIOS header if it has one
    gsize frame;  // bytes of the frame it is in, from here on: more where others follow
    guint64 id;   // MessageId; G_MAXUINT64: unsolicited
    guint32 status;
    guint32 control; // IOCTL request: its code
    guint16 command;
    bool response, async;
    // CLOSE, READ, WRITE, IOCTL: as far as their bodies are there.
    bool has_file;
    guint8 file[BB_SMB2_FILE]; // has_file: of a request
    gsize data, data_length;   // of READ responses, WRITE requests, PIPE_TRANSCEIVE: where, from
                               // the message's begin (framing included), and how much; else 0
} BbSmb2Message;

typedef enum { BB_SMB2_BAD, BB_SMB2_SHORT, BB_SMB2_READ } BbSmb2Verdict;

// Reads the message at the front of data. rest: bytes of its frame that are left; 0: a frame begins
// here.
BbSmb2Verdict bb_smb2_message_read(BbSmb2Message *message, const guint8 *data, gsize length,
                                   gsize rest);
// "READ", "IOCTL PIPE_TRANSCEIVE".
gsize bb_smb2_message_label(const BbSmb2Message *message, char *out);
// Name of an NT status without STATUS_, "ok" for success, else its number as 0xC0000022.
gsize bb_smb2_status_format(guint32 status, char *out, gsize size);

BbMatch bb_smb2_probe(const guint8 *data, gsize length);
