// SPDX-License-Identifier: Apache-2.0
// In: bytes that may be SMB2/3 in TCP. Out: headers, labels, and whether it is SMB2.
#include "capture/protocols/smb2_message.h"

#include "capture/cursor.h"
#include "capture/protocols/label.h"

// First word of a message: a byte that tells the kind, and "SMB".
enum { MAGIC_SMB2 = 0xfe, MAGIC_SMB1 = 0xff, MAGIC_ENCRYPTED = 0xfd, MAGIC_COMPRESSED = 0xfc };
#define MAGIC_REST 0x534d42u

// Types of NetBIOS session packets. In direct TCP (port 445) only the first, with a longer length.
enum { SESSION_MESSAGE = 0x00, SESSION_REQUEST = 0x81, SESSION_KEEPALIVE = 0x85 };
#define SESSION_SETUP_MAX 72u // bytes of a session request: two encoded names

#define SMB1_HEADER 32u
#define SMB1_NEGOTIATE 0x72u
#define SMB1_REPLY 0x80u
#define FLAG_RESPONSE 0x1u
#define FLAG_ASYNC 0x2u
#define IOCTL_REQUEST 57u // its StructureSize
#define PIPE_TRANSCEIVE 0x0011c017u
#define TRANSFORM 52u   // MS-SMB2, 2.2.41
#define COMPRESSION 16u // MS-SMB2, 2.2.42.1; 2.2.42.2 with the header of its first payload
#define COMPRESSION_CHAINED 0x1u
#define COMPRESSION_NONE 0u

static const char *const commands[] = {
    "NEGOTIATE",     "SESSION_SETUP", "LOGOFF",   "TREE_CONNECT", "TREE_DISCONNECT",
    "CREATE",        "CLOSE",         "FLUSH",    "READ",         "WRITE",
    "LOCK",          "IOCTL",         "CANCEL",   "ECHO",         "QUERY_DIRECTORY",
    "CHANGE_NOTIFY", "QUERY_INFO",    "SET_INFO", "OPLOCK_BREAK", "SERVER_TO_CLIENT_NOTIFICATION",
};

// MS-FSCC 2.3, MS-SMB2 2.2.31.
static const struct {
    guint32 code;
    const char *name;
} controls[] = {
    {0x00060194, "DFS_GET_REFERRALS"},
    {0x000601b0, "DFS_GET_REFERRALS_EX"},
    {0x00090064, "GET_NTFS_VOLUME_DATA"},
    {0x000900a4, "SET_REPARSE_POINT"},
    {0x000900a8, "GET_REPARSE_POINT"},
    {0x000900c4, "SET_SPARSE"},
    {0x000940cf, "QUERY_ALLOCATED_RANGES"},
    {0x000980c8, "SET_ZERO_DATA"},
    {0x0011400c, "PIPE_PEEK"},
    {0x00110018, "PIPE_WAIT"},
    {PIPE_TRANSCEIVE, "PIPE_TRANSCEIVE"},
    {0x00140078, "SRV_REQUEST_RESUME_KEY"},
    {0x001401fc, "QUERY_NETWORK_INTERFACE_INFO"},
    {0x00140204, "VALIDATE_NEGOTIATE_INFO"},
    {0x001401d4, "LMR_REQUEST_RESILIENCY"},
    {0x00144064, "SRV_ENUMERATE_SNAPSHOTS"},
    {0x001440f2, "SRV_COPYCHUNK"},
    {0x001480f2, "SRV_COPYCHUNK_WRITE"},
};

gsize bb_smb2_message_label(const BbSmb2Message *message, char *out)
{
    if (message->kind == BB_SMB2_HIDDEN)
        return g_strlcpy(out, "?", BB_LABEL_MAX + 1);
    const char *detail = NULL;
    for (gsize i = 0; message->command == BB_SMB2_IOCTL && i < G_N_ELEMENTS(controls); i++)
        if (controls[i].code == message->control)
            detail = controls[i].name;
    return (gsize)g_snprintf(out, BB_LABEL_MAX + 1, "%s%s%s", commands[message->command],
                             detail ? " " : "", detail ? detail : "");
}

// ---- headers ----------------------------------------------------------------------------------

// All ones stand for the file of the operation before in a compound (MS-SMB2 3.3.5.2.7.2): they
// name none.
static void take_file(BbSmb2Message *message, BbCursor *c)
{
    const guint8 *file = bb_cursor_take(c, BB_SMB2_FILE);
    if (!file)
        return;
    memcpy(message->file, file, BB_SMB2_FILE);
    for (guint i = 0; i < BB_SMB2_FILE; i++)
        message->has_file |= file[i] != 0xff;
}

static void set_data(BbSmb2Message *message, const BbCursor *c, guint32 at, guint32 length)
{
    if (!bb_cursor_ok(c) || at < BB_SMB2_HEADER || at > message->length ||
        length > message->length - at)
        return;
    message->data = at;
    message->data_length = length;
}

// MS-SMB2, 2.2.31 and 2.2.32. c: after StructureSize.
static void read_ioctl(BbSmb2Message *message, BbCursor c)
{
    bb_cursor_skip(&c, 2);
    guint32 control = bb_cursor_le32(&c);
    if (!bb_cursor_ok(&c))
        return;
    message->control = control;
    take_file(message, &c);
    guint32 at = bb_cursor_le32(&c), length = bb_cursor_le32(&c);
    if (message->response) {
        at = bb_cursor_le32(&c);
        length = bb_cursor_le32(&c);
    }
    if (control == PIPE_TRANSCEIVE)
        set_data(message, &c, at, length);
}

// c: behind the header. Each body begins with its StructureSize.
static void read_body(BbSmb2Message *message, BbCursor c)
{
    guint16 size = bb_cursor_le16(&c);
    if (message->command == BB_SMB2_IOCTL && size == (message->response ? 49 : IOCTL_REQUEST)) {
        read_ioctl(message, c);
    } else if (message->command == BB_SMB2_CLOSE && !message->response && size == 24) {
        bb_cursor_skip(&c, 6);
        take_file(message, &c);
    } else if (message->command == BB_SMB2_READ_FILE && !message->response && size == 49) {
        bb_cursor_skip(&c, 14);
        take_file(message, &c);
    } else if (message->command == BB_SMB2_READ_FILE && message->response && size == 17) {
        guint8 at = bb_cursor_u8(&c);
        bb_cursor_skip(&c, 1);
        guint32 length = bb_cursor_le32(&c);
        set_data(message, &c, at, length);
    } else if (message->command == BB_SMB2_WRITE_FILE && !message->response && size == 49) {
        guint16 at = bb_cursor_le16(&c);
        guint32 length = bb_cursor_le32(&c);
        bb_cursor_skip(&c, 8);
        take_file(message, &c);
        set_data(message, &c, at, length);
    }
}

// MS-SMB2, 2.2.1. size: bytes of the message and those that follow in its frame.
static BbSmb2Verdict read_header(BbSmb2Message *message, BbCursor c, gsize size)
{
    guint16 header = bb_cursor_le16(&c);
    bb_cursor_skip(&c, 2); // CreditCharge
    guint32 status = bb_cursor_le32(&c);
    guint16 command = bb_cursor_le16(&c);
    bb_cursor_skip(&c, 2); // credits
    guint32 flags = bb_cursor_le32(&c), next = bb_cursor_le32(&c);
    guint64 low = bb_cursor_le32(&c), high = bb_cursor_le32(&c);
    if (!bb_cursor_ok(&c))
        return BB_SMB2_SHORT;
    bb_cursor_skip(&c, 32); // async id or tree id, session, signature; the snap length may cut them
    if (header != BB_SMB2_HEADER || command >= G_N_ELEMENTS(commands) ||
        (next && (next < BB_SMB2_HEADER || next >= size || next % 8)))
        return BB_SMB2_BAD;
    message->kind = BB_SMB2_PLAIN;
    message->command = command;
    message->response = flags & FLAG_RESPONSE;
    message->async = flags & FLAG_ASYNC;
    message->status = message->response ? status : 0;
    message->id = high << 32 | low;
    message->length = next ? next : size;
    read_body(message, c);
    return BB_SMB2_READ;
}

static BbSmb2Verdict read_smb1(BbSmb2Message *message, BbCursor c)
{
    guint8 command = bb_cursor_u8(&c);
    bb_cursor_skip(&c, 4); // status
    guint8 flags = bb_cursor_u8(&c);
    if (!bb_cursor_ok(&c))
        return BB_SMB2_SHORT;
    message->kind = command == SMB1_NEGOTIATE ? BB_SMB2_NEGOTIATE : BB_SMB2_SMB1;
    message->response = flags & SMB1_REPLY;
    return BB_SMB2_READ;
}

// Where not all is compressed, what is in the clear comes first, and begins with the header. A
// chain of payloads says so in the first one's algorithm. Where a compound goes on does not show:
// offsets are those of what is not compressed.
static BbSmb2Verdict read_compressed(BbSmb2Message *message, BbCursor c, gsize size)
{
    bb_cursor_skip(&c, 4); // size before
    guint16 algorithm = bb_cursor_le16(&c), flags = bb_cursor_le16(&c);
    guint32 clear = bb_cursor_le32(&c);
    if (!bb_cursor_ok(&c))
        return BB_SMB2_SHORT;
    bool hidden = flags & COMPRESSION_CHAINED && algorithm != COMPRESSION_NONE;
    if (hidden || clear < BB_SMB2_HEADER || clear > size - COMPRESSION)
        return BB_SMB2_READ;
    c.left = MIN(c.left, clear);
    guint32 magic = bb_cursor_be32(&c);
    if (bb_cursor_ok(&c) && magic != ((guint32)MAGIC_SMB2 << 24 | MAGIC_REST))
        return BB_SMB2_BAD;
    BbSmb2Verdict verdict = read_header(message, c, G_MAXSIZE);
    message->length = size;
    message->data = message->data_length = 0; // it is compressed
    return verdict;
}

// c: after the magic word.
static BbSmb2Verdict read_kind(BbSmb2Message *message, guint8 kind, BbCursor c, gsize size)
{
    message->kind = BB_SMB2_HIDDEN;
    message->length = size;
    switch (kind) {
    case MAGIC_SMB2:
        return size < BB_SMB2_HEADER ? BB_SMB2_BAD : read_header(message, c, size);
    case MAGIC_SMB1:
        return size < SMB1_HEADER ? BB_SMB2_BAD : read_smb1(message, c);
    case MAGIC_COMPRESSED:
        return size < COMPRESSION ? BB_SMB2_BAD : read_compressed(message, c, size);
    case MAGIC_ENCRYPTED:
        return size < TRANSFORM + BB_SMB2_HEADER ? BB_SMB2_BAD : BB_SMB2_READ;
    default:
        return BB_SMB2_BAD;
    }
}

// Session set-up and keepalives of NetBIOS.
static BbSmb2Verdict read_session(BbSmb2Message *message, guint8 type, guint32 size)
{
    message->length = message->frame = BB_SMB2_FRAMING + size;
    bool known = type >= SESSION_REQUEST && type <= SESSION_KEEPALIVE && size <= SESSION_SETUP_MAX;
    return known ? BB_SMB2_READ : BB_SMB2_BAD;
}

BbSmb2Verdict bb_smb2_message_read(BbSmb2Message *message, const guint8 *data, gsize length,
                                   gsize rest)
{
    BbCursor c = bb_cursor(data, length);
    gsize framing = rest ? 0 : BB_SMB2_FRAMING;
    *message = (BbSmb2Message){0};
    if (!rest) {
        guint32 head = bb_cursor_be32(&c);
        if (!bb_cursor_ok(&c))
            return BB_SMB2_SHORT;
        rest = head & 0xffffff;
        if (head >> 24 != SESSION_MESSAGE || rest == 0)
            return read_session(message, (guint8)(head >> 24), (guint32)rest);
    }
    guint32 magic = bb_cursor_be32(&c);
    if (!bb_cursor_ok(&c))
        return BB_SMB2_SHORT;
    if ((magic & 0xffffff) != MAGIC_REST)
        return BB_SMB2_BAD;
    BbSmb2Verdict verdict = read_kind(message, (guint8)(magic >> 24), c, rest);
    message->length += framing;
    message->data += message->data_length ? framing : 0;
    message->frame = framing + rest;
    return verdict;
}

// ---- the probe --------------------------------------------------------------------------------

BbMatch bb_smb2_probe(const guint8 *data, gsize length)
{
    static const guint8 magic[] = {'S', 'M', 'B'};
    BbSmb2Message message;
    if (length > 0 && data[0] != SESSION_MESSAGE && data[0] != SESSION_REQUEST)
        return BB_MATCH_NO;
    for (gsize i = 5; i < MIN(length, 8); i++)
        if (data[0] == SESSION_MESSAGE && data[i] != magic[i - 5])
            return BB_MATCH_NO;
    switch (bb_smb2_message_read(&message, data, length, 0)) {
    case BB_SMB2_SHORT:
        return BB_MATCH_MORE;
    case BB_SMB2_BAD:
        return BB_MATCH_NO;
    default:
        break;
    }
    if (message.kind == BB_SMB2_NOTHING)
        return length >= BB_SMB2_FRAMING && data[0] == SESSION_REQUEST ? BB_MATCH_MAYBE
                                                                       : BB_MATCH_NO;
    if (message.kind == BB_SMB2_SMB1)
        return BB_MATCH_NO;
    if (message.kind == BB_SMB2_HIDDEN)
        return BB_MATCH_LIKELY; // who sent it does not show
    return message.response ? BB_MATCH_REPLY : BB_MATCH_REQUEST;
}
