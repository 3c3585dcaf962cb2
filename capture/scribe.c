// SPDX-License-Identifier: Apache-2.0
// In: notes on tapes. Out: calls, nodes, names and messages of one context, in order of packets.
#include "capture/scribe.h"

#include <string.h>

typedef struct Shard {
    const BbNames *names;
    GArray *known;     // of guint32: by the shard's name of a label, that of out
    GArray *protocols; // of guint32: by the shard's number, the name in out
    GArray *nodes;     // of guint32: by the shard's number, the name in out
    GArray *calls;     // of guint64: likewise, the id
} Shard;

// A tape being read.
typedef struct Head {
    BbTape *tape;
    BbReel *reel;
    gsize at;
} Head;

struct BbScribe {
    BbContext *out;
    BbKept *kept;
    const BbNames *files;
    GArray *known_files; // of guint32: by its name in files, that in out
    guint n_shards;
    Head heads[BB_SCRIBE_TAPES];
    Shard shards[];
};

BbScribe *bb_scribe_new(BbContext *out, BbKept *kept, const BbNames *files,
                        const BbNames *const *names, guint shards)
{
    BbScribe *scribe = g_malloc0(sizeof *scribe + shards * sizeof scribe->shards[0]);
    scribe->out = out;
    scribe->kept = kept;
    scribe->files = files;
    scribe->known_files = g_array_new(FALSE, TRUE, sizeof(guint32));
    scribe->n_shards = shards;
    for (guint i = 0; i < shards; i++) {
        Shard *shard = &scribe->shards[i];
        shard->names = names[i];
        shard->known = g_array_new(FALSE, TRUE, sizeof(guint32));
        shard->protocols = g_array_new(FALSE, TRUE, sizeof(guint32));
        shard->nodes = g_array_new(FALSE, TRUE, sizeof(guint32));
        shard->calls = g_array_new(FALSE, TRUE, sizeof(guint64));
        g_array_set_size(shard->known, 1); // BB_NAME_NONE
    }
    return scribe;
}

void bb_scribe_free(BbScribe *scribe)
{
    if (!scribe)
        return;
    for (guint i = 0; i < scribe->n_shards; i++) {
        g_array_unref(scribe->shards[i].known);
        g_array_unref(scribe->shards[i].protocols);
        g_array_unref(scribe->shards[i].nodes);
        g_array_unref(scribe->shards[i].calls);
    }
    g_array_unref(scribe->known_files);
    g_free(scribe);
}

// ---- notes --------------------------------------------------------------------------------------

static guint32 name_of(const BbScribe *scribe, const Shard *shard, guint32 name)
{
    return name == BB_TAPE_OTHER ? bb_context_other(scribe->out)
                                 : g_array_index(shard->known, guint32, name);
}

// The place of number in array, which grows to hold it.
static gpointer place(GArray *array, guint32 number)
{
    if (number >= array->len)
        g_array_set_size(array, number + 1);
    return array->data + (gsize)number * g_array_get_element_size(array);
}

static void play_call(BbScribe *scribe, Shard *shard, const BbNote *note)
{
    (void)bb_context_new_call(scribe->out, place(shard->calls, note->value));
}

static void play_node(BbScribe *scribe, Shard *shard, const BbNote *note)
{
    const BbNoteNode *node = bb_note_rest(note);
    *(guint32 *)place(shard->nodes, note->value) =
        bb_context_node(scribe->out, &node->endpoints, node->end, node->is_server);
}

static void play_other(BbScribe *scribe, Shard *shard, const BbNote *note)
{
    (void)bb_context_other(scribe->out);
}

static void play_protocol(BbScribe *scribe, Shard *shard, const BbNote *note)
{
    *(guint32 *)place(shard->protocols, note->value) =
        bb_context_protocol(scribe->out, bb_note_rest(note));
}

// A shard's labels come in the order of their names.
static void play_label(BbScribe *scribe, Shard *shard, const BbNote *note)
{
    const char *text = bb_names_text(shard->names, note->value);
    guint32 name = bb_context_label(scribe->out, text, strlen(text));
    g_assert(note->value == shard->known->len);
    g_array_append_val(shard->known, name);
    guint32 kept = bb_context_kept_names(scribe->out);
    if (kept && !bb_kept_is_told(scribe->kept))
        bb_kept_tell(scribe->kept, scribe->out->names, kept);
}

static guint32 file_of(BbScribe *scribe, guint32 file)
{
    if (!file)
        return BB_NAME_NONE;
    guint32 *known = place(scribe->known_files, file);
    if (!*known)
        *known = bb_names_intern(scribe->out->names, bb_names_text(scribe->files, file));
    return *known;
}

static void play_message(BbScribe *scribe, Shard *shard, const BbNote *note)
{
    BbMessage message;
    memcpy(&message, bb_note_rest(note), sizeof message);
    if (message.conn)
        message.conn = (const char *)bb_note_rest(note) + sizeof message;
    message.sender = g_array_index(shard->nodes, guint32, message.sender);
    message.receiver = g_array_index(shard->nodes, guint32, message.receiver);
    message.op = name_of(scribe, shard, message.op);
    message.status = name_of(scribe, shard, message.status);
    message.proto = g_array_index(shard->protocols, guint32, message.proto);
    message.file = file_of(scribe, message.file);
    if (bb_id_is_known(message.id))
        message.id = bb_id_number(g_array_index(shard->calls, guint64, message.id.number));
    bb_context_emit(scribe->out, &message);
}

static void play_edge(BbScribe *scribe, Shard *shard, const BbNote *note)
{
    BbNoteEdge edge;
    memcpy(&edge, bb_note_rest(note), sizeof edge);
    bb_context_edge(scribe->out, &edge.endpoints, edge.client, edge.has_data, edge.is_over,
                    &edge.edge);
}

static void play_learned(BbScribe *scribe, Shard *shard, const BbNote *note)
{
    BbAddress address;
    memcpy(&address, bb_note_rest(note), sizeof address);
    bb_context_learn(scribe->out, &address, (const char *)bb_note_rest(note) + sizeof address);
}

static void (*const players[])(BbScribe *, Shard *, const BbNote *) = {
    [BB_NOTE_CALL] = play_call,         [BB_NOTE_NODE] = play_node,
    [BB_NOTE_LABEL] = play_label,       [BB_NOTE_OTHER] = play_other,
    [BB_NOTE_PROTOCOL] = play_protocol, [BB_NOTE_MESSAGE] = play_message,
    [BB_NOTE_EDGE] = play_edge,         [BB_NOTE_LEARNED] = play_learned,
};

// ---- order --------------------------------------------------------------------------------------

// The next note of a tape; NULL at the end of its round.
static const BbNote *next_note(Head *head)
{
    while (head->reel->used == head->at && !head->reel->ends_round) {
        bb_tape_give_back(head->tape, head->reel);
        head->reel = bb_tape_take(head->tape);
        head->at = 0;
    }
    return head->at == head->reel->used
               ? NULL
               : (const BbNote *)&head->reel->bytes[head->at / sizeof(guint64)];
}

static guint64 packet_of(const BbNote *note)
{
    return note ? note->packet : G_MAXUINT64;
}

// The tape with the note to be played next, and up to which packet it is ahead of the others. A
// packet is of one tape.
static Head *first_head(BbScribe *scribe, guint count, guint64 *until)
{
    guint64 first = G_MAXUINT64, second = G_MAXUINT64;
    Head *found = NULL;
    for (guint i = 0; i < count; i++) {
        guint64 packet = packet_of(next_note(&scribe->heads[i]));
        if (packet < first) {
            second = first;
            first = packet;
            found = &scribe->heads[i];
        } else {
            second = MIN(second, packet);
        }
    }
    *until = second;
    return found;
}

static void play_until(BbScribe *scribe, Head *head, guint64 until, const gint *stop)
{
    for (const BbNote *note; packet_of(note = next_note(head)) < until;) {
        if (!g_atomic_int_get(stop))
            players[note->kind](scribe, &scribe->shards[note->shard], note);
        head->at += note->size;
    }
}

BbScribeRound bb_scribe_play(BbScribe *scribe, BbTape *const *tapes, guint n_tapes,
                             const gint *stop)
{
    guint64 until;
    for (guint i = 0; i < n_tapes; i++)
        scribe->heads[i] = (Head){tapes[i], bb_tape_take(tapes[i]), 0};
    for (Head *head; (head = first_head(scribe, n_tapes, &until));)
        play_until(scribe, head, until, stop);
    const BbReel *reel = scribe->heads[0].reel;
    BbScribeRound round = {.last = reel->last, .mark = reel->mark};
    for (guint i = 0; i < n_tapes; i++) {
        if (round.mark)
            bb_loss_add(&round.loss, &scribe->heads[i].reel->loss);
        bb_tape_give_back(tapes[i], scribe->heads[i].reel);
    }
    return round;
}
