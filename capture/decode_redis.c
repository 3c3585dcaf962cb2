// SPDX-License-Identifier: Apache-2.0
// In: the bytes of a Redis connection (RESP2, RESP3, inline commands). Out: commands with their
// replies in order; what nobody answers or nobody asked for (pub/sub, MONITOR, replication) is
// free.
#include "capture/cursor.h"
#include "capture/decoder.h"
#include "capture/label.h"
#include "capture/redis_command.h"
#include "capture/redis_probe.h"
#include "capture/resp.h"

#define CACHED_WORDS 8u
#define CACHED_WORD 16u
#define RDB_MARK 40u         // bytes of the mark that ends a snapshot of unknown size
#define DUE_MANY G_MAXUINT32 // UNSUBSCRIBE of everything: nobody knows how many confirmations

// First words of arrays that a server sends by itself. Confirmations come first.
static const char topics[][13] = {"subscribe",   "psubscribe",   "ssubscribe",
                                  "unsubscribe", "punsubscribe", "sunsubscribe",
                                  "message",     "pmessage",     "smessage"};
enum { TOPIC_NONE, TOPIC_LAST_CONFIRMATION = 6 }; // otherwise 1 + index

enum { SILENCE_NONE, SILENCE_ON, SILENCE_OFF, SILENCE_SKIP };
enum { RDB_NONE, RDB_SIZED, RDB_MARKED };

typedef struct Request {
    BbPart part;
    BbResp resp;
    guint32 arguments; // seen of it, the command's name included
    guint32 op;
    guint8 kind; // BbRedisKind
    guint8 silence;
    char name[BB_REDIS_WORD]; // upper case
} Request;

typedef struct Reply {
    BbPart part;
    BbResp resp;
    guint32 op; // of a message that nobody asked for
    guint32 status;
    char type; // of the value itself, 0 before it is seen (RESP3 attributes come first)
    guint8 topic;
    bool first;    // the first element of the array comes next
    bool is_trace; // looks like a line of MONITOR
} Reply;

typedef struct Redis {
    Request request;
    Reply reply;
    bool lost[2]; // looking for the start of a message
    bool certain; // a command in RESP was seen
    bool inlines; // so was an inline one
    bool silent;  // CLIENT REPLY OFF
    guint8 skip;  // commands that CLIENT REPLY SKIP silences
    bool monitor; // MONITOR runs
    bool sync;    // SYNC or PSYNC was said
    guint8 rdb;   // a snapshot is being received
    guint8 due_topic;
    guint32 due; // confirmations still to come of a subscription that was answered
    guint32 ok;
    guint8 mark[RDB_MARK];
    struct {
        char name[CACHED_WORD];
        guint32 op;
        guint8 kind;
    } cache[CACHED_WORDS];
} Redis;

// ---- words ------------------------------------------------------------------------------------

static guint32 label(BbDialog *dialog, const char *name, gsize length)
{
    char text[BB_LABEL_MAX + 1];
    return bb_dialog_label(dialog, text, bb_label_word(text, (const guint8 *)name, length));
}

// Copies word in upper case, as much as there is room for.
static gsize copy_upper(char *name, gsize room, const guint8 *word, gsize length)
{
    gsize copied = MIN(length, room - 1);
    for (gsize i = 0; i < copied; i++)
        name[i] = g_ascii_toupper((char)word[i]);
    name[copied] = '\0';
    return copied;
}

// Label and kind of a word, by a cache of those seen last on this connection.
static guint32 look_up(BbDialog *dialog, Redis *redis, const char *name, gsize length, guint8 *kind)
{
    char key[CACHED_WORD] = {0};
    if (length == 0 || length >= CACHED_WORD) {
        *kind = (guint8)bb_redis_command(name);
        return length ? label(dialog, name, length) : BB_NAME_NONE;
    }
    memcpy(key, name, length);
    guint slot = (guint)(key[0] + 3 * key[1] + 5 * key[length - 1] + (int)length) % CACHED_WORDS;
    if (memcmp(redis->cache[slot].name, key, sizeof key) != 0) {
        memcpy(redis->cache[slot].name, key, sizeof key);
        redis->cache[slot].op = label(dialog, name, length);
        redis->cache[slot].kind = (guint8)bb_redis_command(name);
    }
    *kind = redis->cache[slot].kind;
    return redis->cache[slot].op;
}

static bool is_subcommand(const guint8 *word, gsize length)
{
    for (gsize i = 0; i < length; i++)
        if (!g_ascii_isalpha(word[i]) && word[i] != '-')
            return false;
    return length > 0;
}

static void take_subcommand(BbDialog *dialog, Request *request, const guint8 *word, gsize length)
{
    gsize used = strlen(request->name);
    if (!is_subcommand(word, length) || used + 1 + length >= sizeof request->name)
        return;
    request->name[used] = ' ';
    used += 1 + copy_upper(request->name + used + 1, sizeof request->name - used - 1, word, length);
    request->kind = (guint8)bb_redis_command(request->name);
    request->op = bb_dialog_label(dialog, request->name, used);
}

static guint8 silence_of(const guint8 *word, gsize length)
{
    char name[8];
    copy_upper(name, sizeof name, word, length);
    return strcmp(name, "ON") == 0     ? SILENCE_ON
           : strcmp(name, "OFF") == 0  ? SILENCE_OFF
           : strcmp(name, "SKIP") == 0 ? SILENCE_SKIP
                                       : SILENCE_NONE;
}

static void take_argument(BbDialog *dialog, Redis *redis, const guint8 *word, gsize length)
{
    Request *request = &redis->request;
    length = MIN(length, BB_REDIS_WORD);
    switch (request->arguments++) {
    case 0:
        length = copy_upper(request->name, sizeof request->name, word, length);
        request->op = look_up(dialog, redis, request->name, length, &request->kind);
        break;
    case 1:
        if (request->kind == BB_REDIS_GROUP)
            take_subcommand(dialog, request, word, length);
        break;
    case 2:
        if (request->kind == BB_REDIS_SILENCE)
            request->silence = silence_of(word, length);
        break;
    default:
        break;
    }
}

// ---- requests ---------------------------------------------------------------------------------

// Whether the server will answer the request that just ended. Keeps track of CLIENT REPLY.
static bool expects_reply(Redis *redis)
{
    const Request *request = &redis->request;
    if (request->kind == BB_REDIS_RESET || request->silence == SILENCE_ON)
        redis->silent = false;
    if (request->silence == SILENCE_OFF)
        redis->silent = true;
    if (request->silence == SILENCE_SKIP && !redis->silent)
        redis->skip = 2; // itself and the next one
    bool skipped = redis->skip > 0;
    redis->skip -= skipped;
    return !skipped && !redis->silent && request->kind != BB_REDIS_ONE_WAY;
}

static void end_request(BbDialog *dialog, Redis *redis)
{
    Request *request = &redis->request;
    // The tag: kind, and above it the number of channels where the command is a subscription.
    guint32 channels = request->arguments > 1 ? MIN(request->arguments - 1, 0xffffffu) : 0;
    if (request->kind == BB_REDIS_SUBSCRIBE && bb_dialog_open_calls(dialog) == 0)
        redis->due = 0;
    if (request->kind == BB_REDIS_SYNC)
        redis->sync = true;
    if (expects_reply(redis))
        bb_dialog_call(dialog, &request->part, request->op, 0, request->kind | channels << 8);
    else
        bb_dialog_message(dialog, &request->part, request->op, BB_NAME_NONE);
}

static void reset_request(Request *request)
{
    *request = (Request){0};
}

static const guint8 *take_word(BbCursor *c, gsize *length)
{
    while (c->left && g_ascii_isspace(c->at[0]))
        bb_cursor_skip(c, 1);
    const guint8 *word = c->at;
    while (c->left && !g_ascii_isspace(c->at[0]))
        bb_cursor_skip(c, 1);
    *length = (gsize)(c->at - word);
    return word;
}

static gssize take_inline(BbDialog *dialog, Redis *redis, const guint8 *data, gsize length,
                          BbRespItem *item)
{
    if (!g_ascii_isspace(data[0]) && !g_ascii_isalpha(data[0]))
        return BB_RESP_BAD;
    const guint8 *end = memchr(data, '\n', length);
    if (!end)
        return 0;
    BbCursor c = bb_cursor(data, (gsize)(end - data));
    gsize word_length;
    const guint8 *word = take_word(&c, &word_length);
    *item = (BbRespItem){.type = '\n'}; // an empty line means nothing
    for (; word_length; word = take_word(&c, &word_length)) {
        take_argument(dialog, redis, word, word_length);
        redis->request.resp.done = redis->inlines = true;
        item->type = '*';
    }
    return end - data + 1;
}

static gsize request_peek(const Request *request)
{
    bool wanted = request->arguments == 0 ||
                  (request->arguments == 1 && request->kind == BB_REDIS_GROUP) ||
                  (request->arguments == 2 && request->kind == BB_REDIS_SILENCE);
    return wanted ? BB_REDIS_WORD : 0;
}

static gssize take_request(BbDialog *dialog, Redis *redis, const guint8 *data, gsize length,
                           BbRespItem *item)
{
    Request *request = &redis->request;
    if (request->resp.depth == 0 && data[0] != '*')
        return take_inline(dialog, redis, data, length, item);
    gssize taken = bb_resp_next(&request->resp, data, length, request_peek(request), item);
    if (taken <= 0 || !item->type)
        return taken;
    if (item->depth == 0 && request->resp.done)
        item->type = '\n'; // no arguments: the server ignores it
    else if (item->depth == 1 && item->type == '$' && item->number >= 0)
        take_argument(dialog, redis, item->text, item->length);
    else if (item->depth == 1 || item->number < 0)
        return BB_RESP_BAD;
    redis->certain |= item->depth == 1;
    return taken;
}

// ---- replies ----------------------------------------------------------------------------------

static guint8 topic_of(const guint8 *word, gsize length)
{
    for (guint8 i = 0; i < G_N_ELEMENTS(topics); i++)
        if (strlen(topics[i]) == length && memcmp(topics[i], word, length) == 0)
            return i + 1;
    return TOPIC_NONE;
}

// "-MOVED" of "MOVED 3999 127.0.0.1:6381"; "error" where a script made up its own text.
static guint32 error_status(BbDialog *dialog, const guint8 *text, gsize length)
{
    char word[BB_REDIS_WORD] = "-";
    gsize used = 0;
    while (used < MIN(length, sizeof word - 2) &&
           (g_ascii_isupper(text[used]) || g_ascii_isdigit(text[used]) || text[used] == '_')) {
        word[1 + used] = (char)text[used];
        used++;
    }
    bool ends = used == length || text[used] == ' ';
    return used && ends ? bb_dialog_status(dialog, word, 1 + used)
                        : bb_dialog_status(dialog, "error", 5);
}

static void take_head(BbDialog *dialog, Redis *redis, const BbRespItem *item)
{
    Reply *reply = &redis->reply;
    reply->type = item->type;
    reply->first = (item->type == '*' || item->type == '>') && item->number != 0;
    reply->is_trace = item->type == '+' && item->length && g_ascii_isdigit(item->text[0]);
    if (item->type == '-' || item->type == '!') {
        reply->status = error_status(dialog, item->text, MIN(item->length, BB_REDIS_WORD));
        return;
    }
    if (!redis->ok)
        redis->ok = bb_dialog_status(dialog, "ok", 2);
    reply->status = redis->ok;
}

static void take_first(BbDialog *dialog, Redis *redis, const BbRespItem *item)
{
    Reply *reply = &redis->reply;
    reply->first = false;
    if ((item->type != '$' && item->type != '+') || !item->length || !item->text)
        return;
    gsize length = MIN(item->length, BB_REDIS_WORD);
    reply->topic = topic_of(item->text, length);
    if (reply->topic || reply->type == '>' || redis->sync) {
        char name[BB_REDIS_WORD];
        guint8 kind;
        length = copy_upper(name, sizeof name, item->text, length);
        reply->op = look_up(dialog, redis, name, length, &kind);
    }
}

static bool is_confirmation(guint8 topic)
{
    return topic != TOPIC_NONE && topic <= TOPIC_LAST_CONFIRMATION;
}

// Whether call may be open on a connection with subscriptions that speaks RESP2.
static bool allowed_subscribed(guint8 kind)
{
    return kind == BB_REDIS_SUBSCRIBE || kind == BB_REDIS_SUBSCRIBED || kind == BB_REDIS_RESET;
}

// Whether the server sent what just ended by itself. In RESP2 pub/sub messages look like any array:
// the oldest open call tells, because a subscribed connection allows few commands.
static bool is_unasked(BbDialog *dialog, Redis *redis)
{
    const Reply *reply = &redis->reply;
    if (reply->is_trace && redis->monitor)
        return true;
    if (redis->sync && reply->type == '*')
        return true;
    if (reply->type != '>' && !(reply->type == '*' && reply->topic))
        return false;
    if (redis->due && reply->topic == redis->due_topic) {
        redis->due -= redis->due != DUE_MANY;
        return true;
    }
    const BbOpenCall *call = bb_dialog_oldest(dialog, &reply->part);
    guint8 kind = call ? (guint8)call->tag : BB_REDIS_SUBSCRIBE;
    if (call && kind == BB_REDIS_SUBSCRIBE && is_confirmation(reply->topic)) {
        guint32 channels = call->tag >> 8;
        redis->due = channels ? channels - 1 : DUE_MANY;
        redis->due_topic = reply->topic;
        return false;
    }
    return reply->type == '>' || allowed_subscribed(kind);
}

static void answer(BbDialog *dialog, Redis *redis)
{
    const Reply *reply = &redis->reply;
    const BbOpenCall *call = bb_dialog_oldest(dialog, &reply->part);
    bool ok = reply->status == redis->ok;
    guint8 kind = call ? (guint8)call->tag : BB_REDIS_PLAIN;
    if (kind == BB_REDIS_MONITOR && ok)
        redis->monitor = true;
    if (kind == BB_REDIS_SYNC && !ok)
        redis->sync = false;
    if (kind == BB_REDIS_RESET) {
        redis->monitor = false;
        redis->due = 0;
    }
    bb_dialog_return(dialog, call ? call->call : 0, &reply->part, reply->status);
}

static guint32 unasked_op(BbDialog *dialog, const Redis *redis)
{
    return redis->reply.is_trace ? bb_dialog_label(dialog, "MONITOR", 7) : redis->reply.op;
}

static void end_reply(BbDialog *dialog, Redis *redis)
{
    const BbPart *part = &redis->reply.part;
    if (redis->rdb) {
        const BbOpenCall *call = bb_dialog_oldest(dialog, part); // SYNC has no other reply
        if (call && (guint8)call->tag == BB_REDIS_SYNC)
            bb_dialog_return(dialog, call->call, part, bb_dialog_status(dialog, "ok", 2));
        else
            bb_dialog_message(dialog, part, bb_dialog_label(dialog, "RDB", 3), BB_NAME_NONE);
    } else if (is_unasked(dialog, redis)) {
        bb_dialog_message(dialog, part, unasked_op(dialog, redis), BB_NAME_NONE);
    } else {
        answer(dialog, redis);
    }
}

static void reset_reply(Redis *redis)
{
    redis->rdb = RDB_NONE;
    redis->reply = (Reply){0};
}

// ---- replication ------------------------------------------------------------------------------

// The snapshot: "$<size>\r\n" or "$EOF:<40 bytes>\r\n", then its bytes, then nothing or those 40.
static gssize take_rdb_head(Redis *redis, const guint8 *data, gsize length, BbRespItem *item)
{
    static const char eof[] = "$EOF:";
    const guint8 *end = memchr(data, '\n', MIN(length, 64));
    if (!end)
        return length < 64 ? 0 : BB_RESP_BAD;
    gsize line = (gsize)(end - data) + 1;
    if (line == strlen(eof) + RDB_MARK + 2 && memcmp(data, eof, strlen(eof)) == 0) {
        memcpy(redis->mark, data + strlen(eof), RDB_MARK);
        redis->rdb = RDB_MARKED;
        return (gssize)line;
    }
    if (!g_ascii_isdigit(data[1]))
        return BB_RESP_BAD;
    for (const guint8 *at = data + 1; g_ascii_isdigit(*at) && item->skip < G_MAXINT64 / 16; at++)
        item->skip = item->skip * 10 + (*at - '0');
    redis->rdb = RDB_SIZED;
    redis->reply.resp.done = item->skip == 0;
    return (gssize)line;
}

static gssize take_rdb(Redis *redis, const guint8 *data, gsize length)
{
    const guint8 *mark = memmem(data, length, redis->mark, RDB_MARK);
    redis->reply.resp.done = mark != NULL;
    if (mark)
        return mark - data + (gssize)RDB_MARK;
    return length >= RDB_MARK ? (gssize)(length - RDB_MARK + 1) : 0;
}

static gssize take_reply(BbDialog *dialog, Redis *redis, const guint8 *data, gsize length,
                         BbRespItem *item)
{
    Reply *reply = &redis->reply;
    if (redis->rdb == RDB_MARKED)
        return take_rdb(redis, data, length);
    if (redis->sync && !reply->part.begun && data[0] == '\n') {
        item->type = '\n'; // the master is alive and still at its snapshot
        return 1;
    }
    if (redis->sync && !reply->type && data[0] == '$')
        return take_rdb_head(redis, data, length, item);
    bool wanted = reply->first || (!reply->type && data[0] == '!');
    gssize taken = bb_resp_next(&reply->resp, data, length, wanted ? BB_REDIS_WORD : 0, item);
    if (taken <= 0 || !item->type)
        return taken;
    if (item->depth == 0 && item->type != '|')
        take_head(dialog, redis, item);
    else if (reply->first && item->depth == 1)
        take_first(dialog, redis, item);
    return taken;
}

// ---- the start of a message -------------------------------------------------------------------

// The next place after `at` where a message may begin: a packet's first byte; in requests, where
// one packet holds many, also an array after a line's end.
static gsize next_start(const BbView *view, gsize at)
{
    gsize next = view->length;
    for (guint i = 0; i < view->n_marks; i++)
        if (view->marks[i].end > at) {
            next = MIN(next, view->marks[i].end);
            break;
        }
    if (view->direction == BB_TO_SERVER && at < view->length) {
        const guint8 *array = memmem(view->data + at, view->length - at, "\r\n*", 3);
        if (array)
            next = MIN(next, (gsize)(array - view->data) + 2);
    }
    return next;
}

static bool may_begin(const Redis *redis, const BbView *view, gsize at, BbMatch match)
{
    guint8 type = view->data[at];
    if (match == BB_MATCH_NO)
        return false;
    if (view->direction == BB_TO_CLIENT)
        return !g_ascii_isalpha(type) && (type == '*' || !redis->sync);
    return match == BB_MATCH_REQUEST || match == BB_MATCH_MORE || type == '*' || redis->inlines;
}

// Passes over bytes up to where a message seems to begin.
static gssize find_start(BbDialog *dialog, Redis *redis, const BbView *view)
{
    gsize at = 0;
    for (; at < view->length; at = next_start(view, at)) {
        BbMatch match = bb_redis_probe(view->data + at, view->length - at);
        if (!may_begin(redis, view, at, match))
            continue;
        if (match == BB_MATCH_MORE)
            return view->closed ? (gssize)view->length : (gssize)at;
        redis->lost[view->direction] = false;
        bb_dialog_resynced(dialog);
        return (gssize)at;
    }
    return (gssize)at;
}

// ---- the decoder ------------------------------------------------------------------------------

static BbPart *part_of(Redis *redis, BbDirection direction)
{
    return direction == BB_TO_SERVER ? &redis->request.part : &redis->reply.part;
}

static void end_message(BbDialog *dialog, Redis *redis, BbDirection direction)
{
    if (direction == BB_TO_SERVER) {
        end_request(dialog, redis);
        reset_request(&redis->request);
    } else {
        end_reply(dialog, redis);
        reset_reply(redis);
    }
}

// What was begun is written as far as it was seen.
static void end_early(BbDialog *dialog, Redis *redis, BbDirection direction)
{
    if (part_of(redis, direction)->begun)
        end_message(dialog, redis, direction);
    else if (direction == BB_TO_SERVER)
        reset_request(&redis->request);
    else
        reset_reply(redis);
}

// What follows [from, at) is no message. Once commands were seen it is still Redis: the command
// under way, or the reply to it, ends there, and a new start is looked for.
static gssize lose_place(BbDialog *dialog, Redis *redis, const BbView *view, gsize from, gsize at)
{
    BbPart *part = part_of(redis, view->direction);
    gsize next = next_start(view, at);
    if (!redis->certain && from == 0)
        return BB_PARSE_BAD;
    if (!redis->certain) { // what came before was taken; the next call refuses
        end_early(dialog, redis, view->direction);
        return (gssize)from;
    }
    // A reply that cannot be read is one nevertheless: left open, its command would get the next.
    bool reply = view->direction == BB_TO_CLIENT && bb_dialog_open_calls(dialog) > 0;
    bb_part_add(part, view, from, reply ? next : at);
    end_early(dialog, redis, view->direction);
    redis->lost[view->direction] = true;
    return (gssize)next;
}

static gssize parse(BbDialog *dialog, void *state, const BbView *view)
{
    Redis *redis = state;
    BbPart *part = part_of(redis, view->direction);
    bool is_request = view->direction == BB_TO_SERVER;
    BbResp *resp = is_request ? &redis->request.resp : &redis->reply.resp;
    gsize at = 0, from = 0; // taken; of those, before the message under way
    if (!is_request && redis->rdb == RDB_SIZED)
        end_message(dialog, redis, view->direction); // all of it was skipped
    if (redis->lost[view->direction]) {
        gssize passed = find_start(dialog, redis, view);
        if (passed > 0 || redis->lost[view->direction])
            return passed;
    }
    while (at < view->length) {
        BbRespItem item = {0};
        const guint8 *data = view->data + at;
        gssize taken = is_request ? take_request(dialog, redis, data, view->length - at, &item)
                                  : take_reply(dialog, redis, data, view->length - at, &item);
        if (taken < 0)
            return lose_place(dialog, redis, view, from, at);
        if (taken == 0)
            break;
        at += (gsize)taken;
        if (item.type == '\n') {
            *resp = (BbResp){0};
            from = at;
        } else if (resp->done) {
            bb_part_add(part, view, from, at);
            end_message(dialog, redis, view->direction);
            from = at;
        } else if (item.skip) {
            bb_part_add(part, view, from, at);
            bb_dialog_skip(dialog, view->direction, item.skip, part);
            return (gssize)at;
        }
    }
    if (view->closed)
        at = view->length;
    bb_part_add(part, view, from, at);
    return (gssize)at;
}

static void gap(BbDialog *dialog, void *state, BbDirection direction)
{
    Redis *redis = state;
    end_early(dialog, redis, direction);
    redis->lost[direction] = true;
    if (direction == BB_TO_CLIENT)
        redis->due = 0;
}

static void finish(BbDialog *dialog, void *state)
{
    Redis *redis = state;
    end_early(dialog, redis, BB_TO_SERVER);
    end_early(dialog, redis, BB_TO_CLIENT);
}

const BbDecoder bb_decoder_redis = {
    .name = "redis",
    .tcp = true,
    .ports = {6379, 26379},
    .state_size = sizeof(Redis),
    .probe = bb_redis_probe,
    .parse = parse,
    .gap = gap,
    .finish = finish,
};
