// SPDX-License-Identifier: Apache-2.0
// In: messages of MongoDB. Out: what they say, without values.
#include "capture/protocols/mongodb_message.h"

#include "capture/protocols/unpack.h"

#define LENGTH_MAX (48u * 1000u * 1000u + 16u * 1024u) // maxMessageSizeBytes, and some
#define ELEMENTS_MAX 64u                               // of a document that are looked at
#define COMMAND_MAX 40u                                // bytes of a command's name
#define DOCUMENT_LEAST 5u                              // an empty one

// Flags of an OP_MSG; of the low 16 unknown ones are errors.
#define MSG_CHECKSUM 0x0001u
#define MSG_MORE_TO_COME 0x0002u
#define MSG_EXHAUST 0x00010000u
#define MSG_KNOWN (MSG_CHECKSUM | MSG_MORE_TO_COME)
// Of an OP_QUERY and an OP_REPLY.
#define QUERY_EXHAUST 0x40u
#define REPLY_NO_CURSOR 0x1u
#define REPLY_FAILURE 0x2u

bool bb_mongodb_head_read(BbMongodbHead *head, const guint8 *data)
{
    BbCursor c = bb_cursor(data, BB_MONGODB_HEAD);
    head->length = bb_cursor_le32(&c);
    head->request = bb_cursor_le32(&c);
    head->response_to = bb_cursor_le32(&c);
    head->opcode = bb_cursor_le32(&c);
    if (head->length < BB_MONGODB_HEAD + DOCUMENT_LEAST || head->length > LENGTH_MAX)
        return false;
    switch (head->opcode) {
    case BB_MONGODB_REPLY:
        return head->length >= BB_MONGODB_HEAD + 20;
    case BB_MONGODB_UPDATE:
    case BB_MONGODB_INSERT:
    case BB_MONGODB_QUERY:
    case BB_MONGODB_GET_MORE:
    case BB_MONGODB_DELETE:
    case BB_MONGODB_KILL_CURSORS:
        return head->response_to == 0;
    case BB_MONGODB_COMPRESSED:
    case BB_MONGODB_MSG:
        return true;
    default:
        return false;
    }
}

// ---- BSON ---------------------------------------------------------------------------------------

typedef struct Element {
    const char *name;
    gsize name_length;
    BbCursor value; // as far as it is there
    guint8 type;
} Element;

enum {
    BSON_DOUBLE = 1,
    BSON_STRING,
    BSON_DOCUMENT,
    BSON_ARRAY,
    BSON_BOOL = 8,
    BSON_INT32 = 16,
    BSON_INT64 = 18
};

// Bytes that a value takes; broken where it is of no type.
static gsize value_size(guint8 type, BbCursor *c)
{
    static const guint8 fixed[] = {[0x01] = 8, [0x07] = 12, [0x08] = 1, [0x09] = 8,
                                   [0x10] = 4, [0x11] = 8,  [0x12] = 8, [0x13] = 16};
    BbCursor ahead = *c;
    guint32 length;
    switch (type) {
    case 0x06: // undefined, null, the least and the greatest key
    case 0x0a:
    case 0x7f:
    case 0xff:
        return 0;
    case BSON_STRING:
    case 0x0d:
    case 0x0e:
        return 4 + (gsize)bb_cursor_le32(&ahead);
    case 0x05:
        return 5 + (gsize)bb_cursor_le32(&ahead);
    case 0x0c:
        return 4 + 12 + (gsize)bb_cursor_le32(&ahead);
    case BSON_DOCUMENT:
    case BSON_ARRAY:
    case 0x0f:
        length = bb_cursor_le32(&ahead);
        return MAX(length, DOCUMENT_LEAST);
    default:
        if (type >= G_N_ELEMENTS(fixed) || !fixed[type])
            bb_cursor_skip(c, c->left + 1);
        return type < G_N_ELEMENTS(fixed) ? fixed[type] : 0;
    }
}

// A text that ends with NUL.
static const char *take_cstring(BbCursor *c, gsize *length)
{
    const guint8 *text = c->at, *nul = c->left ? memchr(c->at, 0, c->left) : NULL;
    *length = nul ? (gsize)(nul - text) : 0;
    bb_cursor_skip(c, nul ? *length + 1 : c->left + 1);
    return (const char *)text;
}

static bool next_element(BbCursor *c, Element *element)
{
    element->type = bb_cursor_u8(c);
    if (!bb_cursor_ok(c) || element->type == 0)
        return false;
    element->name = take_cstring(c, &element->name_length);
    if (!bb_cursor_ok(c))
        return false;
    gsize size = element->type == 0x0b ? 0 : value_size(element->type, c);
    element->value = bb_cursor(c->at, MIN(size, c->left));
    if (element->type == 0x0b) { // a regular expression and its options
        (void)take_cstring(c, &size);
        (void)take_cstring(c, &size);
    } else {
        bool cut = size > c->left;
        bb_cursor_skip(c, cut ? c->left : size);
    }
    return bb_cursor_ok(c);
}

static bool is_named(const Element *element, const char *name)
{
    return element->name_length == strlen(name) &&
           memcmp(element->name, name, element->name_length) == 0;
}

// A string's bytes without its NUL, as far as they are there.
static const guint8 *string_of(const Element *element, gsize *length)
{
    BbCursor c = element->value;
    gsize size = bb_cursor_le32(&c);
    *length = MIN(size ? size - 1 : 0, c.left);
    return c.at;
}

// Whether a number or a truth value is 0.
static bool is_zero(const Element *element)
{
    static const guint8 zero[8];
    gsize size = element->type == BSON_BOOL ? 1 : element->type == BSON_INT32 ? 4 : 8;
    bool number = element->type == BSON_DOUBLE || element->type == BSON_BOOL ||
                  element->type == BSON_INT32 || element->type == BSON_INT64;
    return number && element->value.left == size && memcmp(element->value.at, zero, size) == 0;
}

// Opens a document at the front of c.
static bool open_document(BbCursor *c)
{
    return bb_cursor_le32(c) >= DOCUMENT_LEAST && bb_cursor_ok(c);
}

// ---- labels -------------------------------------------------------------------------------------

static void set_label(BbMongodbBody *out, const char *command, const guint8 *collection,
                      gsize length)
{
    if (length)
        (void)bb_label_topic(out->label, command, collection, length, ".");
    else
        g_strlcpy(out->label, command, sizeof out->label);
}

static void copy_command(char *out, const Element *element)
{
    gsize used = 0;
    while (used < MIN(element->name_length, COMMAND_MAX) &&
           (g_ascii_isalnum(element->name[used]) || element->name[used] == '_')) {
        out[used] = element->name[used];
        used++;
    }
    out[used] = '\0';
    if (used == 0 || used < element->name_length)
        g_strlcpy(out, "*", COMMAND_MAX);
}

// Commands whose text is the name of a person.
static bool is_about_people(const char *command)
{
    return strstr(command, "User") || strstr(command, "Role");
}

// The first element of a command is its name, and the collection as a rule; getMore has a cursor
// there, and the collection behind it.
static void label_command(BbMongodbBody *out, BbCursor document)
{
    Element element;
    char command[COMMAND_MAX + 1];
    const guint8 *collection = NULL;
    gsize length = 0;
    if (!open_document(&document) || !next_element(&document, &element)) {
        set_label(out, "?", NULL, 0);
        return;
    }
    bool wraps = is_named(&element, "$query") || is_named(&element, "query");
    if (wraps && element.type == BSON_DOCUMENT) { // of drivers before 3.6
        document = element.value;
        if (!open_document(&document) || !next_element(&document, &element))
            return;
    }
    copy_command(command, &element);
    bool known = strcmp(command, "getMore") != 0;
    for (guint i = 0; !known && i < ELEMENTS_MAX && next_element(&document, &element); i++)
        known = is_named(&element, "collection");
    if (known && element.type == BSON_STRING && !is_about_people(command))
        collection = string_of(&element, &length);
    set_label(out, command, collection, length);
}

// "db.collection" without the database.
static const guint8 *collection_of(const char *full, gsize *length)
{
    const char *dot = *length ? memchr(full, '.', *length) : NULL;
    gsize skipped = dot ? (gsize)(dot - full) + 1 : 0;
    *length -= skipped;
    return (const guint8 *)full + skipped;
}

// The operations before OP_MSG: flags or nothing, then the full name of a collection.
static void read_old_request(BbMongodbBody *out, guint32 opcode, BbCursor body)
{
    const char *verb = opcode == BB_MONGODB_INSERT   ? "insert"
                       : opcode == BB_MONGODB_UPDATE ? "update"
                       : opcode == BB_MONGODB_DELETE ? "delete"
                       : opcode == BB_MONGODB_QUERY  ? "query"
                                                     : "getMore";
    gsize length;
    out->one_way = opcode != BB_MONGODB_QUERY && opcode != BB_MONGODB_GET_MORE;
    if (opcode == BB_MONGODB_KILL_CURSORS) {
        set_label(out, "killCursors", NULL, 0);
        return;
    }
    guint32 flags = bb_cursor_le32(&body);
    out->exhaust = opcode == BB_MONGODB_QUERY && flags & QUERY_EXHAUST;
    const char *full = take_cstring(&body, &length);
    const guint8 *collection = collection_of(full, &length);
    if (opcode == BB_MONGODB_QUERY && length == 4 && memcmp(collection, "$cmd", 4) == 0) {
        bb_cursor_skip(&body, 8); // to skip, to return
        label_command(out, body);
        return;
    }
    set_label(out, verb, collection, length);
}

// ---- replies ------------------------------------------------------------------------------------

static void set_error(BbMongodbBody *out, const guint8 *name, gsize length)
{
    bool word = length > 0 && length <= BB_MONGODB_ERROR_MAX;
    for (gsize i = 0; word && i < length; i++)
        word = g_ascii_isalnum(name[i]);
    g_strlcpy(out->error, "error", sizeof out->error);
    if (!word)
        return;
    memcpy(out->error, name, length);
    out->error[length] = '\0';
}

// What failed says so before its texts: `ok: 0`, then the code's name; what did not may have any
// amount of results before its `ok: 1`.
static void read_result(BbMongodbBody *out, BbCursor document)
{
    Element element;
    bool failed = false;
    const guint8 *name = NULL;
    gsize length = 0;
    out->unread = !open_document(&document);
    for (guint i = 0; !out->unread && i < ELEMENTS_MAX && next_element(&document, &element); i++) {
        failed |= is_named(&element, "ok") && is_zero(&element);
        failed |= is_named(&element, "$err") || is_named(&element, "writeErrors") ||
                  is_named(&element, "writeConcernError");
        if (is_named(&element, "codeName") && element.type == BSON_STRING)
            name = string_of(&element, &length);
    }
    if (failed)
        set_error(out, name, length);
}

static void read_old_reply(BbMongodbBody *out, BbCursor body)
{
    static const char no_cursor[] = "CursorNotFound";
    guint32 flags = bb_cursor_le32(&body);
    guint32 low = bb_cursor_le32(&body), high = bb_cursor_le32(&body); // the cursor
    bb_cursor_skip(&body, 8);
    out->more_to_come = low || high;
    bool headed = bb_cursor_ok(&body);
    read_result(out, body);
    out->unread = !headed; // there need not be a document
    if (flags & REPLY_NO_CURSOR)
        set_error(out, (const guint8 *)no_cursor, strlen(no_cursor));
    else if (flags & REPLY_FAILURE && !out->error[0])
        set_error(out, NULL, 0);
}

// ---- bodies -------------------------------------------------------------------------------------

// The section with the command: before it may be sequences of documents.
static bool find_command(BbCursor *c)
{
    for (guint i = 0; i < ELEMENTS_MAX && c->left; i++) {
        if (bb_cursor_u8(c) == 0)
            return bb_cursor_ok(c);
        BbCursor size = *c;
        bb_cursor_skip(c, bb_cursor_le32(&size));
    }
    return false;
}

static void read_msg(BbMongodbBody *out, bool is_request, BbCursor body)
{
    guint32 flags = bb_cursor_le32(&body);
    out->exhaust = flags & MSG_EXHAUST;
    out->one_way = is_request && flags & MSG_MORE_TO_COME;
    out->more_to_come = out->streams = !is_request && flags & MSG_MORE_TO_COME;
    bool found = find_command(&body);
    if (!is_request)
        read_result(out, body);
    else if (found)
        label_command(out, body);
    else
        set_label(out, "?", NULL, 0);
}

static void set_unread(BbMongodbBody *out)
{
    out->unread = true;
    set_label(out, "?", NULL, 0);
}

static void read_compressed(BbMongodbBody *out, bool is_request, BbCursor body)
{
    enum { PLAIN, SNAPPY, ZLIB, ZSTD };
    guint8 room[BB_MONGODB_BODY_READ];
    guint32 opcode = bb_cursor_le32(&body);
    bb_cursor_skip(&body, 4); // the plain length
    guint8 compressor = bb_cursor_u8(&body);
    gsize used = 0;
    if (!bb_cursor_ok(&body) || opcode == BB_MONGODB_COMPRESSED) {
        set_unread(out);
        return;
    }
    if (compressor == PLAIN)
        memcpy(room, body.at, used = MIN(sizeof room, body.left));
    else if (compressor == SNAPPY)
        used = bb_unpack_snappy(room, sizeof room, body.at, body.left);
    else if (compressor == ZLIB)
        used = bb_unpack_zlib(room, sizeof room, body.at, body.left);
    else if (compressor == ZSTD)
        used = bb_unpack_zstd(room, sizeof room, body.at, body.left);
    if (used)
        bb_mongodb_body_read(out, opcode, is_request, bb_cursor(room, used));
    else
        set_unread(out);
}

void bb_mongodb_body_read(BbMongodbBody *out, guint32 opcode, bool is_request, BbCursor body)
{
    *out = (BbMongodbBody){.one_way = false};
    switch (opcode) {
    case BB_MONGODB_MSG:
        read_msg(out, is_request, body);
        break;
    case BB_MONGODB_COMPRESSED:
        read_compressed(out, is_request, body);
        break;
    case BB_MONGODB_REPLY:
        read_old_reply(out, body);
        break;
    default:
        read_old_request(out, opcode, body);
        break;
    }
}

// ---- the probe ----------------------------------------------------------------------------------

// Whether a document of at most size bytes begins here, with an element that has a name.
static BbMatch probe_document(BbCursor c, gsize size)
{
    if (c.left < MIN(6u, size))
        return BB_MATCH_MORE;
    guint32 length = bb_cursor_le32(&c);
    guint8 type = bb_cursor_u8(&c), letter = bb_cursor_u8(&c);
    if (length < DOCUMENT_LEAST || length > size)
        return BB_MATCH_NO;
    bool known = (type >= 0x01 && type <= 0x13) || type == 0x7f || type == 0xff;
    bool fits = length == DOCUMENT_LEAST ? type == 0 : known && (letter == 0 || letter >= ' ');
    return fits ? BB_MATCH_REQUEST : BB_MATCH_NO;
}

static BbMatch probe_msg(BbCursor c, gsize size)
{
    if (c.left < 5 || size < 5 + DOCUMENT_LEAST)
        return size < 5 + DOCUMENT_LEAST ? BB_MATCH_NO : BB_MATCH_MORE;
    guint32 flags = bb_cursor_le32(&c);
    guint8 kind = bb_cursor_u8(&c);
    if ((flags & 0xffff & ~MSG_KNOWN) || (flags & ~(0xffff | MSG_EXHAUST)) || kind > 1)
        return BB_MATCH_NO;
    if (kind == 0)
        return probe_document(c, size - 5);
    if (c.left < 5)
        return BB_MATCH_MORE;
    guint32 sequence = bb_cursor_le32(&c);
    return sequence <= size - 5 && g_ascii_isalpha(c.at[0]) ? BB_MATCH_REQUEST : BB_MATCH_NO;
}

static BbMatch probe_compressed(BbCursor c)
{
    if (c.left < 9)
        return BB_MATCH_MORE;
    guint32 opcode = bb_cursor_le32(&c), plain = bb_cursor_le32(&c);
    bool known = opcode == BB_MONGODB_REPLY || opcode == BB_MONGODB_MSG ||
                 (opcode >= BB_MONGODB_UPDATE && opcode <= BB_MONGODB_KILL_CURSORS);
    return known && plain <= LENGTH_MAX && bb_cursor_u8(&c) <= 3 ? BB_MATCH_REQUEST : BB_MATCH_NO;
}

static BbMatch probe_reply(BbCursor c, gsize size)
{
    if (c.left < 20)
        return BB_MATCH_MORE;
    guint32 flags = bb_cursor_le32(&c);
    bb_cursor_skip(&c, 12);
    guint32 count = bb_cursor_le32(&c);
    if (flags > 0x0f || (count == 0) != (size == 20))
        return BB_MATCH_NO;
    return count ? probe_document(c, size - 20) : BB_MATCH_REQUEST;
}

// Full name of a collection: "database.collection".
static BbMatch probe_old_request(BbCursor c, guint32 opcode)
{
    if (opcode == BB_MONGODB_KILL_CURSORS) {
        BbMatch known = bb_cursor_le32(&c) == 0 ? BB_MATCH_REQUEST : BB_MATCH_NO;
        return bb_cursor_ok(&c) ? known : BB_MATCH_MORE;
    }
    if (c.left < 8)
        return BB_MATCH_MORE;
    guint32 flags = bb_cursor_le32(&c);
    if (flags > 0xff)
        return BB_MATCH_NO;
    const guint8 *nul = memchr(c.at, 0, c.left);
    gsize length = nul ? (gsize)(nul - c.at) : c.left;
    for (gsize i = 0; i < length; i++)
        if (c.at[i] <= ' ')
            return BB_MATCH_NO;
    if (length > 300 || (nul && !memchr(c.at, '.', length)))
        return BB_MATCH_NO;
    return nul ? BB_MATCH_REQUEST : BB_MATCH_MORE;
}

BbMatch bb_mongodb_probe(const guint8 *data, gsize length)
{
    BbMongodbHead head;
    if (length < BB_MONGODB_HEAD) // lengths have a high byte of 0, 1 or 2, operations of 0
        return (length > 3 && data[3] > 2) || (length > 14 && data[14]) ? BB_MATCH_NO
                                                                        : BB_MATCH_MORE;
    if (!bb_mongodb_head_read(&head, data))
        return BB_MATCH_NO;
    gsize size = head.length - BB_MONGODB_HEAD;
    BbCursor c = bb_cursor(data + BB_MONGODB_HEAD, MIN(length - BB_MONGODB_HEAD, size));
    BbMatch match;
    switch (head.opcode) {
    case BB_MONGODB_MSG:
        match = probe_msg(c, size);
        break;
    case BB_MONGODB_COMPRESSED:
        match = probe_compressed(c);
        break;
    case BB_MONGODB_REPLY:
        match = probe_reply(c, size);
        break;
    default:
        match = probe_old_request(c, head.opcode);
        break;
    }
    bool reply = head.opcode == BB_MONGODB_REPLY || head.response_to != 0;
    return match == BB_MATCH_REQUEST && reply ? BB_MATCH_REPLY : match;
}
