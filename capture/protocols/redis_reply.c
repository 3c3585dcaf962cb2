// SPDX-License-Identifier: Apache-2.0
// In: the bytes a Redis server sends. Out: returns in order, and as free messages what nobody asked
// for: pub/sub, MONITOR, the stream of a replica.
#include "capture/protocols/redis_state.h"

#define DUE_MANY G_MAXUINT32 // UNSUBSCRIBE of everything: nobody knows how many confirmations

// First words of arrays that a server sends by itself. Confirmations come first.
static const char topics[][13] = {"subscribe",   "psubscribe",   "ssubscribe",
                                  "unsubscribe", "punsubscribe", "sunsubscribe",
                                  "message",     "pmessage",     "smessage"};
enum { TOPIC_NONE, TOPIC_LAST_CONFIRMATION = 6 }; // otherwise 1 + index

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

static void take_head(BbDialog *dialog, BbRedis *redis, const BbRespItem *item)
{
    BbRedisReply *reply = &redis->reply;
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

static void take_first(BbDialog *dialog, BbRedis *redis, const BbRespItem *item)
{
    BbRedisReply *reply = &redis->reply;
    reply->first = false;
    if ((item->type != '$' && item->type != '+') || !item->length || !item->text)
        return;
    char name[BB_REDIS_WORD];
    guint8 kind;
    gsize length = bb_redis_upper(name, sizeof name, item->text, item->length);
    reply->topic = topic_of(item->text, length);
    reply->passed_on = reply->type == '*' && bb_dialog_open_calls(dialog) == 0 && !redis->certain &&
                       !redis->inlines && // nobody asks here
                       memcmp(name, item->text, length) == 0 &&
                       bb_redis_command(name) != BB_REDIS_UNKNOWN;
    if (reply->topic || reply->type == '>' || redis->sync || reply->passed_on)
        reply->op = bb_redis_word(dialog, redis, name, length, &kind);
}

// What follows the topic: a channel, or null where there is none, and how many are left.
static void take_after_topic(BbRedisReply *reply, const BbRespItem *item)
{
    reply->nobody |= item->type == '_' || (item->type == '$' && item->number < 0);
    if (item->type != ':')
        return;
    for (gsize i = 0; i < item->length && g_ascii_isdigit(item->text[i]); i++)
        reply->count = MIN(reply->count, G_MAXUINT32) * 10 + (guint64)(item->text[i] - '0');
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

// The first confirmation came of a subscription of so many channels, 0: of all there are.
static void expect_more(BbRedis *redis, guint32 channels)
{
    const BbRedisReply *reply = &redis->reply;
    redis->due_topic = reply->topic;
    redis->due_count = reply->count;
    if (channels)
        redis->due = channels - 1;
    else
        redis->due = reply->nobody || reply->count == 0 ? 0 : DUE_MANY;
}

// Whether the reply is a further confirmation. That nobody knows of how many ends where no channel
// was left, or the number of those left does not fall: that one confirms another command.
static bool take_due(BbRedis *redis)
{
    const BbRedisReply *reply = &redis->reply;
    if (!redis->due || reply->topic != redis->due_topic)
        return false;
    if (redis->due != DUE_MANY) {
        redis->due--;
        return true;
    }
    bool further = !reply->nobody && reply->count < redis->due_count;
    redis->due_count = reply->count;
    if (!further || reply->count == 0)
        redis->due = 0;
    return further;
}

// Whether the server sent what just ended by itself. In RESP2 pub/sub messages look like any array:
// the oldest open call tells, because a subscribed connection allows few commands.
static bool is_unasked(BbDialog *dialog, BbRedis *redis)
{
    const BbRedisReply *reply = &redis->reply;
    if (reply->is_trace && redis->monitor)
        return true;
    if ((redis->sync && reply->type == '*') || reply->passed_on)
        return true;
    if (reply->type != '>' && !(reply->type == '*' && reply->topic))
        return false;
    if (take_due(redis))
        return true;
    const BbOpenCall *call = bb_dialog_oldest(dialog, &reply->part);
    guint8 kind = call ? (guint8)call->tag : BB_REDIS_SUBSCRIBE;
    if (call && kind == BB_REDIS_SUBSCRIBE && is_confirmation(reply->topic)) {
        expect_more(redis, call->tag >> 8);
        return false;
    }
    return reply->type == '>' || allowed_subscribed(kind);
}

static void answer(BbDialog *dialog, BbRedis *redis)
{
    const BbRedisReply *reply = &redis->reply;
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

static guint32 unasked_op(BbDialog *dialog, const BbRedis *redis)
{
    return redis->reply.is_trace ? bb_dialog_label(dialog, "MONITOR", 7) : redis->reply.op;
}

void bb_redis_end_reply(BbDialog *dialog, BbRedis *redis)
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
    } else if (redis->reply.type == '-' && bb_dialog_is_unasked(dialog, part)) {
        bb_dialog_message(dialog, part, BB_NAME_NONE, redis->reply.status); // it has too many
    } else if (redis->reply.rest) {
        bb_dialog_passed_rest(dialog, part, false);
        redis->asked = 0;
    } else {
        answer(dialog, redis);
    }
}

void bb_redis_reset_reply(BbRedis *redis)
{
    BbRedisReply *reply = &redis->reply;
    redis->rdb = BB_REDIS_RDB_NONE;
    bb_part_reset(&reply->part);
    bb_resp_reset(&reply->resp);
    reply->op = reply->status = BB_NAME_NONE;
    reply->type = '\0';
    reply->topic = TOPIC_NONE;
    reply->count = 0;
    reply->first = reply->is_trace = reply->passed_on = reply->nobody = reply->rest = false;
}

// ---- replication ------------------------------------------------------------------------------

// The snapshot: "$<size>\r\n" or "$EOF:<40 bytes>\r\n", then its bytes, then nothing or those 40.
static gssize take_rdb_head(BbRedis *redis, const guint8 *data, gsize length, BbRespItem *item)
{
    static const char eof[] = "$EOF:";
    *item = (BbRespItem){0};
    const guint8 *end = memchr(data, '\n', MIN(length, 64));
    if (!end)
        return length < 64 ? 0 : BB_RESP_BAD;
    gsize line = (gsize)(end - data) + 1;
    if (line == strlen(eof) + BB_REDIS_RDB_MARK + 2 && memcmp(data, eof, strlen(eof)) == 0) {
        memcpy(redis->mark, data + strlen(eof), BB_REDIS_RDB_MARK);
        redis->rdb = BB_REDIS_RDB_MARKED;
        return (gssize)line;
    }
    if (!g_ascii_isdigit(data[1]))
        return BB_RESP_BAD;
    for (const guint8 *at = data + 1; g_ascii_isdigit(*at) && item->skip < G_MAXINT64 / 16; at++)
        item->skip = item->skip * 10 + (*at - '0');
    redis->rdb = BB_REDIS_RDB_SIZED;
    redis->reply.resp.done = item->skip == 0;
    return (gssize)line;
}

static gssize take_rdb(BbRedis *redis, const guint8 *data, gsize length, BbRespItem *item)
{
    *item = (BbRespItem){0};
    const guint8 *mark = memmem(data, length, redis->mark, BB_REDIS_RDB_MARK);
    redis->reply.resp.done = mark != NULL;
    if (mark)
        return mark - data + (gssize)BB_REDIS_RDB_MARK;
    return length >= BB_REDIS_RDB_MARK ? (gssize)(length - BB_REDIS_RDB_MARK + 1) : 0;
}

gssize bb_redis_take_reply(BbDialog *dialog, BbRedis *redis, const guint8 *data, gsize length,
                           BbRespItem *item)
{
    BbRedisReply *reply = &redis->reply;
    if (redis->rdb == BB_REDIS_RDB_MARKED)
        return take_rdb(redis, data, length, item);
    if (redis->sync && !reply->part.begun && data[0] == '\n') {
        *item = (BbRespItem){.type = '\n'}; // the master is alive and still at its snapshot
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
    else if (reply->topic && item->depth == 1)
        take_after_topic(reply, item);
    return taken;
}
