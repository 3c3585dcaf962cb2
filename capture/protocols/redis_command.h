// SPDX-License-Identifier: Apache-2.0
// The commands of Redis by name, and how their replies differ from "one each, in order".
#pragma once

#include <glib.h>
#include <stdbool.h>

#define BB_REDIS_WORD 40u // longest command with its subcommand, NUL included

typedef enum {
    BB_REDIS_UNKNOWN,    // not in the table (modules): replies like a plain command
    BB_REDIS_PLAIN,      // one reply
    BB_REDIS_GROUP,      // its second word says what it does: CONFIG GET
    BB_REDIS_SUBSCRIBE,  // a confirmation for each channel
    BB_REDIS_SUBSCRIBED, // one reply, also while the connection is subscribed
    BB_REDIS_RESET,      // the same; ends subscriptions, silence and MONITOR
    BB_REDIS_MONITOR,    // one reply, then a line for each command that the server executes
    BB_REDIS_SYNC,       // the connection becomes a replication stream
    BB_REDIS_SILENCE,    // CLIENT REPLY ON, OFF or SKIP
    BB_REDIS_ONE_WAY,    // no reply: what a replica says in a replication stream
} BbRedisKind;

// Kind of the command, given in upper case; subcommands after one space.
BbRedisKind bb_redis_command(const char *name);
// Whether a command's name begins with these bytes, in any case. whole: whether they are all of it.
bool bb_redis_command_begins(const guint8 *word, gsize length, bool *whole);
