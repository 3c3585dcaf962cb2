// SPDX-License-Identifier: Apache-2.0
// In: COMPOUND arguments and status codes of NFS (RFC 1094, 1813, 7530, 8881, 7862, 8276). Out:
// names.
#include "capture/protocols/oncrpc_message.h"

// ---- operations of a COMPOUND -------------------------------------------------------------------

#define OPERATIONS_MAX 64u // looked at
#define HANDLE_MAX 128u    // bytes of a file handle
#define TAG_MAX 1024u      // of the text that a client may put on a COMPOUND

enum { OP_ACCESS = 3, OP_GETATTR = 9, OP_GETFH = 10 };
enum { OP_PUTFH = 22, OP_PUTPUBFH = 23, OP_PUTROOTFH = 24, OP_RESTOREFH = 31, OP_SAVEFH = 32 };
enum { OP_SEQUENCE = 53, OP_CB_SEQUENCE = 11 };

// From 3 on.
static const char *const operation_names[] = {
    "ACCESS",
    "CLOSE",
    "COMMIT",
    "CREATE",
    "DELEGPURGE",
    "DELEGRETURN",
    "GETATTR",
    "GETFH",
    "LINK",
    "LOCK",
    "LOCKT",
    "LOCKU",
    "LOOKUP",
    "LOOKUPP",
    "NVERIFY",
    "OPEN",
    "OPENATTR",
    "OPEN_CONFIRM",
    "OPEN_DOWNGRADE",
    "PUTFH",
    "PUTPUBFH",
    "PUTROOTFH",
    "READ",
    "READDIR",
    "READLINK",
    "REMOVE",
    "RENAME",
    "RENEW",
    "RESTOREFH",
    "SAVEFH",
    "SECINFO",
    "SETATTR",
    "SETCLIENTID",
    "SETCLIENTID_CONFIRM",
    "VERIFY",
    "WRITE",
    "RELEASE_LOCKOWNER",
    "BACKCHANNEL_CTL",
    "BIND_CONN_TO_SESSION",
    "EXCHANGE_ID",
    "CREATE_SESSION",
    "DESTROY_SESSION",
    "FREE_STATEID",
    "GET_DIR_DELEGATION",
    "GETDEVICEINFO",
    "GETDEVICELIST",
    "LAYOUTCOMMIT",
    "LAYOUTGET",
    "LAYOUTRETURN",
    "SECINFO_NO_NAME",
    "SEQUENCE",
    "SET_SSV",
    "TEST_STATEID",
    "WANT_DELEGATION",
    "DESTROY_CLIENTID",
    "RECLAIM_COMPLETE",
    "ALLOCATE",
    "COPY",
    "COPY_NOTIFY",
    "DEALLOCATE",
    "IO_ADVISE",
    "LAYOUTERROR",
    "LAYOUTSTATS",
    "OFFLOAD_CANCEL",
    "OFFLOAD_STATUS",
    "READ_PLUS",
    "SEEK",
    "WRITE_SAME",
    "CLONE",
    "GETXATTR",
    "SETXATTR",
    "LISTXATTRS",
    "REMOVEXATTR",
};

static const char *const callback_names[] = {
    "CB_GETATTR",    "CB_RECALL",          "CB_LAYOUTRECALL",         "CB_NOTIFY",
    "CB_PUSH_DELEG", "CB_RECALL_ANY",      "CB_RECALLABLE_OBJ_AVAIL", "CB_RECALL_SLOT",
    "CB_SEQUENCE",   "CB_WANTS_CANCELLED", "CB_NOTIFY_LOCK",          "CB_NOTIFY_DEVICEID",
    "CB_OFFLOAD",
};

static void skip_opaque(BbCursor *c, guint32 max)
{
    guint32 length = bb_cursor_be32(c);
    c->broken |= length > max;
    bb_cursor_skip(c, (MIN(length, max) + 3) & ~3u);
}

// Sessions (RFC 8881, 18.46 and 20.9): id, sequence, slots, a flag; what is referred to may follow.
static bool skip_sequence(BbCursor *c, bool callback)
{
    bb_cursor_skip(c, 16 + 16);
    return !callback || bb_cursor_be32(c) == 0;
}

typedef enum { PASS, WEAK, STRONG } Weight;

// What only prepares the others (PASS) or goes with them (WEAK) is passed over; STRONG: it is what
// the client wants.
static Weight pass_operation(BbCursor *c, guint32 operation)
{
    switch (operation) {
    case OP_SEQUENCE:
        (void)skip_sequence(c, false);
        return PASS;
    case OP_PUTFH:
        skip_opaque(c, HANDLE_MAX);
        return PASS;
    case OP_PUTPUBFH:
    case OP_PUTROOTFH:
    case OP_SAVEFH:
    case OP_RESTOREFH:
    case OP_GETFH:
        return PASS;
    case OP_ACCESS:
        bb_cursor_skip(c, 4);
        return WEAK;
    case OP_GETATTR: {
        guint32 words = bb_cursor_be32(c);
        bb_cursor_skip(c, 4 * MIN((gsize)words, 16));
        return WEAK;
    }
    default:
        return STRONG;
    }
}

static const char *name_of(guint32 operation, bool callback)
{
    const char *const *names = callback ? callback_names : operation_names;
    gsize count = callback ? G_N_ELEMENTS(callback_names) : G_N_ELEMENTS(operation_names);
    return operation >= 3 && operation - 3 < count ? names[operation - 3] : "?";
}

static const char *callback_name(BbCursor c, guint32 count)
{
    guint32 operation = bb_cursor_be32(&c);
    if (operation != OP_CB_SEQUENCE || count < 2)
        return bb_cursor_ok(&c) ? name_of(operation, true) : "?";
    if (!skip_sequence(&c, true))
        return "?";
    operation = bb_cursor_be32(&c);
    return bb_cursor_ok(&c) ? name_of(operation, true) : "?";
}

const char *bb_rpc_compound_name(BbCursor c, bool callback)
{
    const char *weak = NULL, *last = "?";
    skip_opaque(&c, TAG_MAX);
    bb_cursor_skip(&c, callback ? 8 : 4); // minor version; callback_ident
    guint32 count = bb_cursor_be32(&c);
    if (callback)
        return callback_name(c, count);
    for (guint32 i = 0; i < MIN(count, OPERATIONS_MAX); i++) {
        guint32 operation = bb_cursor_be32(&c);
        if (!bb_cursor_ok(&c))
            break;
        Weight weight = pass_operation(&c, operation);
        last = name_of(operation, false);
        if (weight == STRONG)
            return last;
        if (weight == WEAK && (!weak || operation == OP_ACCESS))
            weak = last;
    }
    return weak ? weak : last;
}

// ---- status codes -------------------------------------------------------------------------------

typedef struct Error {
    guint16 code;
    const char *name;
} Error;

// Ascending. Names that versions share have their prefix added.
static const Error errors[] = {
    {1, "PERM"},
    {2, "NOENT"},
    {5, "IO"},
    {6, "NXIO"},
    {13, "ACCES"},
    {17, "EXIST"},
    {18, "XDEV"},
    {19, "NODEV"},
    {20, "NOTDIR"},
    {21, "ISDIR"},
    {22, "INVAL"},
    {27, "FBIG"},
    {28, "NOSPC"},
    {30, "ROFS"},
    {31, "MLINK"},
    {63, "NAMETOOLONG"},
    {66, "NOTEMPTY"},
    {69, "DQUOT"},
    {70, "STALE"},
    {71, "REMOTE"},
    {99, "WFLUSH"},
    {10001, "BADHANDLE"},
    {10002, "NOT_SYNC"},
    {10003, "BAD_COOKIE"},
    {10004, "NOTSUPP"},
    {10005, "TOOSMALL"},
    {10006, "SERVERFAULT"},
    {10007, "BADTYPE"},
    {10008, "DELAY"},
    {10009, "SAME"},
    {10010, "DENIED"},
    {10011, "EXPIRED"},
    {10012, "LOCKED"},
    {10013, "GRACE"},
    {10014, "FHEXPIRED"},
    {10015, "SHARE_DENIED"},
    {10016, "WRONGSEC"},
    {10017, "CLID_INUSE"},
    {10018, "RESOURCE"},
    {10019, "MOVED"},
    {10020, "NOFILEHANDLE"},
    {10021, "MINOR_VERS_MISMATCH"},
    {10022, "STALE_CLIENTID"},
    {10023, "STALE_STATEID"},
    {10024, "OLD_STATEID"},
    {10025, "BAD_STATEID"},
    {10026, "BAD_SEQID"},
    {10027, "NOT_SAME"},
    {10028, "LOCK_RANGE"},
    {10029, "SYMLINK"},
    {10030, "RESTOREFH"},
    {10031, "LEASE_MOVED"},
    {10032, "ATTRNOTSUPP"},
    {10033, "NO_GRACE"},
    {10034, "RECLAIM_BAD"},
    {10035, "RECLAIM_CONFLICT"},
    {10036, "BADXDR"},
    {10037, "LOCKS_HELD"},
    {10038, "OPENMODE"},
    {10039, "BADOWNER"},
    {10040, "BADCHAR"},
    {10041, "BADNAME"},
    {10042, "BAD_RANGE"},
    {10043, "LOCK_NOTSUPP"},
    {10044, "OP_ILLEGAL"},
    {10045, "DEADLOCK"},
    {10046, "FILE_OPEN"},
    {10047, "ADMIN_REVOKED"},
    {10048, "CB_PATH_DOWN"},
    {10049, "BADIOMODE"},
    {10050, "BADLAYOUT"},
    {10051, "BAD_SESSION_DIGEST"},
    {10052, "BADSESSION"},
    {10053, "BADSLOT"},
    {10054, "COMPLETE_ALREADY"},
    {10055, "CONN_NOT_BOUND_TO_SESSION"},
    {10056, "DELEG_ALREADY_WANTED"},
    {10057, "BACK_CHAN_BUSY"},
    {10058, "LAYOUTTRYLATER"},
    {10059, "LAYOUTUNAVAILABLE"},
    {10060, "NOMATCHING_LAYOUT"},
    {10061, "RECALLCONFLICT"},
    {10062, "UNKNOWN_LAYOUTTYPE"},
    {10063, "SEQ_MISORDERED"},
    {10064, "SEQUENCE_POS"},
    {10065, "REQ_TOO_BIG"},
    {10066, "REP_TOO_BIG"},
    {10067, "REP_TOO_BIG_TO_CACHE"},
    {10068, "RETRY_UNCACHED_REP"},
    {10069, "UNSAFE_COMPOUND"},
    {10070, "TOO_MANY_OPS"},
    {10071, "OP_NOT_IN_SESSION"},
    {10072, "HASH_ALG_UNSUPP"},
    {10074, "CLIENTID_BUSY"},
    {10075, "PNFS_IO_HOLE"},
    {10076, "SEQ_FALSE_RETRY"},
    {10077, "BAD_HIGH_SLOT"},
    {10078, "DEADSESSION"},
    {10079, "ENCR_ALG_UNSUPP"},
    {10080, "PNFS_NO_LAYOUT"},
    {10081, "NOT_ONLY_OP"},
    {10082, "WRONG_CRED"},
    {10083, "WRONG_TYPE"},
    {10084, "DIRDELEG_UNAVAIL"},
    {10085, "REJECT_DELEG"},
    {10086, "RETURNCONFLICT"},
    {10087, "DELEG_REVOKED"},
    {10088, "PARTNER_NOTSUPP"},
    {10089, "PARTNER_NO_AUTH"},
    {10090, "UNION_NOTSUPP"},
    {10091, "OFFLOAD_DENIED"},
    {10092, "WRONG_LFS"},
    {10093, "BADLABEL"},
    {10094, "OFFLOAD_NO_REQS"},
    {10095, "NOXATTR"},
    {10096, "XATTR2BIG"},
};

const char *bb_rpc_nfs_error(guint32 version, guint32 code, char *out)
{
    const char *prefix = version == 2 ? "NFSERR_" : version == 3 ? "NFS3ERR_" : "NFS4ERR_";
    if (version == 3 && code == 10008)
        return "NFS3ERR_JUKEBOX";
    for (guint i = 0; i < G_N_ELEMENTS(errors); i++)
        if (errors[i].code == code) {
            g_snprintf(out, BB_RPC_STATUS_MAX, "%s%s", prefix, errors[i].name);
            return out;
        }
    return NULL;
}
