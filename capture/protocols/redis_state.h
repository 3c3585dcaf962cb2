// SPDX-License-Identifier: Apache-2.0
// What the Redis decoder knows of a connection, shared by its two directions.
#pragma once

#include "capture/decoder.h"
#include "capture/protocols/redis_command.h"
#include "capture/protocols/resp.h"

#define BB_REDIS_CACHED_WORDS 8u
#define BB_REDIS_CACHED_WORD 16u // bytes of the longest cached word, NUL included
#define BB_REDIS_RDB_MARK 40u    // bytes of the mark that ends a snapshot of unknown size

typedef enum { BB_REDIS_RDB_NONE, BB_REDIS_RDB_SIZED, BB_REDIS_RDB_MARKED } BbRedisRdb;

typedef struct BbRedisRequest {
    BbPart part;
    BbResp resp;
    guint32 arguments; // seen of it, the command's name included
    guint32 op;
    guint8 kind; // BbRedisKind
    guint8 silence;
    char name[BB_REDIS_WORD]; // upper case
} BbRedisRequest;

typedef struct BbRedisReply {
    BbPart part;
    BbResp resp;
    guint32 op; // of a message that nobody asked for
    guint32 status;
    char type; // of the value itself, 0 before it is seen (RESP3 attributes come first)
    guint8 topic;
    bool nobody;    // topic: the channel is null
    guint64 count;  // topic: the number behind the channel: subscriptions that are left
    bool first;     // the first element of the array comes next
    bool is_trace;  // looks like a line of MONITOR
    bool passed_on; // a command, while nobody waits for a reply: a replica joined in the middle
    bool rest;      // maybe an element of a reply that a gap cut off, of which nobody knows the end
} BbRedisReply;

typedef struct BbRedis {
    BbRedisRequest request;
    BbRedisReply reply;
    bool lost[2];      // looking for the start of a message
    bool placed;       // the server's next value is not the first one behind a gap, nor of all
    bool torn;         // elements of a reply that a gap cut off may still come
    guint32 asked;     // torn: commands since the last value that was passed over
    guint64 asked_seq; // position of the first of them
    bool certain;      // a command in RESP was seen
    bool inlines;      // so was an inline one
    bool silent;       // CLIENT REPLY OFF
    guint8 skip;       // commands that CLIENT REPLY SKIP silences
    bool monitor;      // MONITOR runs
    bool sync;         // SYNC or PSYNC was said, or what only a replica says
    guint8 rdb;        // a snapshot is being received
    guint8 due_topic;
    guint32 due;       // confirmations still to come of a subscription that was answered
    guint64 due_count; // subscriptions that were left after the last one
    guint32 ok;
    guint8 mark[BB_REDIS_RDB_MARK];
    struct {
        char name[BB_REDIS_CACHED_WORD];
        guint32 op;
        guint8 kind;
    } cache[BB_REDIS_CACHED_WORDS];
} BbRedis;

// Label and kind of a word in upper case, by a cache of those seen last on this connection.
guint32 bb_redis_word(BbDialog *dialog, BbRedis *redis, const char *name, gsize length,
                      guint8 *kind);
// Copies word in upper case, as much as there is room for. Returns how much that is.
gsize bb_redis_upper(char *name, gsize room, const guint8 *word, gsize length);

// Take the next item of a command or a reply, as bb_resp_next does. item->type '\n': the bytes mean
// nothing and belong to no message.
gssize bb_redis_take_request(BbDialog *dialog, BbRedis *redis, const guint8 *data, gsize length,
                             BbRespItem *item);
gssize bb_redis_take_reply(BbDialog *dialog, BbRedis *redis, const guint8 *data, gsize length,
                           BbRespItem *item);

// What was taken is a message, complete or not: it goes to the dialog.
void bb_redis_end_request(BbDialog *dialog, BbRedis *redis);
void bb_redis_end_reply(BbDialog *dialog, BbRedis *redis);
// And the next one begins.
void bb_redis_reset_request(BbRedisRequest *request);
void bb_redis_reset_reply(BbRedis *redis);
