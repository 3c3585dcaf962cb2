// SPDX-License-Identifier: Apache-2.0
// In: the first bytes of a GIOP message. Out: its type, id, operation, status.
#include "capture/protocols/giop_message.h"

#define CONTEXTS_MAX 64u   // service contexts of a message
#define PROFILES_MAX 64u   // of an object reference
#define OPERATION_MAX 256u // bytes of a name, with its end
#define UNIQUE_ID_MAX 252u // MIOP, section 11.2.1

enum { FLAG_LITTLE = 1, FLAG_MORE = 2 };
enum { KEY_ADDRESS, PROFILE_ADDRESS, REFERENCE_ADDRESS };

// ---- CDR (section 9.3) --------------------------------------------------------------------------

typedef struct Cdr {
    BbCursor c;
    gsize size; // of it all: alignment counts from its beginning
    bool little;
} Cdr;

static void align(Cdr *cdr, gsize to)
{
    gsize at = cdr->size - cdr->c.left;
    bb_cursor_skip(&cdr->c, (to - at % to) % to);
}

static guint32 read_long(Cdr *cdr)
{
    align(cdr, 4);
    return cdr->little ? bb_cursor_le32(&cdr->c) : bb_cursor_be32(&cdr->c);
}

static guint16 read_short(Cdr *cdr)
{
    align(cdr, 2);
    return cdr->little ? bb_cursor_le16(&cdr->c) : bb_cursor_be16(&cdr->c);
}

static void skip_sequence(Cdr *cdr)
{
    guint32 length = read_long(cdr);
    bb_cursor_skip(&cdr->c, length);
}

// Tagged profiles and service contexts: a number and bytes each.
static void skip_tagged(Cdr *cdr, guint32 max)
{
    guint32 count = read_long(cdr);
    cdr->c.broken |= count > max;
    for (guint32 i = 0; i < count && bb_cursor_ok(&cdr->c); i++) {
        (void)read_long(cdr);
        skip_sequence(cdr);
    }
}

// Section 9.4.2: the object, by its key, a profile or a reference.
static void skip_target(Cdr *cdr)
{
    switch (read_short(cdr)) {
    case KEY_ADDRESS:
        skip_sequence(cdr);
        return;
    case PROFILE_ADDRESS:
        (void)read_long(cdr);
        skip_sequence(cdr);
        return;
    case REFERENCE_ADDRESS:
        (void)read_long(cdr);
        skip_sequence(cdr); // type id
        skip_tagged(cdr, PROFILES_MAX);
        return;
    default:
        cdr->c.broken = true;
    }
}

// An identifier of IDL, with its NUL.
static void read_operation(Cdr *cdr, char *out)
{
    guint32 length = read_long(cdr);
    const guint8 *at = length <= OPERATION_MAX ? bb_cursor_take(&cdr->c, length) : NULL;
    gsize count = at && length ? length - 1 : 0;
    for (gsize i = 0; i < count; i++)
        if (!g_ascii_isalnum(at[i]) && at[i] != '_')
            return;
    if (count)
        g_strlcpy(out, (const char *)at, MIN(count, BB_LABEL_MAX) + 1);
}

// ---- messages -----------------------------------------------------------------------------------

static void read_request(BbGiopMessage *message, Cdr *cdr)
{
    if (message->minor < 2)
        skip_tagged(cdr, CONTEXTS_MAX);
    message->id = read_long(cdr);
    // 1.2: 0 is SYNC_NONE and SYNC_WITH_TRANSPORT; others are answered, be it without a result.
    message->answered = bb_cursor_u8(&cdr->c) != 0;
    message->has_id = bb_cursor_ok(&cdr->c);
    if (message->minor >= 1)
        bb_cursor_skip(&cdr->c, 3);
    if (message->minor >= 2)
        skip_target(cdr);
    else
        skip_sequence(cdr);
    read_operation(cdr, message->operation);
}

static void read_reply(BbGiopMessage *message, Cdr *cdr)
{
    if (message->minor < 2)
        skip_tagged(cdr, CONTEXTS_MAX);
    message->id = read_long(cdr);
    message->status = read_long(cdr);
    message->has_id = bb_cursor_ok(&cdr->c);
}

static void read_body(BbGiopMessage *message, Cdr *cdr)
{
    switch (message->type) {
    case BB_GIOP_REQUEST:
        read_request(message, cdr);
        return;
    case BB_GIOP_REPLY:
        read_reply(message, cdr);
        return;
    case BB_GIOP_LOCATE_REPLY:
        message->id = read_long(cdr);
        message->status = read_long(cdr);
        message->has_id = bb_cursor_ok(&cdr->c);
        return;
    case BB_GIOP_FRAGMENT:
        if (message->minor < 2)
            return;
        break;
    case BB_GIOP_CANCEL_REQUEST:
    case BB_GIOP_LOCATE_REQUEST:
        break;
    default:
        return;
    }
    message->id = read_long(cdr);
    message->has_id = bb_cursor_ok(&cdr->c);
}

static bool is_magic(const guint8 *data, gsize length, const char *magic)
{
    return memcmp(data, magic, MIN(length, 4)) == 0;
}

BbGiopVerdict bb_giop_message_read(BbGiopMessage *message, const guint8 *data, gsize length)
{
    *message = (BbGiopMessage){.operation = "?"};
    message->compressed = is_magic(data, length, "ZIOP");
    if (!message->compressed && !is_magic(data, length, "GIOP"))
        return BB_GIOP_BAD;
    BbCursor c = bb_cursor(data, length);
    bb_cursor_skip(&c, 4);
    guint8 major = bb_cursor_u8(&c);
    message->minor = bb_cursor_u8(&c);
    guint8 flags = bb_cursor_u8(&c), type = bb_cursor_u8(&c);
    message->little = flags & FLAG_LITTLE;
    message->more = message->minor > 0 && flags & FLAG_MORE;
    guint32 size = message->little ? bb_cursor_le32(&c) : bb_cursor_be32(&c);
    if (!bb_cursor_ok(&c))
        return BB_GIOP_SHORT;
    if (major != 1 || message->minor > 2 || type > BB_GIOP_FRAGMENT ||
        flags > (FLAG_LITTLE | FLAG_MORE) || size > BB_GIOP_MAX)
        return BB_GIOP_BAD;
    message->type = (BbGiopType)type;
    message->length = BB_GIOP_HEAD + size;
    gsize there = MIN(c.left, size);
    Cdr cdr = {.c = bb_cursor(c.at, there), .size = there, .little = message->little};
    if (!message->compressed)
        read_body(message, &cdr);
    return BB_GIOP_READ;
}

const char *bb_giop_status_name(BbGiopType type, guint32 status)
{
    static const char *const replies[] = {
        "ok",
        "USER_EXCEPTION",
        "SYSTEM_EXCEPTION",
        "LOCATION_FORWARD",
        "LOCATION_FORWARD_PERM",
        "NEEDS_ADDRESSING_MODE",
    };
    static const char *const locations[] = {
        "UNKNOWN_OBJECT",       "ok",
        "OBJECT_FORWARD",       "OBJECT_FORWARD_PERM",
        "LOC_SYSTEM_EXCEPTION", "LOC_NEEDS_ADDRESSING_MODE",
    };
    if (status >= G_N_ELEMENTS(replies))
        return "error";
    return type == BB_GIOP_LOCATE_REPLY ? locations[status] : replies[status];
}

// Section 11.2: magic, version, flags, length, number and count of the packet, id of the whole;
// the data begins at a multiple of 8.
BbGiopVerdict bb_miop_open(const guint8 *data, gsize length, BbCursor *inside)
{
    Cdr cdr = {.c = bb_cursor(data, length), .size = length};
    const guint8 *magic = bb_cursor_take(&cdr.c, 4);
    if (!magic || memcmp(magic, "MIOP", 4) != 0 || bb_cursor_u8(&cdr.c) != 0x10)
        return BB_GIOP_BAD;
    cdr.little = bb_cursor_u8(&cdr.c) & FLAG_LITTLE;
    guint16 size = read_short(&cdr);
    guint32 number = read_long(&cdr), count = read_long(&cdr);
    guint32 id = read_long(&cdr);
    bb_cursor_skip(&cdr.c, MIN(id, UNIQUE_ID_MAX));
    align(&cdr, 8);
    if (!bb_cursor_ok(&cdr.c) || id > UNIQUE_ID_MAX || (count && number >= count))
        return BB_GIOP_BAD;
    *inside = bb_cursor(cdr.c.at, MIN(cdr.c.left, size));
    return number == 0 ? BB_GIOP_READ : BB_GIOP_SHORT;
}
