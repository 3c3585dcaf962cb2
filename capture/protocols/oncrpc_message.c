// SPDX-License-Identifier: Apache-2.0
// In: the first bytes of an RPC message (RFC 5531, section 9). Out: its head; label and status by
// the program's names (RFC 1833, 1813, 1094, XNFS for NLM, NSM and nfsacl).
#include "capture/protocols/oncrpc_message.h"

#include <string.h>

#define AUTH_MAX 400u       // bytes of credentials and verifiers (RFC 5531, 8.2)
#define PROCEDURE_MAX 4096u // of programs that exist; those of Gluster stay below 100
#define VERSION_MAX 4096u
#define RPC_VERSION 2u

enum { CALL = 0, REPLY = 1 };
enum { ACCEPTED = 0, DENIED = 1 };
enum { RPC_MISMATCH = 0, AUTH_ERROR = 1 };
enum { AUTH_GSS = 6, AUTH_TLS = 7 };
enum { GSS_DATA = 0, GSS_CONTINUE_INIT = 2, GSS_DESTROY = 3 };
enum { GSS_INTEGRITY = 2, GSS_PRIVACY = 3 };
enum { TAG_PROCEDURE = 0xffff, TAG_VERSION = 16, TAG_SERVICE = 24, TAG_PROGRAM = 26 };

// ---- programs -----------------------------------------------------------------------------------

// Where the result of a procedure says how it went.
typedef enum {
    RESULT_NONE,  // nowhere
    RESULT_NFS,   // nfsstat, the first word (its value OK has nothing to say)
    RESULT_MOUNT, // mountstat3, or an errno before version 3
    RESULT_NLM,   // nlm_stats behind the cookie
    RESULT_DONE,  // a boolean: FALSE is an error
    RESULT_FOUND, // a port or an address: 0 and empty mean that there is none
    RESULT_NSM,   // 0 or 1 = failed
} Result;

typedef struct Program {
    guint32 number;
    guint16 version_min, version_max;
    const char *name;
    Result result;
    const char *results;    // a character a procedure: 'y' has the program's result
    const char *procedures; // by number, in blanks; "-" for those that do not exist
} Program;

static const Program programs[] = {
    {100000, 2, 2, "portmap", RESULT_FOUND, "---y--", "NULL SET UNSET GETPORT DUMP CALLIT"},
    {100000, 3, 4, "rpcbind", RESULT_FOUND, "---y-----y---",
     "NULL SET UNSET GETADDR DUMP CALLIT GETTIME UADDR2TADDR TADDR2UADDR GETVERSADDR INDIRECT "
     "GETADDRLIST GETSTAT"},
    {100003, 2, 2, "nfs", RESULT_NFS, "-yy-yyy-yyyyyyyyyy",
     "NULL GETATTR SETATTR ROOT LOOKUP READLINK READ WRITECACHE WRITE CREATE REMOVE RENAME LINK "
     "SYMLINK MKDIR RMDIR READDIR STATFS"},
    {100003, 3, 3, "nfs", RESULT_NFS, "-yyyyyyyyyyyyyyyyyyyyy",
     "NULL GETATTR SETATTR LOOKUP ACCESS READLINK READ WRITE CREATE MKDIR SYMLINK MKNOD REMOVE "
     "RMDIR RENAME LINK READDIR READDIRPLUS FSSTAT FSINFO PATHCONF COMMIT"},
    {100003, 4, 4, "nfs", RESULT_NFS, "-y", "NULL COMPOUND"},
    {100005, 1, 3, "mount", RESULT_MOUNT, "-y",
     "NULL MNT DUMP UMNT UMNTALL EXPORT EXPORTALL PATHCONF"},
    {100011, 1, 2, "rquota", RESULT_NONE, "",
     "NULL GETQUOTA GETACTIVEQUOTA SETQUOTA SETACTIVEQUOTA"},
    {100021, 1, 4, "nlm", RESULT_NLM, "-yyyyy--------------yyy",
     "NULL TEST LOCK CANCEL UNLOCK GRANTED TEST_MSG LOCK_MSG CANCEL_MSG UNLOCK_MSG GRANTED_MSG "
     "TEST_RES LOCK_RES CANCEL_RES UNLOCK_RES GRANTED_RES - - - - SHARE UNSHARE NM_LOCK FREE_ALL"},
    {100024, 1, 1, "nsm", RESULT_NSM, "-yy---", "NULL STAT MON UNMON UNMON_ALL SIMU_CRASH NOTIFY"},
    {100227, 2, 2, "nfsacl", RESULT_NFS, "-yyyy", "NULL GETACL SETACL GETATTR ACCESS"},
    {100227, 3, 3, "nfsacl", RESULT_NFS, "-yyy", "NULL GETACL SETACL GETXATTRDIR"},
    {BB_RPC_CALLBACK_40, 1, 4, "nfs_cb", RESULT_NFS, "-y", "CB_NULL CB_COMPOUND"},
};

static const Program *find_program(guint32 number, guint32 version)
{
    for (guint i = 0; i < G_N_ELEMENTS(programs); i++)
        if (programs[i].number == number && version >= programs[i].version_min &&
            version <= programs[i].version_max)
            return &programs[i];
    return NULL;
}

// The word of that number in a list; NULL if there is none.
static const char *word_at(const char *words, guint32 number, gsize *length)
{
    for (; number; number--) {
        words = strchr(words, ' ');
        if (!words)
            return NULL;
        words++;
    }
    if (*words == '-')
        return NULL;
    *length = strcspn(words, " ");
    return words;
}

// ---- heads --------------------------------------------------------------------------------------

// RFC 5531, 8.1, with the flavours of IANA's registry that are in use, and the two of GlusterFS.
static bool is_flavour(guint32 flavour)
{
    return flavour <= AUTH_TLS || flavour == 200000 || (flavour >= 390000 && flavour <= 390011) ||
           flavour == 390039 || flavour == 390040;
}

// The rest of XDR's four bytes is fill (RFC 4506, 3).
static BbCursor take_opaque(BbCursor *c, gsize max)
{
    guint32 length = bb_cursor_be32(c);
    gsize padded = ((gsize)length + 3) & ~(gsize)3;
    const guint8 *at = length <= max ? bb_cursor_take(c, padded) : NULL;
    c->broken |= !at;
    return bb_cursor(at ? at : (const guint8 *)"", at ? length : 0);
}

// BAD, SHORT or READ.
static BbRpcVerdict read_auth(BbCursor *c, guint32 *flavour, BbCursor *body)
{
    BbCursor ahead = *c;
    *flavour = bb_cursor_be32(&ahead);
    if (bb_cursor_ok(&ahead) && !is_flavour(*flavour))
        return BB_RPC_BAD;
    guint32 length = bb_cursor_be32(&ahead);
    if (bb_cursor_ok(&ahead) && length > AUTH_MAX)
        return BB_RPC_BAD;
    bb_cursor_skip(c, 4);
    *body = take_opaque(c, AUTH_MAX);
    return bb_cursor_ok(c) ? BB_RPC_READ : BB_RPC_SHORT;
}

// RFC 2203, 5: version, procedure, sequence number, service, context handle.
static void read_gss(BbRpcMessage *message, BbCursor credentials)
{
    if (bb_cursor_be32(&credentials) != 1)
        return;
    guint32 procedure = bb_cursor_be32(&credentials);
    bb_cursor_skip(&credentials, 4);
    guint32 service = bb_cursor_be32(&credentials);
    if (!bb_cursor_ok(&credentials))
        return;
    message->gss = (guint8)MIN(procedure, GSS_DESTROY);
    message->service = (guint8)MIN(service, GSS_PRIVACY);
}

// The data is wrapped in a length and a sequence number; encrypted it is not to be read.
static void unwrap(BbCursor *body, guint8 service)
{
    if (service == GSS_INTEGRITY)
        bb_cursor_skip(body, 8);
    body->broken |= service == GSS_PRIVACY;
}

static BbRpcVerdict read_call(BbRpcMessage *message, BbCursor *c)
{
    guint32 flavour, verifier;
    BbCursor credentials, ignored;
    guint32 rpc_version = bb_cursor_be32(c);
    if (bb_cursor_ok(c) && rpc_version != RPC_VERSION)
        return BB_RPC_BAD;
    message->program = bb_cursor_be32(c);
    message->version = bb_cursor_be32(c);
    message->procedure = bb_cursor_be32(c);
    if (!bb_cursor_ok(c))
        return BB_RPC_SHORT;
    if (message->program == 0 || message->program >= 0x60000000u ||
        message->version > VERSION_MAX || message->procedure > PROCEDURE_MAX)
        return BB_RPC_BAD;
    BbRpcVerdict verdict = read_auth(c, &flavour, &credentials);
    if (verdict == BB_RPC_READ)
        verdict = read_auth(c, &verifier, &ignored);
    if (verdict != BB_RPC_READ)
        return verdict == BB_RPC_SHORT ? BB_RPC_CUT : verdict;
    message->starts_tls = flavour == AUTH_TLS && message->procedure == 0;
    if (flavour == AUTH_GSS)
        read_gss(message, credentials);
    message->body = *c;
    unwrap(&message->body, message->service);
    return BB_RPC_READ;
}

static BbRpcVerdict read_denied(BbRpcMessage *message, BbCursor *c)
{
    message->denied = true;
    message->why = bb_cursor_be32(c);
    if (!bb_cursor_ok(c))
        return BB_RPC_SHORT;
    guint32 detail = bb_cursor_be32(c);
    bool good = message->why == RPC_MISMATCH || (message->why == AUTH_ERROR && detail <= 14);
    return !bb_cursor_ok(c) ? BB_RPC_SHORT : good ? BB_RPC_READ : BB_RPC_BAD;
}

static BbRpcVerdict read_reply(BbRpcMessage *message, BbCursor *c)
{
    guint32 flavour;
    BbCursor verifier;
    guint32 state = bb_cursor_be32(c);
    if (!bb_cursor_ok(c))
        return BB_RPC_SHORT;
    if (state == DENIED)
        return read_denied(message, c);
    if (state != ACCEPTED)
        return BB_RPC_BAD;
    BbRpcVerdict verdict = read_auth(c, &flavour, &verifier);
    if (verdict != BB_RPC_READ)
        return verdict;
    message->why = bb_cursor_be32(c);
    message->starts_tls = verifier.left == 8 && memcmp(verifier.at, "STARTTLS", 8) == 0;
    message->body = *c;
    if (!bb_cursor_ok(c))
        return BB_RPC_SHORT;
    return message->why <= 5 ? BB_RPC_READ : BB_RPC_BAD;
}

BbRpcVerdict bb_rpc_message_read(BbRpcMessage *message, const guint8 *data, gsize length)
{
    BbCursor c = bb_cursor(data, length);
    *message = (BbRpcMessage){.xid = bb_cursor_be32(&c)};
    guint32 type = bb_cursor_be32(&c);
    if (!bb_cursor_ok(&c))
        return BB_RPC_SHORT;
    message->is_reply = type == REPLY;
    if (type > REPLY)
        return BB_RPC_BAD;
    return message->is_reply ? read_reply(message, &c) : read_call(message, &c);
}

// ---- labels -------------------------------------------------------------------------------------

static bool is_compound(const BbRpcMessage *call)
{
    return call->procedure == 1 &&
           ((call->program == 100003 && call->version == 4) || call->program == BB_RPC_CALLBACK_40);
}

static gsize name_procedure(const BbRpcMessage *call, const Program *program, char *out)
{
    static const char *const gss[] = {"", "GSS_INIT", "GSS_CONTINUE_INIT", "GSS_DESTROY"};
    gsize length;
    int cut = BB_LABEL_MAX + 1;
    if (call->gss != GSS_DATA)
        return (gsize)g_snprintf(out, (gulong)cut, "%s.%s", program->name, gss[call->gss]);
    const char *procedure = word_at(program->procedures, call->procedure, &length);
    if (!procedure)
        return (gsize)g_snprintf(out, (gulong)cut, "%s.%u", program->name, call->procedure);
    if (!is_compound(call))
        return (gsize)g_snprintf(out, (gulong)cut, "%s.%.*s", program->name, (int)length,
                                 procedure);
    return (gsize)g_snprintf(out, (gulong)cut, "%s.%.*s %s", program->name, (int)length, procedure,
                             bb_rpc_compound_name(call->body, call->program == BB_RPC_CALLBACK_40));
}

gsize bb_rpc_message_label(const BbRpcMessage *call, char *out)
{
    const Program *program = find_program(call->program, call->version);
    if (program)
        return name_procedure(call, program, out);
    return (gsize)g_snprintf(out, BB_LABEL_MAX + 1, "%u.%u", call->program, call->procedure);
}

guint32 bb_rpc_message_tag(const BbRpcMessage *call)
{
    const Program *program = find_program(call->program, call->version);
    if (!program || call->gss != GSS_DATA)
        return 0;
    return (guint32)(program - programs + 1) << TAG_PROGRAM |
           (guint32)call->service << TAG_SERVICE | call->version << TAG_VERSION |
           (call->procedure & TAG_PROCEDURE);
}

// ---- results ------------------------------------------------------------------------------------

// RFC 1813, 5.1.5; others of mountstat3 are those of NFS.
static const char *mount_error(guint32 code)
{
    switch (code) {
    case 1:
        return "MNT3ERR_PERM";
    case 2:
        return "MNT3ERR_NOENT";
    case 5:
        return "MNT3ERR_IO";
    case 13:
        return "MNT3ERR_ACCES";
    case 20:
        return "MNT3ERR_NOTDIR";
    case 22:
        return "MNT3ERR_INVAL";
    case 63:
        return "MNT3ERR_NAMETOOLONG";
    case 10004:
        return "MNT3ERR_NOTSUPP";
    case 10006:
        return "MNT3ERR_SERVERFAULT";
    default:
        return NULL;
    }
}

static const char *lock_error(guint32 code)
{
    static const char *const names[] = {
        "ok",      "LCK_DENIED", "LCK_DENIED_NOLOCKS", "LCK_BLOCKED", "LCK_DENIED_GRACE_PERIOD",
        "DEADLCK", "NLM4_ROFS",  "NLM4_STALE_FH",      "NLM4_FBIG",   "NLM4_FAILED",
    };
    return code < G_N_ELEMENTS(names) ? names[code] : NULL;
}

static const char *result_name(const Program *program, guint32 version, guint32 procedure,
                               BbCursor body, char *number)
{
    const char *name = NULL;
    if (program->result == RESULT_NLM)
        (void)take_opaque(&body, 1024); // the cookie
    guint32 word = bb_cursor_be32(&body);
    bool told = procedure < strlen(program->results) && program->results[procedure] == 'y';
    // SET and UNSET answer with a boolean.
    bool set = program->number == 100000 && (procedure == 1 || procedure == 2);
    if (!bb_cursor_ok(&body) || (!told && !set))
        return "ok";
    if (set)
        return word ? "ok" : "error";
    if (program->result == RESULT_FOUND)
        return word ? "ok" : "PROGNOTREGISTERED";
    if (program->result == RESULT_NLM)
        name = lock_error(word);
    else if (word == 0)
        return "ok";
    else if (program->result == RESULT_NFS)
        name = bb_rpc_nfs_error(program->number == BB_RPC_CALLBACK_40 ? 4 : version, word, number);
    else if (program->result == RESULT_MOUNT && version == 3)
        name = mount_error(word);
    else if (program->result == RESULT_NSM)
        return "error";
    if (!name)
        g_snprintf(number, BB_RPC_STATUS_MAX, "%u", word);
    return name ? name : number;
}

gsize bb_rpc_message_status(const BbRpcMessage *reply, guint32 tag, char *out)
{
    static const char *const accepted[] = {"ok",           "PROG_UNAVAIL", "PROG_MISMATCH",
                                           "PROC_UNAVAIL", "GARBAGE_ARGS", "SYSTEM_ERR"};
    char number[BB_RPC_STATUS_MAX];
    const char *name = "ok";
    if (reply->denied) {
        name = reply->why == AUTH_ERROR ? "AUTH_ERROR" : "RPC_MISMATCH";
    } else if (reply->why != 0) {
        name = accepted[MIN(reply->why, G_N_ELEMENTS(accepted) - 1)];
    } else if (tag) {
        const Program *program = &programs[(tag >> TAG_PROGRAM) - 1];
        BbCursor body = reply->body;
        unwrap(&body, tag >> TAG_SERVICE & 3);
        name = result_name(program, tag >> TAG_VERSION & 0xff, tag & TAG_PROCEDURE, body, number);
    }
    return g_strlcpy(out, name, BB_RPC_STATUS_MAX);
}

// ---- probes -------------------------------------------------------------------------------------

// A call has 64 bits that are fixed, and more; a reply may be a few zeros.
BbMatch bb_rpc_probe_message(const guint8 *data, gsize length)
{
    BbRpcMessage message;
    switch (bb_rpc_message_read(&message, data, length)) {
    case BB_RPC_BAD:
        return BB_MATCH_NO;
    case BB_RPC_SHORT:
        return BB_MATCH_MORE;
    case BB_RPC_CUT:
    case BB_RPC_READ:
        break;
    }
    return message.is_reply ? BB_MATCH_LIKELY : BB_MATCH_REQUEST;
}

BbMatch bb_rpc_probe_record(const guint8 *data, gsize length)
{
    BbCursor c = bb_cursor(data, length);
    guint32 size = bb_cursor_be32(&c) & 0x7fffffffu;
    if (!bb_cursor_ok(&c))
        return BB_MATCH_MORE;
    if (size < BB_RPC_REPLY_MIN || size > 64u << 20)
        return BB_MATCH_NO;
    BbRpcMessage message;
    bool whole = c.left >= size;
    if (whole && bb_rpc_message_read(&message, c.at, size) != BB_RPC_READ)
        return BB_MATCH_NO;
    return bb_rpc_probe_message(c.at, MIN(c.left, size));
}
