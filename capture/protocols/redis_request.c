// SPDX-License-Identifier: Apache-2.0
// In: the bytes a client of Redis sends. Out: commands, as calls or, where no reply will come, as
// free messages.
#include "capture/cursor.h"
#include "capture/protocols/label.h"
#include "capture/protocols/redis_state.h"

enum { SILENCE_NONE, SILENCE_ON, SILENCE_OFF, SILENCE_SKIP }; // CLIENT REPLY

// ---- words ------------------------------------------------------------------------------------

static guint32 label(BbDialog *dialog, const char *name, gsize length)
{
    char text[BB_LABEL_MAX + 1];
    return bb_dialog_label(dialog, text, bb_label_word(text, (const guint8 *)name, length));
}

gsize bb_redis_upper(char *name, gsize room, const guint8 *word, gsize length)
{
    gsize copied = MIN(length, room - 1);
    for (gsize i = 0; i < copied; i++)
        name[i] = g_ascii_toupper((char)word[i]);
    name[copied] = '\0';
    return copied;
}

guint32 bb_redis_word(BbDialog *dialog, BbRedis *redis, const char *name, gsize length,
                      guint8 *kind)
{
    char key[BB_REDIS_CACHED_WORD] = {0};
    if (length == 0 || length >= BB_REDIS_CACHED_WORD) {
        *kind = (guint8)bb_redis_command(name);
        return length ? label(dialog, name, length) : BB_NAME_NONE;
    }
    memcpy(key, name, length);
    guint slot =
        (guint)(key[0] + 3 * key[1] + 5 * key[length - 1] + (int)length) % BB_REDIS_CACHED_WORDS;
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

static void take_subcommand(BbDialog *dialog, BbRedisRequest *request, const guint8 *word,
                            gsize length)
{
    gsize used = strlen(request->name);
    if (!is_subcommand(word, length) || used + 1 + length >= sizeof request->name)
        return;
    request->name[used] = ' ';
    used +=
        1 + bb_redis_upper(request->name + used + 1, sizeof request->name - used - 1, word, length);
    request->kind = (guint8)bb_redis_command(request->name);
    request->op = bb_dialog_label(dialog, request->name, used);
}

static guint8 silence_of(const guint8 *word, gsize length)
{
    char name[8];
    bb_redis_upper(name, sizeof name, word, length);
    return strcmp(name, "ON") == 0     ? SILENCE_ON
           : strcmp(name, "OFF") == 0  ? SILENCE_OFF
           : strcmp(name, "SKIP") == 0 ? SILENCE_SKIP
                                       : SILENCE_NONE;
}

static void take_argument(BbDialog *dialog, BbRedis *redis, const guint8 *word, gsize length)
{
    BbRedisRequest *request = &redis->request;
    length = MIN(length, BB_REDIS_WORD);
    switch (request->arguments++) {
    case 0:
        length = bb_redis_upper(request->name, sizeof request->name, word, length);
        request->op = bb_redis_word(dialog, redis, request->name, length, &request->kind);
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
static bool expects_reply(BbRedis *redis)
{
    const BbRedisRequest *request = &redis->request;
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

void bb_redis_end_request(BbDialog *dialog, BbRedis *redis)
{
    BbRedisRequest *request = &redis->request;
    redis->placed = true;
    // The tag: kind, and above it the number of channels where the command is a subscription.
    guint32 channels = request->arguments > 1 ? MIN(request->arguments - 1, 0xffffffu) : 0;
    if (request->kind == BB_REDIS_SUBSCRIBE && bb_dialog_open_calls(dialog) == 0)
        redis->due = 0;
    if (request->kind == BB_REDIS_SYNC || request->kind == BB_REDIS_ONE_WAY)
        redis->sync = true;
    if (expects_reply(redis)) {
        if (!redis->asked++)
            redis->asked_seq = request->part.seq;
        bb_dialog_call(dialog, &request->part, request->op, 0, request->kind | channels << 8);
    } else {
        bb_dialog_message(dialog, &request->part, request->op, BB_NAME_NONE);
    }
}

void bb_redis_reset_request(BbRedisRequest *request)
{
    bb_part_reset(&request->part);
    bb_resp_reset(&request->resp);
    request->arguments = request->op = 0;
    request->kind = request->silence = 0;
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

static gssize take_inline(BbDialog *dialog, BbRedis *redis, const guint8 *data, gsize length,
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

static gsize request_peek(const BbRedisRequest *request)
{
    bool wanted = request->arguments == 0 ||
                  (request->arguments == 1 && request->kind == BB_REDIS_GROUP) ||
                  (request->arguments == 2 && request->kind == BB_REDIS_SILENCE);
    return wanted ? BB_REDIS_WORD : 0;
}

gssize bb_redis_take_request(BbDialog *dialog, BbRedis *redis, const guint8 *data, gsize length,
                             BbRespItem *item)
{
    BbRedisRequest *request = &redis->request;
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
