// SPDX-License-Identifier: Apache-2.0
// In: rounds of packets. Out: those of some shards in their flows, and the tape of what these say.
#include "capture/lane.h"

#include <pthread.h>

struct BbLane {
    guint number, step;
    BbFlows *const *flows;
    guint n_flows;
    BbTape *tape;
    BbChannel *rounds, *read;
    GThread *thread;
    BbLoss loss;
    pthread_mutex_t lock;
    BbLaneState state; // under lock
};

BbLane *bb_lane_new(guint number, guint step)
{
    BbLane *lane = g_new0(BbLane, 1);
    lane->number = number;
    lane->step = step;
    lane->tape = bb_tape_new();
    lane->rounds = bb_channel_new(BB_ROUNDS);
    pthread_mutex_init(&lane->lock, NULL);
    return lane;
}

void bb_lane_free(BbLane *lane)
{
    if (!lane)
        return;
    bb_tape_free(lane->tape);
    bb_channel_free(lane->rounds);
    pthread_mutex_destroy(&lane->lock);
    g_free(lane);
}

BbTape *bb_lane_tape(const BbLane *lane)
{
    return lane->tape;
}

BbLoss *bb_lane_loss(BbLane *lane)
{
    return &lane->loss;
}

static void note_state(BbLane *lane)
{
    BbLaneState state = {.loss = lane->loss};
    for (guint shard = lane->number; shard < lane->n_flows; shard += lane->step) {
        state.connections += bb_flows_count(lane->flows[shard]);
        state.held += bb_flows_held(lane->flows[shard]);
    }
    pthread_mutex_lock(&lane->lock);
    lane->state = state;
    pthread_mutex_unlock(&lane->lock);
}

// In the order of one thread.
static void shed(BbLane *lane, const BbRound *round)
{
    guint64 number = round->number;
    for (guint i = 0; i < round->n_sheddings; i++, number += lane->n_flows)
        for (guint shard = lane->number; shard < lane->n_flows; shard += lane->step) {
            bb_tape_at(lane->tape, number + shard);
            bb_flows_shed(lane->flows[shard], &round->sheddings[i]);
        }
}

static void decode(BbLane *lane, const BbRound *round)
{
    if (round->n_sheddings)
        shed(lane, round);
    for (guint i = 0; i < round->count; i++) {
        guint shard = round->shard[i];
        if (shard % lane->step != lane->number)
            continue;
        bb_tape_at(lane->tape, round->packets[i].number);
        bb_flows_push(lane->flows[shard], &round->packets[i]);
    }
}

// What was counted before the packets came here goes along with the first lane.
static void end_round(BbLane *lane, const BbRound *round)
{
    BbLoss loss = lane->loss;
    if (round->mark && lane->number == 0)
        bb_loss_add(&loss, &round->loss);
    bb_tape_end_round(lane->tape, round->mark, round->mark ? &loss : NULL);
}

static gpointer run(gpointer data)
{
    BbLane *lane = data;
    for (bool last = false; !last;) {
        BbRound *round = bb_channel_take(lane->rounds);
        decode(lane, round);
        note_state(lane);
        end_round(lane, round);
        last = round->last;
        if (g_atomic_int_dec_and_test(&round->readers))
            bb_channel_put(lane->read, round);
    }
    return NULL;
}

void bb_lane_start(BbLane *lane, BbFlows *const *flows, guint n_flows, BbChannel *read)
{
    g_autofree char *name = g_strdup_printf("decode %u", lane->number);
    lane->flows = flows;
    lane->n_flows = n_flows;
    lane->read = read;
    lane->thread = g_thread_new(name, run, lane);
}

void bb_lane_put(BbLane *lane, BbRound *round)
{
    bb_channel_put(lane->rounds, round);
}

void bb_lane_join(BbLane *lane)
{
    g_thread_join(g_steal_pointer(&lane->thread));
}

BbLaneState bb_lane_state(BbLane *lane)
{
    if (!lane->thread)
        note_state(lane);
    pthread_mutex_lock(&lane->lock);
    BbLaneState state = lane->state;
    pthread_mutex_unlock(&lane->lock);
    return state;
}
