// SPDX-License-Identifier: Apache-2.0
// In: frames. Out: messages, found by several threads, in the order of one.
#include "capture/shards.h"

#include "capture/intake.h"
#include "capture/lane.h"
#include "capture/scribe.h"
#include "capture/servers.h"
#include "capture/skips.h"
#include "data/mix.h"

// Of the hash that finds the shard. Not random: the output must not depend on it.
#define SEED G_GUINT64_CONSTANT(0x8cb92ba72f3d8dd7)
// How long reading waits for other threads before it asks whether to go on so.
#define PATIENCE_US 5000
// The longest wait at once. What seems longer is of a process that was stopped.
#define WAIT_US G_USEC_PER_SEC

// Who asks for servers is no more packets behind.
G_STATIC_ASSERT(BB_ROUNDS *BB_ROUND_PACKETS <= BB_SERVERS_BEHIND);

struct BbShards {
    BbLoss *loss;
    BbIntake *intake;
    BbShardsOutput output;
    BbContext *out;  // what the trace has
    guint64 packets; // seen
    guint n_shards, n_lanes;
    BbFlows *flows[BB_SHARDS_MOST];
    BbShedding shedding; // what is left out
    bool finished;
    // The rest only where several threads decode.
    BbContext *contexts[BB_SHARDS_MOST]; // of each shard
    BbNames *names[BB_SHARDS_MOST];
    BbLane *lanes[BB_SHARDS_MOST];
    BbNames *files;
    BbKept *kept;
    BbScribe *scribe;
    GThread *thread; // of the scribe
    BbRound *round;  // being filled
    BbChannel *read; // rounds that can be filled
    BbRound *spare;  // one of these
    guint marks;     // that go with the next round
    BbSkips *skips;
    bool trims; // what skips say
    guint64 waits;
    gint64 waited_us;
    BbLoss out_loss;    // of out
    BbLoss counted;     // what of other threads loss has
    GError *error;      // of the sink; set before failed
    gint failed, ended; // atomic: nothing more is wanted
};

// ---- shards -------------------------------------------------------------------------------------

static guint count_shards(const BbCaptureOptions *options)
{
    gsize most = MIN(options->max_connections / BB_SHARD_CONNECTIONS,
                     options->max_held_bytes / BB_SHARD_HELD_BYTES);
    return (guint)CLAMP(most, 1, BB_SHARDS_MOST);
}

// The same for both directions.
static guint shard_of(const BbShards *shards, const BbPacket *packet)
{
    guint64 both = bb_mix_ends(SEED, &packet->source, packet->source_port, &packet->target,
                               packet->target_port);
    return (guint)((bb_mix(SEED, both) >> 32) % shards->n_shards);
}

static void start_lanes(BbShards *shards);

BbShards *bb_shards_new(const BbCaptureOptions *options, guint threads, bool learn, BbNames *names,
                        BbNodes *nodes, BbLoss *loss, BbShardsOutput output)
{
    BbShards *shards = g_new0(BbShards, 1);
    guint n_shards = shards->n_shards = count_shards(options);
    shards->n_lanes = CLAMP(threads, 1, n_shards);
    shards->loss = loss;
    shards->output = output;
    shards->intake = bb_intake_new(options, loss);
    bool alone = shards->n_lanes == 1;
    shards->out =
        bb_context_new(names, nodes, alone ? loss : &shards->out_loss, output.sink, output.user);
    bb_context_set_options(shards->out, options);
    shards->out->learn_names = learn;
    shards->out->servers = bb_intake_servers(shards->intake);
    for (guint i = 0; i < shards->n_lanes && !alone; i++)
        shards->lanes[i] = bb_lane_new(i, shards->n_lanes);
    shards->kept = bb_kept_new();
    shards->skips = alone || !output.look ? NULL : bb_skips_new();
    for (guint i = 0; i < n_shards; i++) {
        BbContext *context = shards->out;
        if (!alone) {
            BbLane *lane = shards->lanes[i % shards->n_lanes];
            shards->names[i] = bb_names_new();
            context = shards->contexts[i] = bb_context_new_shard(
                shards->names[i], bb_lane_loss(lane), bb_lane_tape(lane), shards->kept, i);
            bb_context_set_options(context, options);
            context->learn_names = learn;
            context->servers = shards->out->servers;
            context->skips = shards->skips;
        }
        shards->flows[i] = bb_flows_new(context, options->max_connections / n_shards,
                                        options->max_held_bytes / n_shards);
    }
    if (!alone)
        start_lanes(shards);
    return shards;
}

// ---- threads ------------------------------------------------------------------------------------

static void fail(BbShards *shards, GError *error)
{
    shards->error = error;
    g_atomic_int_set(&shards->failed, 1);
    g_atomic_int_set(&shards->ended, 1);
}

static bool play_mark(BbShards *shards, guint mark, const BbLoss *loss, GError **error)
{
    const BbShardsOutput *output = &shards->output;
    return output->mark(mark, loss, shards->out->network, output->user, error);
}

static gpointer run_scribe(gpointer data)
{
    BbShards *shards = data;
    BbTape *tapes[BB_SHARDS_MOST];
    for (guint i = 0; i < shards->n_lanes; i++)
        tapes[i] = bb_lane_tape(shards->lanes[i]);
    for (BbScribeRound round = {0}; !round.last;) {
        GError *error = NULL;
        round = bb_scribe_play(shards->scribe, tapes, shards->n_lanes, &shards->ended);
        if (g_atomic_int_get(&shards->ended))
            continue;
        bb_loss_add(&round.loss, &shards->out_loss);
        if (!bb_context_report(shards->out, &error) ||
            (round.mark && !play_mark(shards, round.mark, &round.loss, &error)))
            fail(shards, error);
    }
    return NULL;
}

// It begins with numbers for what ends there, one a shard and choice.
static void begin_round(BbShards *shards, BbRound *round)
{
    bb_round_clear(round);
    round->number = shards->packets + 1;
    shards->packets += shards->n_shards * BB_ROUND_SHEDDINGS;
    shards->round = round;
}

static void start_lanes(BbShards *shards)
{
    shards->files = bb_names_new();
    shards->scribe = bb_scribe_new(shards->out, shards->kept, shards->files,
                                   (const BbNames *const *)shards->names, shards->n_shards);
    shards->read = bb_channel_new(BB_ROUNDS);
    for (guint i = 1; i < BB_ROUNDS; i++)
        bb_channel_put(shards->read, g_new0(BbRound, 1));
    begin_round(shards, g_new0(BbRound, 1));
    for (guint i = 0; i < shards->n_lanes; i++)
        bb_lane_start(shards->lanes[i], shards->flows, shards->n_shards, shards->read);
    shards->thread = g_thread_new("scribe", run_scribe, shards);
}

static bool report(BbShards *shards, GError **error)
{
    if (!shards->thread && !shards->error)
        return bb_context_report(shards->out, error);
    if (G_LIKELY(!g_atomic_int_get(&shards->failed)))
        return true;
    g_propagate_error(error, g_error_copy(shards->error));
    return false;
}

// Whether another round is free; waits for it for so long.
static bool find_spare(BbShards *shards, gint64 most_us)
{
    if (!shards->spare)
        shards->spare = bb_channel_try(shards->read);
    if (shards->spare || !most_us)
        return shards->spare;
    gint64 since_us = g_get_monotonic_time();
    shards->spare = bb_channel_take_for(shards->read, most_us);
    shards->waited_us += MIN(g_get_monotonic_time() - since_us, WAIT_US);
    return shards->spare;
}

// With what is counted by now.
static void put_mark(BbShards *shards, BbRound *round)
{
    for (guint kind = 0; kind < BB_LOSS_COUNT; kind++)
        round->loss.count[kind] = shards->loss->count[kind] - shards->counted.count[kind];
    round->mark = shards->marks;
    shards->marks = 0;
}

// May wait for as long as other threads take: who must not looks for a spare round before.
static void hand_over(BbShards *shards)
{
    BbRound *round = g_steal_pointer(&shards->round);
    shards->loss->count[BB_SHED_TRIMMED] += round->trimmed_packets;
    shards->loss->count[BB_SHED_TRIMMED_BYTES] += round->trimmed_bytes;
    if (shards->marks)
        put_mark(shards, round);
    g_atomic_int_set(&round->readers, (gint)shards->n_lanes);
    for (guint i = 0; i < shards->n_lanes; i++)
        bb_lane_put(shards->lanes[i], round);
    shards->waits += !find_spare(shards, 0);
    while (!find_spare(shards, WAIT_US))
        continue;
    begin_round(shards, g_steal_pointer(&shards->spare));
}

// ---- shedding -----------------------------------------------------------------------------------

static bool is_shed(const BbShards *shards, const BbPacket *packet)
{
    return bb_shedding_takes(&shards->shedding, &packet->source, packet->source_port,
                             &packet->target, packet->target_port);
}

// A SYN would have begun a conversation.
static void count_shed(BbShards *shards, const BbPacket *packet)
{
    bool opens = (packet->tcp_flags & (BB_TCP_SYN | BB_TCP_ACK)) == BB_TCP_SYN;
    shards->loss->count[BB_SHED_PACKETS]++;
    shards->loss->count[BB_SHED_CONNECTIONS] += opens;
    if (shards->output.left_out && packet->length)
        shards->output.left_out(packet, shards->output.user);
}

// Nobody has the round yet: it is as if its packets had come after the decision.
static void thin(BbShards *shards)
{
    BbRound *round = shards->round;
    guint kept = 0;
    gsize used = 0;
    for (guint i = 0; i < round->count; i++) {
        BbPacket *packet = &round->packets[i];
        if (is_shed(shards, packet)) {
            count_shed(shards, packet);
            round->trimmed_packets -= round->trimmed[i] > 0;
            round->trimmed_bytes -= round->trimmed[i];
            continue;
        }
        if (packet->captured && !round->large) {
            memmove(&round->bytes[used], packet->payload, packet->captured);
            packet->payload = &round->bytes[used];
            used += packet->captured;
        }
        round->shard[kept] = round->shard[i];
        round->trimmed[kept] = round->trimmed[i];
        round->packets[kept++] = *packet;
    }
    if (!kept)
        g_clear_pointer(&round->large, g_free);
    round->count = kept;
    round->used = used;
}

// Where it goes in the round; NULL: there is no room.
static BbShedding *place_of(BbRound *round, const BbShedding *shedding)
{
    BbShedding *last = round->n_sheddings ? &round->sheddings[round->n_sheddings - 1] : NULL;
    if (last && bb_shedding_covers(shedding, last))
        return last;
    return round->n_sheddings < BB_ROUND_SHEDDINGS ? last ? last + 1 : round->sheddings : NULL;
}

// What is left out from the round at hand on.
static void put_shedding(BbRound *round, const BbShedding *shedding)
{
    BbShedding *place = place_of(round, shedding);
    *place = *shedding;
    round->n_sheddings = (guint)(place - round->sheddings) + 1;
}

// From the next packet on: what others have not got yet is thinned where they cannot get it now.
static void shed_in_lanes(BbShards *shards)
{
    BbRound *round = shards->round;
    bool begun = round->count || round->n_sheddings;
    if ((begun && find_spare(shards, 0)) || !place_of(round, &shards->shedding))
        hand_over(shards);
    thin(shards);
    put_shedding(shards->round, &shards->shedding);
}

// Live, who reads does not wait for room: it asks again soon.
static bool is_too_soon(BbShards *shards, const BbShedding *shedding)
{
    return shards->thread && shards->output.look &&
           !bb_shedding_covers(&shards->shedding, shedding) && !place_of(shards->round, shedding) &&
           !find_spare(shards, 0);
}

void bb_shards_shed(BbShards *shards, const BbShedding *shedding)
{
    const BbShedding before = shards->shedding;
    bool trimmed = shards->trims;
    if (is_too_soon(shards, shedding))
        return;
    shards->trims = shards->skips && shedding->trims;
    shards->shedding = *shedding;
    if (shards->trims && (!trimmed || !bb_shedding_covers(shedding, &before)))
        bb_skips_forget(shards->skips, shards->packets);
    if (bb_shedding_covers(&before, shedding))
        return; // flows that are kept again are joined where they are
    if (shards->thread) {
        shed_in_lanes(shards);
        return;
    }
    for (guint i = 0; i < shards->n_shards; i++)
        bb_flows_shed(shards->flows[i], shedding);
}

static void ask(BbShards *shards)
{
    const BbShardsOutput *output = &shards->output;
    const BbShedding shedding = output->look(bb_shards_waited(shards), output->user);
    bb_shards_shed(shards, &shedding);
}

// Makes room for packet, which may be left out meanwhile.
static void make_room(BbShards *shards, const BbPacket *packet)
{
    const BbShardsOutput *output = &shards->output;
    if (output->look && !find_spare(shards, 0)) {
        shards->waits++;
        while (bb_round_is_full(shards->round, packet) && !find_spare(shards, PATIENCE_US))
            ask(shards);
    }
    if (bb_round_is_full(shards->round, packet))
        hand_over(shards);
}

// Returns how many bytes need not be copied.
static guint32 trim(BbShards *shards, BbPacket *packet)
{
    if (packet->transport != BB_TRANSPORT_TCP || packet->captured <= BB_SKIPS_KEPT ||
        !bb_skips_cover(shards->skips, packet))
        return 0;
    guint32 trimmed = packet->captured - BB_SKIPS_KEPT;
    packet->captured = BB_SKIPS_KEPT;
    return trimmed;
}

// ---- frames -------------------------------------------------------------------------------------

guint32 bb_shards_file(BbShards *shards, const char *name)
{
    return bb_names_intern(shards->files ? shards->files : shards->out->names, name);
}

static void put(BbShards *shards, BbPacket *packet)
{
    guint32 trimmed = G_UNLIKELY(shards->trims) ? trim(shards, packet) : 0;
    if (bb_round_is_full(shards->round, packet)) {
        make_room(shards, packet);
        if (is_shed(shards, packet)) {
            count_shed(shards, packet);
            return;
        }
    }
    packet->number = ++shards->packets;
    if (shards->skips && packet->transport == BB_TRANSPORT_TCP && packet->tcp_flags & BB_TCP_SYN)
        bb_skips_begin(shards->skips, packet);
    bb_round_add(shards->round, packet, shard_of(shards, packet), trimmed);
}

// packet gets its number.
static bool push(BbShards *shards, BbPacket *packet, GError **error)
{
    if (!bb_intake_is_new(shards->intake, packet))
        return true;
    if (G_UNLIKELY(shards->shedding.parts) && is_shed(shards, packet)) {
        count_shed(shards, packet);
        return report(shards, error);
    }
    if (!shards->thread) {
        packet->number = ++shards->packets;
        bb_flows_push(shards->flows[shard_of(shards, packet)], packet);
    } else {
        put(shards, packet);
    }
    return report(shards, error);
}

bool bb_shards_packet(BbShards *shards, const BbPacket *packet, GError **error)
{
    BbPacket numbered = *packet;
    return push(shards, &numbered, error);
}

bool bb_shards_frame(BbShards *shards, const BbFrame *frame, GError **error)
{
    BbPacket packet;
    return !bb_intake_frame(shards->intake, frame, &packet) || push(shards, &packet, error);
}

bool bb_shards_mark(BbShards *shards, guint mark, GError **error)
{
    if (!shards->thread)
        return play_mark(shards, mark, shards->loss, error);
    shards->marks |= mark;
    hand_over(shards);
    return report(shards, error);
}

bool bb_shards_mark_soon(BbShards *shards, guint mark, GError **error)
{
    if (!shards->thread || find_spare(shards, 0))
        return bb_shards_mark(shards, mark, error);
    shards->marks |= mark;
    return report(shards, error);
}

guint bb_shards_marks(const BbShards *shards)
{
    return shards->marks;
}

// ---- the end ------------------------------------------------------------------------------------

// Flows of all shards, in the order in which one table of flows would end them.
static void end_flows(BbShards *shards)
{
    for (;;) {
        guint first = 0;
        guint64 rank = G_MAXUINT64;
        for (guint i = 0; i < shards->n_shards; i++) {
            guint64 here = bb_flows_rank(shards->flows[i]);
            if (here < rank) {
                rank = here;
                first = i;
            }
        }
        if (rank == G_MAXUINT64)
            return;
        if (shards->thread)
            bb_tape_at(bb_lane_tape(shards->lanes[0]), ++shards->packets);
        bb_flows_end_first(shards->flows[first]);
    }
}

// The threads that decode end; their shards go on, on the tape of the first, in this one.
static void join_lanes(BbShards *shards)
{
    shards->round->last = true;
    hand_over(shards);
    for (guint i = 0; i < shards->n_lanes; i++)
        bb_lane_join(shards->lanes[i]);
    for (guint i = 0; i < shards->n_shards; i++)
        bb_context_set_tape(shards->contexts[i], bb_lane_tape(shards->lanes[0]));
    for (guint i = 1; i < shards->n_lanes; i++)
        bb_tape_end(bb_lane_tape(shards->lanes[i]));
}

static void finish(BbShards *shards)
{
    if (shards->finished)
        return;
    shards->finished = true;
    if (shards->thread)
        join_lanes(shards);
    end_flows(shards);
    bb_intake_finish(shards->intake);
    if (shards->thread) {
        bb_tape_end(bb_lane_tape(shards->lanes[0]));
        g_thread_join(g_steal_pointer(&shards->thread));
    }
    bb_shards_count(shards);
}

bool bb_shards_finish(BbShards *shards, GError **error)
{
    finish(shards);
    return report(shards, error);
}

void bb_shards_free(BbShards *shards)
{
    if (!shards)
        return;
    if (!shards->thread)
        bb_context_discard(shards->out);
    g_atomic_int_set(&shards->ended, 1);
    finish(shards);
    for (guint i = 0; i < shards->n_shards; i++) {
        bb_flows_free(shards->flows[i]);
        bb_context_free(shards->contexts[i]);
        bb_names_free(shards->names[i]);
        bb_lane_free(shards->lanes[i]);
    }
    if (shards->spare)
        bb_channel_put(shards->read, shards->spare);
    for (BbRound *round = shards->round; round; round = bb_channel_try(shards->read)) {
        bb_round_clear(round);
        g_free(round);
    }
    bb_channel_free(shards->read);
    bb_skips_free(shards->skips);
    bb_scribe_free(shards->scribe);
    bb_kept_free(shards->kept);
    bb_names_free(shards->files);
    bb_intake_free(shards->intake);
    bb_context_free(shards->out);
    g_clear_error(&shards->error);
    g_free(shards);
}

// ---- what is known ------------------------------------------------------------------------------

const BbNetwork *bb_shards_network(const BbShards *shards)
{
    return shards->out->network;
}

const BbTranslations *bb_shards_translations(const BbShards *shards)
{
    return bb_intake_translations(shards->intake);
}

void bb_shards_count(BbShards *shards)
{
    BbLoss sum = {0};
    if (shards->n_lanes == 1)
        return;
    for (guint i = 0; i < shards->n_lanes; i++) {
        BbLaneState state = bb_lane_state(shards->lanes[i]);
        bb_loss_add(&sum, &state.loss);
    }
    if (!shards->thread) // else it is the scribe's
        bb_loss_add(&sum, &shards->out_loss);
    for (guint kind = 0; kind < BB_LOSS_COUNT; kind++)
        shards->loss->count[kind] += sum.count[kind] - shards->counted.count[kind];
    shards->counted = sum;
}

guint bb_shards_connections(const BbShards *shards)
{
    guint count = 0;
    for (guint i = 0; i < shards->n_shards && shards->n_lanes == 1; i++)
        count += bb_flows_count(shards->flows[i]);
    for (guint i = 0; i < shards->n_lanes && shards->n_lanes > 1; i++)
        count += bb_lane_state(shards->lanes[i]).connections;
    return count;
}

gsize bb_shards_held_bytes(const BbShards *shards)
{
    gsize held = 0;
    for (guint i = 0; i < shards->n_shards && shards->n_lanes == 1; i++)
        held += bb_flows_held(shards->flows[i]);
    for (guint i = 0; i < shards->n_lanes && shards->n_lanes > 1; i++)
        held += bb_lane_state(shards->lanes[i]).held;
    return held;
}

guint64 bb_shards_waits(const BbShards *shards)
{
    return shards->waits;
}

gint64 bb_shards_waited(const BbShards *shards)
{
    return shards->waited_us * 1000;
}
