// SPDX-License-Identifier: Apache-2.0
// In: the bytes of a Redis connection (RESP2, RESP3, inline commands). Out: commands with their
// replies in order; what nobody answers or nobody asked for (pub/sub, MONITOR, replication) is
// free.
#include "capture/protocols/redis_probe.h"
#include "capture/protocols/redis_state.h"

// ---- the start of a message -------------------------------------------------------------------

// The next place after `at` where a message may begin: a packet's first byte; in requests, where
// one packet holds many, also an array after a line's end.
static gsize next_start(const BbView *view, gsize at)
{
    gsize next = bb_view_next_packet(view, at);
    if (view->direction == BB_TO_SERVER && at < view->length) {
        const guint8 *array = memmem(view->data + at, view->length - at, "\r\n*", 3);
        if (array)
            next = MIN(next, (gsize)(array - view->data) + 2);
    }
    return next;
}

static bool may_begin(const BbRedis *redis, const BbView *view, gsize at, BbMatch match)
{
    guint8 type = view->data[at];
    if (match == BB_MATCH_NO)
        return false;
    if (view->direction == BB_TO_CLIENT)
        return !g_ascii_isalpha(type) && (type == '*' || !redis->sync);
    return match == BB_MATCH_REQUEST || match == BB_MATCH_MORE || type == '*' || redis->inlines;
}

// Passes over bytes up to where a message seems to begin.
static gssize find_start(BbDialog *dialog, BbRedis *redis, const BbView *view)
{
    gsize at = 0;
    for (; at < view->length; at = next_start(view, at)) {
        BbMatch match = bb_redis_probe(view->data + at, view->length - at);
        if (!may_begin(redis, view, at, match))
            continue;
        if (match == BB_MATCH_MORE) {
            at = view->closed ? view->length : at;
            break;
        }
        redis->lost[view->direction] = false;
        redis->placed &= view->direction == BB_TO_SERVER;
        bb_dialog_resynced(dialog);
        break;
    }
    bb_dialog_pass_over(dialog, view, 0, at);
    return (gssize)at;
}

// ---- the rest of a reply that a gap cut off -----------------------------------------------------

// The elements of an array are values as replies are. Behind a gap that began inside of an array,
// or with more values than commands wait for a reply, they are passed over, until one may be the
// reply to a command that was sent behind the last of them. Who asks ahead of that sends it among
// them: then more of them come in the same packets.

// Values that begin in view from `at` on, up to so many.
static guint32 count_values(const BbView *view, gsize at, guint32 most)
{
    BbResp resp = {0};
    BbRespItem item;
    guint32 count = 0;
    while (at < view->length && count < most) {
        gssize taken = bb_resp_next(&resp, view->data + at, view->length - at, 0, &item);
        if (taken <= 0 || item.skip)
            return count + (taken >= 0);
        at += (gsize)taken;
        count += resp.done;
        if (resp.done)
            bb_resp_reset(&resp);
    }
    return count;
}

static bool may_answer(const BbRedis *redis, const BbView *view, gsize at)
{
    BbPart first = {0};
    if (!redis->asked)
        return false;
    bb_part_add(&first, view, at, at + 1);
    return (!first.has_ack || first.ack > redis->asked_seq) &&
           count_values(view, at, redis->asked + 1) <= redis->asked;
}

static void begin_reply(BbDialog *dialog, BbRedis *redis, const BbView *view, gsize at)
{
    guint32 waiting = MAX(bb_dialog_awaited(dialog, BB_TO_SERVER), 1); // or was asked unseen
    if (!redis->placed && count_values(view, at, waiting + 1) > waiting)
        redis->torn = true;
    redis->placed = true;
    if (redis->torn)
        redis->torn = !may_answer(redis, view, at);
    redis->reply.rest = redis->torn;
}

// ---- the decoder ------------------------------------------------------------------------------

static BbPart *part_of(BbRedis *redis, BbDirection direction)
{
    return direction == BB_TO_SERVER ? &redis->request.part : &redis->reply.part;
}

static void end_message(BbDialog *dialog, BbRedis *redis, BbDirection direction)
{
    if (direction == BB_TO_SERVER) {
        bb_redis_end_request(dialog, redis);
        bb_redis_reset_request(&redis->request);
    } else {
        bb_redis_end_reply(dialog, redis);
        bb_redis_reset_reply(redis);
    }
}

// What was begun is written as far as it was seen.
static void end_early(BbDialog *dialog, BbRedis *redis, BbDirection direction)
{
    if (part_of(redis, direction)->begun)
        end_message(dialog, redis, direction);
    else if (direction == BB_TO_SERVER)
        bb_redis_reset_request(&redis->request);
    else
        bb_redis_reset_reply(redis);
}

// What follows [from, at) is no message. Once commands were seen it is still Redis: the command
// under way, or the reply to it, ends there, and a new start is looked for.
static gssize lose_place(BbDialog *dialog, BbRedis *redis, const BbView *view, gsize from, gsize at)
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
    bb_dialog_pass_over(dialog, view, at, next);
    return (gssize)next;
}

static gssize take_item(BbDialog *dialog, BbRedis *redis, const BbView *view, gsize at,
                        BbRespItem *item)
{
    const guint8 *data = view->data + at;
    gsize length = view->length - at;
    return view->direction == BB_TO_SERVER
               ? bb_redis_take_request(dialog, redis, data, length, item)
               : bb_redis_take_reply(dialog, redis, data, length, item);
}

static gssize parse(BbDialog *dialog, void *state, const BbView *view)
{
    BbRedis *redis = state;
    BbPart *part = part_of(redis, view->direction);
    bool is_request = view->direction == BB_TO_SERVER;
    BbResp *resp = is_request ? &redis->request.resp : &redis->reply.resp;
    gsize at = 0, from = 0; // taken; of those, before the message under way
    if (!is_request && redis->rdb == BB_REDIS_RDB_SIZED)
        end_message(dialog, redis, view->direction); // all of it was skipped
    if (redis->lost[view->direction]) {
        gssize passed = find_start(dialog, redis, view);
        if (passed > 0 || redis->lost[view->direction])
            return passed;
    }
    while (at < view->length) {
        BbRespItem item;
        if (!is_request && (redis->torn || !redis->placed) && at == from && !part->begun)
            begin_reply(dialog, redis, view, at);
        gssize taken = take_item(dialog, redis, view, at, &item);
        if (taken < 0)
            return lose_place(dialog, redis, view, from, at);
        if (taken == 0)
            break;
        at += (gsize)taken;
        if (item.type == '\n') {
            bb_resp_reset(resp);
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
    BbRedis *redis = state;
    bool torn = redis->reply.resp.depth > 0;
    end_early(dialog, redis, direction);
    redis->lost[direction] = true;
    if (direction == BB_TO_SERVER)
        return;
    redis->torn |= torn;
    redis->due = redis->asked = 0;
}

static void finish(BbDialog *dialog, void *state)
{
    BbRedis *redis = state;
    end_early(dialog, redis, BB_TO_SERVER);
    end_early(dialog, redis, BB_TO_CLIENT);
}

const BbDecoder bb_decoder_redis = {
    .name = "redis",
    .about = "Redis, RESP2 and RESP3: in order of the commands",
    .tcp = true,
    .ports = {6379, 26379},
    .state_size = sizeof(BbRedis),
    .probe = bb_redis_probe,
    .parse = parse,
    .gap = gap,
    .finish = finish,
};
