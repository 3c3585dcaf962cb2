// SPDX-License-Identifier: Apache-2.0
// Passes things from one thread to another in order; what passes belongs to who takes it. Whoever
// makes the things bounds their number, so putting one in never waits.
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct BbChannel BbChannel;

// most: things that are in it at once.
BbChannel *bb_channel_new(guint most);
void bb_channel_free(BbChannel *channel); // not what is in it

void bb_channel_put(BbChannel *channel, gpointer thing);
// Waits until there is one.
gpointer bb_channel_take(BbChannel *channel);
// The same for so long at most: NULL where there is none then.
gpointer bb_channel_take_for(BbChannel *channel, gint64 most_us);
// NULL where there is none.
gpointer bb_channel_try(BbChannel *channel);
