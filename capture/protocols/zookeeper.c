// SPDX-License-Identifier: Apache-2.0
// In: the bytes of a ZooKeeper client connection (ZooKeeper 3.4 to 3.9, zookeeper.jute; ClickHouse
// Keeper, ZooKeeperConstants.h). Out: requests with their responses by xid; watch events are free
// messages of the server.
#include "capture/cursor.h"
#include "capture/protocols/framing.h"
#include "capture/protocols/label.h"
#include "capture/protocols/meaning.h"

#define SIZE 4u // the field before each message
#define FRONT 256u
#define BODY_MAX (64u << 20) // jute.maxbuffer is 1 MiB by default
#define PASSWORD 16u
#define TO_COME_MAX (1u << 20) // bytes of a request whose operation is not known
#define TO_COME_LAST 9999      // their operations
#define REQUEST_HEAD 8u
#define RESPONSE_HEAD 16u
#define KEY_CONNECT (G_GUINT64_CONSTANT(1) << 33)

// xids that are no counters.
enum { XID_EVENT = -1, XID_PING = -2, XID_AUTH = -4, XID_WATCHES = -8 };
enum {
    OP_CLOSE = -11,
    OP_PING = 11,
    OP_MULTI = 14,
    OP_MULTI_READ = 22,
    OP_AUTH = 100,
    OP_SET_WATCHES = 101,
    OP_SASL = 102,
    OP_SET_WATCHES_2 = 105,
    OP_WHO_AM_I = 107,
};
// KeeperException.Code: those of the system, and below these those of calls.
enum { ERROR_SYSTEM_LAST = -14, ERROR_API = -100 };

typedef struct Zookeeper {
    BbFrames frames;
    BbMeaning meaning[2];
    guint32 ok;
} Zookeeper;

typedef struct Operation {
    gint16 code;
    bool has_path; // first of its fields
    const char *name;
} Operation;

static const Operation operations[] = {
    {1, true, "create"},
    {2, true, "delete"},
    {3, true, "exists"},
    {4, true, "getData"},
    {5, true, "setData"},
    {6, true, "getACL"},
    {7, true, "setACL"},
    {8, true, "getChildren"},
    {9, true, "sync"},
    {OP_PING, false, "ping"},
    {12, true, "getChildren2"},
    {13, true, "check"},
    {OP_MULTI, false, "multi"},
    {15, true, "create2"},
    {16, false, "reconfig"},
    {17, true, "checkWatches"},
    {18, true, "removeWatches"},
    {19, true, "createContainer"},
    {20, true, "deleteContainer"},
    {21, true, "createTTL"},
    {OP_MULTI_READ, false, "multiRead"},
    {OP_AUTH, false, "auth"},
    {OP_SET_WATCHES, false, "setWatches"},
    {OP_SASL, false, "sasl"},
    {103, true, "getEphemerals"},
    {104, true, "getAllChildrenNumber"},
    {OP_SET_WATCHES_2, false, "setWatches2"},
    {106, true, "addWatch"},
    {OP_WHO_AM_I, false, "whoAmI"},
    {500, true, "filteredList"},
    {501, true, "checkNotExists"},
    {502, true, "createIfNotExists"},
    {503, true, "removeRecursive"},
    {504, true, "checkStat"},
    {505, true, "tryRemove"},
    {506, true, "filteredListWithStatsAndData"},
    {507, false, "listRecursive"}, // its fields are not known
    {OP_CLOSE, false, "closeSession"},
};

static const Operation *find_operation(gint32 code)
{
    for (gsize i = 0; i < G_N_ELEMENTS(operations); i++)
        if (operations[i].code == code)
            return &operations[i];
    return NULL;
}

// ---- what messages look like --------------------------------------------------------------------

// ConnectRequest and ConnectResponse both begin with protocol version 0 and hold a password;
// `before` is how many bytes precede its length. 3.4 and later append whether reads are enough.
static bool is_connect_record(const guint8 *data, gsize size, gsize there, gsize before)
{
    BbCursor c = bb_cursor(data, there);
    gsize whole = before + 4 + PASSWORD;
    guint32 version = bb_cursor_be32(&c);
    bb_cursor_skip(&c, before - 4);
    guint32 password = bb_cursor_be32(&c);
    return (size == whole || size == whole + 1) && bb_cursor_ok(&c) && version == 0 &&
           password == PASSWORD;
}

static bool is_connect_request(const guint8 *data, gsize size, gsize there)
{
    return is_connect_record(data, size, there, 24);
}

static bool is_connect_response(const guint8 *data, gsize size, gsize there)
{
    return is_connect_record(data, size, there, 16);
}

static gint32 read_int(BbCursor *c)
{
    return (gint32)bb_cursor_be32(c);
}

typedef struct Request {
    gint32 xid, code;
    const Operation *operation; // NULL: one to come
    const guint8 *path;         // lent; NULL: none, or it is cut
    gsize path_length;
} Request;

// size: of the whole message, of which `there` bytes are there.
static bool read_request(const guint8 *data, gsize size, gsize there, Request *request)
{
    BbCursor c = bb_cursor(data, there);
    *request = (Request){.xid = read_int(&c)};
    request->code = read_int(&c);
    request->operation = find_operation(request->code);
    if (!bb_cursor_ok(&c) || !request->operation || request->xid == XID_EVENT)
        return false;
    bool special = request->xid < 0 && request->xid >= XID_WATCHES;
    if (special && request->operation->has_path)
        return false;
    if (!request->operation->has_path)
        return true;
    gsize length = bb_cursor_be32(&c);
    if (!bb_cursor_ok(&c))
        return size > there;
    if (length > size - REQUEST_HEAD - 4)
        return false;
    request->path = bb_cursor_take(&c, MIN(length, c.left));
    request->path_length = request->path ? MIN(length, there - REQUEST_HEAD - 4) : 0;
    return request->path_length == 0 || request->path[0] == '/';
}

// Where requests were read before, what stands behind them is one, also if it is newer than we are.
static bool read_next(const Zookeeper *zk, const guint8 *data, gsize size, gsize there,
                      Request *request)
{
    if (read_request(data, size, there, request))
        return true;
    return zk->frames.side[BB_TO_SERVER].good && there >= REQUEST_HEAD && !request->operation &&
           request->xid > 0 && request->code > 0 && request->code <= TO_COME_LAST &&
           size <= TO_COME_MAX;
}

typedef struct Response {
    gint32 xid, error;
    BbCursor body;
} Response;

// KeeperException.Code: none is below -127.
static bool read_response(const guint8 *data, gsize there, Response *response)
{
    BbCursor c = bb_cursor(data, there);
    response->xid = read_int(&c);
    (void)bb_cursor_be64(&c); // zxid
    response->error = read_int(&c);
    response->body = c;
    return bb_cursor_ok(&c) && response->error <= 0 && response->error > -128;
}

// ---- what they mean -----------------------------------------------------------------------------

static guint64 key_of(gint32 xid)
{
    return G_GUINT64_CONSTANT(1) << 32 | (guint32)xid;
}

static guint32 name(BbDialog *dialog, const char *text)
{
    return bb_dialog_label(dialog, text, strlen(text));
}

static guint32 path_label(BbDialog *dialog, const char *verb, const guint8 *path, gsize length)
{
    char text[BB_LABEL_MAX + 1];
    if (!path)
        return name(dialog, verb);
    return bb_dialog_label(dialog, text, bb_label_topic(text, verb, path, length, "/"));
}

static guint32 status_of(BbDialog *dialog, Zookeeper *zk, gint32 error)
{
    char text[16];
    if (error)
        return bb_dialog_status(dialog, text,
                                (gsize)g_snprintf(text, sizeof text, "%d", (gint)error));
    if (!zk->ok)
        zk->ok = bb_dialog_status(dialog, "ok", 2);
    return zk->ok;
}

static guint32 request_label(BbDialog *dialog, const Request *request)
{
    char text[24];
    if (request->operation)
        return path_label(dialog, request->operation->name, request->path, request->path_length);
    return bb_dialog_label(dialog, text,
                           (gsize)g_snprintf(text, sizeof text, "op %d", (gint)request->code));
}

static BbMeaning request_meaning(BbDialog *dialog, const Zookeeper *zk, const guint8 *data,
                                 gsize size, gsize there)
{
    Request request;
    if (is_connect_request(data, size, there))
        return (BbMeaning){.means = BB_MEANS_CALL,
                           .use = BB_KEY_QUEUED,
                           .op = name(dialog, "connect"),
                           .key = KEY_CONNECT};
    if (!read_next(zk, data, size, there, &request))
        return (BbMeaning){0};
    return (BbMeaning){.means = BB_MEANS_CALL,
                       .use = request.xid < 0 && request.xid >= XID_WATCHES ? BB_KEY_QUEUED
                                                                            : BB_KEY_REUSED,
                       .op = request_label(dialog, &request),
                       .key = key_of(request.xid)};
}

// WatcherEvent: type, state of the session, path.
static BbMeaning event_meaning(BbDialog *dialog, BbCursor c)
{
    static const char *const types[] = {"event",
                                        "nodeCreated",
                                        "nodeDeleted",
                                        "nodeDataChanged",
                                        "nodeChildrenChanged",
                                        "dataWatchRemoved",
                                        "childWatchRemoved"};
    gint32 type = read_int(&c);
    (void)read_int(&c);
    gsize length = bb_cursor_be32(&c);
    const guint8 *path = length ? bb_cursor_take(&c, length) : NULL;
    bool known = type > 0 && type < (gint32)G_N_ELEMENTS(types);
    return (BbMeaning){.means = BB_MEANS_FREE,
                       .op = path_label(dialog, types[known ? type : 0], path, length)};
}

// A session that cannot be had again is told by a timeout of 0.
static BbMeaning connect_answer(BbDialog *dialog, Zookeeper *zk, BbCursor c)
{
    (void)bb_cursor_be32(&c);
    bool refused = bb_cursor_be32(&c) == 0;
    return (BbMeaning){.means = BB_MEANS_RETURN,
                       .status = refused ? bb_dialog_status(dialog, "error", 5)
                                         : status_of(dialog, zk, 0),
                       .key = KEY_CONNECT};
}

static BbMeaning response_meaning(BbDialog *dialog, Zookeeper *zk, const guint8 *data, gsize size,
                                  gsize there)
{
    Response response;
    if (is_connect_response(data, size, there))
        return connect_answer(dialog, zk, bb_cursor(data, there));
    bool whole = read_response(data, there, &response);
    if (!whole && there < SIZE)
        return (BbMeaning){0};
    if (whole && response.xid == XID_EVENT)
        return event_meaning(dialog, response.body);
    return (BbMeaning){.means = BB_MEANS_RETURN,
                       .status = whole ? status_of(dialog, zk, response.error) : BB_NAME_NONE,
                       .key = key_of(response.xid)};
}

// ---- frames -------------------------------------------------------------------------------------

static bool is_message(const Zookeeper *zk, BbDirection direction, const guint8 *data, gsize size,
                       gsize there)
{
    Request request;
    Response response;
    if (direction == BB_TO_SERVER)
        return is_connect_request(data, size, there) || read_next(zk, data, size, there, &request);
    return is_connect_response(data, size, there) || read_response(data, there, &response);
}

static BbFrameVerdict measure(const void *state, BbDirection direction, const guint8 *data,
                              gsize length, BbFrameSize *frame)
{
    BbCursor c = bb_cursor(data, length);
    gsize size = bb_cursor_be32(&c);
    if (!bb_cursor_ok(&c))
        return BB_FRAME_MORE;
    if (size > BODY_MAX || size < (direction == BB_TO_SERVER ? REQUEST_HEAD : RESPONSE_HEAD))
        return BB_FRAME_BAD;
    frame->length = SIZE + size;
    frame->wanted = SIZE + FRONT;
    bool there = c.left >= MIN(size, FRONT);
    return there && !is_message(state, direction, c.at, size, MIN(size, c.left)) ? BB_FRAME_BAD
                                                                                 : BB_FRAME_OK;
}

static void begin(BbDialog *dialog, void *state, const guint8 *data, gsize seen, const BbPart *part)
{
    Zookeeper *zk = state;
    BbMeaning *meaning = &zk->meaning[part->direction];
    BbCursor c = bb_cursor(data, seen);
    gsize size = bb_cursor_be32(&c);
    *meaning = part->direction == BB_TO_SERVER
                   ? request_meaning(dialog, zk, c.at, size, MIN(size, c.left))
                   : response_meaning(dialog, zk, c.at, size, MIN(size, c.left));
    bb_meaning_begin(meaning, dialog, part);
}

static void end(BbDialog *dialog, void *state, const BbPart *part)
{
    Zookeeper *zk = state;
    bb_meaning_end(&zk->meaning[part->direction], dialog, part);
}

// ---- the probe ----------------------------------------------------------------------------------

// Clients count from 1 on, or from the time of day; what is no count has an xid of its own.
static bool has_own_xid(const Request *request)
{
    switch (request->operation->code) {
    case OP_PING:
        return request->xid == XID_PING;
    case OP_AUTH:
        return request->xid == XID_AUTH;
    case OP_SET_WATCHES:
    case OP_SET_WATCHES_2:
        return request->xid == XID_WATCHES;
    default:
        return request->xid > 0;
    }
}

// Whether what follows the head of an operation without a path can be its fields. body: behind it.
static bool fits_fields(const Request *request, gsize size, BbCursor body)
{
    gsize rest = size - REQUEST_HEAD;
    switch (request->operation->code) {
    case OP_PING:
    case OP_CLOSE:
    case OP_WHO_AM_I:
        return rest == 0;
    case OP_MULTI:
    case OP_MULTI_READ: { // operations, each behind its code, whether it is the last, and -1
        gint32 code = read_int(&body);
        guint8 done = bb_cursor_u8(&body);
        gint32 error = read_int(&body);
        return bb_cursor_ok(&body) && done <= 1 && error == -1 &&
               (done ? code == -1 : find_operation(code) != NULL);
    }
    case OP_SASL: { // one buffer
        gint32 length = read_int(&body);
        return bb_cursor_ok(&body) && length >= -1 && (gsize)MAX(length, 0) + 4 == rest;
    }
    default: // at least three of the fields have lengths
        return rest >= 12;
    }
}

// What may be a request at first sight: strict, as other protocols have lengths and small numbers,
// too.
static bool is_likely_request(const guint8 *data, gsize size, gsize there)
{
    Request request;
    BbCursor c = bb_cursor(data, there);
    bb_cursor_skip(&c, REQUEST_HEAD);
    if (!read_request(data, size, there, &request) || !has_own_xid(&request))
        return false;
    return request.operation->has_path ? request.path_length > 0 : fits_fields(&request, size, c);
}

// Likewise a response, of which only the head is fixed. Every session begins with a transaction:
// after it zxids are above 0. An error comes alone.
static bool is_likely_response(const guint8 *data, gsize size, gsize there)
{
    Response response;
    BbCursor c = bb_cursor(data, there);
    bb_cursor_skip(&c, 4);
    gint64 zxid = (gint64)bb_cursor_be64(&c);
    if (!read_response(data, there, &response))
        return false;
    bool special = response.xid == XID_PING || response.xid == XID_AUTH ||
                   response.xid == XID_WATCHES || response.xid == XID_EVENT;
    bool known = response.error >= ERROR_SYSTEM_LAST || response.error <= ERROR_API;
    return known && (zxid > 0 || (special && zxid >= -1)) && (special || response.xid > 0) &&
           (response.error == 0 || size == RESPONSE_HEAD);
}

// A path that begins with '/' and fits, or one of the xids that are no counters.
static bool is_certain_request(const guint8 *data, gsize size, gsize there)
{
    Request request;
    if (is_connect_request(data, size, there))
        return true;
    if (there < MIN(size, REQUEST_HEAD + 5) || !is_likely_request(data, size, there) ||
        !read_request(data, size, there, &request))
        return false;
    return request.operation->code == OP_PING || request.path_length > 0;
}

static BbMatch probe_response(const guint8 *data, gsize size, gsize there)
{
    Response response;
    if (size != there)
        return BB_MATCH_NO;
    if (is_connect_response(data, size, there))
        return BB_MATCH_REPLY;
    if (!is_likely_response(data, size, there) || !read_response(data, there, &response))
        return BB_MATCH_NO;
    bool special = response.xid == XID_PING || response.xid == XID_EVENT;
    bool good = special && response.error == 0 && (size == 16 || size > 28);
    return good ? BB_MATCH_REPLY : BB_MATCH_LIKELY;
}

// Of a message that is not all there.
static bool may_be_message(const guint8 *data, gsize size, gsize there)
{
    Request request;
    bool connect = size >= 36 && size <= 45 && memcmp(data, "\0\0\0", 4) == 0;
    return connect || read_request(data, size, there, &request) ||
           (size >= RESPONSE_HEAD && is_likely_response(data, size, there));
}

// Of the shortest messages only a ping is looked for (others have such lengths, too).
static bool may_begin(const guint8 *data, gsize size, gsize there)
{
    BbCursor c = bb_cursor(data, there);
    gint32 xid = read_int(&c);
    return size > REQUEST_HEAD || !bb_cursor_ok(&c) || xid == XID_PING;
}

static BbMatch probe(const guint8 *data, gsize length)
{
    BbCursor c = bb_cursor(data, length);
    gsize size = bb_cursor_be32(&c);
    if (!bb_cursor_ok(&c))
        return length && data[0] ? BB_MATCH_NO : BB_MATCH_MORE;
    if (size < REQUEST_HEAD || size > BODY_MAX)
        return BB_MATCH_NO;
    gsize there = MIN(size, c.left);
    if (there < MIN(size, RESPONSE_HEAD + 1))
        return may_begin(c.at, size, there) ? BB_MATCH_MORE : BB_MATCH_NO;
    if (is_certain_request(c.at, size, there))
        return BB_MATCH_REQUEST;
    if (c.left < size && size <= FRONT && may_be_message(c.at, size, there))
        return BB_MATCH_MORE;
    if (size == c.left && is_likely_request(c.at, size, there))
        return BB_MATCH_LIKELY;
    return size < RESPONSE_HEAD ? BB_MATCH_NO : probe_response(c.at, size, c.left);
}

static BbMatch find(BbDialog *dialog, const void *state, const BbView *view, gsize at)
{
    BbCursor c = bb_cursor(view->data + at, view->length - at);
    gsize size = bb_cursor_be32(&c);
    BbPart part = {.direction = BB_TO_CLIENT};
    Response response;
    if (view->direction == BB_TO_SERVER)
        return probe(view->data + at, view->length - at);
    if (c.left < RESPONSE_HEAD)
        return BB_MATCH_MORE;
    if (size < RESPONSE_HEAD || size > BODY_MAX || !read_response(c.at, c.left, &response))
        return BB_MATCH_NO;
    bool good = response.xid == XID_EVENT || bb_dialog_find(dialog, &part, key_of(response.xid));
    return good ? BB_MATCH_LIKELY : BB_MATCH_NO;
}

static const BbFraming framing = {
    .measure = measure,
    .probe = probe,
    .find = find,
    .begin = begin,
    .end = end,
    .anywhere = true,
    .sign = {true, 0, 0},
};

// ---- the decoder --------------------------------------------------------------------------------

const BbDecoder bb_decoder_zookeeper = {
    .name = "zookeeper",
    .about = "ZooKeeper clients: by xid",
    .tcp = true,
    .ports = {2181, 9181}, // 9181: ClickHouse Keeper
    .state_size = sizeof(Zookeeper),
    .framing = &framing,
    .probe = probe,
    .parse = bb_frames_parse,
    .gap = bb_frames_gap,
    .finish = bb_frames_finish,
};
