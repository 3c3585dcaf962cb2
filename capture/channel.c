// SPDX-License-Identifier: Apache-2.0
// In: things, in one thread. Out: the same, in another. POSIX locks, not GLib's: thread checkers
// see these.
#include "capture/channel.h"

#include <pthread.h>
#include <time.h>

struct BbChannel {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    guint most, first, count;
    gpointer things[];
};

BbChannel *bb_channel_new(guint most)
{
    BbChannel *channel = g_malloc0(sizeof *channel + most * sizeof channel->things[0]);
    channel->most = most;
    pthread_mutex_init(&channel->lock, NULL);
    pthread_cond_init(&channel->filled, NULL);
    return channel;
}

void bb_channel_free(BbChannel *channel)
{
    if (!channel)
        return;
    pthread_cond_destroy(&channel->filled);
    pthread_mutex_destroy(&channel->lock);
    g_free(channel);
}

void bb_channel_put(BbChannel *channel, gpointer thing)
{
    pthread_mutex_lock(&channel->lock);
    g_assert(channel->count < channel->most);
    channel->things[(channel->first + channel->count++) % channel->most] = thing;
    pthread_cond_signal(&channel->filled);
    pthread_mutex_unlock(&channel->lock);
}

static gpointer take_first(BbChannel *channel)
{
    gpointer thing = channel->things[channel->first];
    channel->first = (channel->first + 1) % channel->most;
    channel->count--;
    return thing;
}

gpointer bb_channel_take(BbChannel *channel)
{
    pthread_mutex_lock(&channel->lock);
    while (!channel->count)
        pthread_cond_wait(&channel->filled, &channel->lock);
    gpointer thing = take_first(channel);
    pthread_mutex_unlock(&channel->lock);
    return thing;
}

// By the clock of the day: where that is set, it waits for another time once.
static struct timespec after(gint64 us)
{
    gint64 end_us = g_get_real_time() + us;
    return (struct timespec){.tv_sec = end_us / G_USEC_PER_SEC,
                             .tv_nsec = end_us % G_USEC_PER_SEC * 1000};
}

gpointer bb_channel_take_for(BbChannel *channel, gint64 most_us)
{
    struct timespec end = after(most_us);
    pthread_mutex_lock(&channel->lock);
    for (int late = 0; !channel->count && !late;)
        late = pthread_cond_timedwait(&channel->filled, &channel->lock, &end);
    gpointer thing = channel->count ? take_first(channel) : NULL;
    pthread_mutex_unlock(&channel->lock);
    return thing;
}

gpointer bb_channel_try(BbChannel *channel)
{
    pthread_mutex_lock(&channel->lock);
    gpointer thing = channel->count ? take_first(channel) : NULL;
    pthread_mutex_unlock(&channel->lock);
    return thing;
}
