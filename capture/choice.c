// SPDX-License-Identifier: Apache-2.0
// In: the first bytes of each side of a dialog, ports, what people said. Out: its decoder, and
// which side calls.
#include "capture/choice.h"

static void set_client(BbDialog *dialog, guint client)
{
    if (dialog->client != client)
        bb_dialog_end_nodes(dialog);
    dialog->client = (guint8)client;
    dialog->client_known = true;
}

void bb_dialog_set_decoder(BbDialog *dialog, const BbDecoder *decoder)
{
    dialog->decoder = decoder;
    dialog->proto = BB_NAME_NONE;
    dialog->state = g_malloc0(decoder->state_size);
}

static bool runs_here(const BbDialog *dialog, const BbDecoder *decoder)
{
    return decoder->probe && (dialog->is_tcp ? decoder->tcp : decoder->udp);
}

static bool has_port(const BbDecoder *decoder, guint16 port)
{
    for (guint i = 0; i < G_N_ELEMENTS(decoder->ports) && decoder->ports[i]; i++)
        if (decoder->ports[i] == port)
            return true;
    return false;
}

// Without a handshake, be it another connection's, the usual port of a protocol, else a port below
// the ephemeral ones, tells the server; else whoever spoke first is the client.
static void guess_client(BbDialog *dialog, const BbDecoder *decoder)
{
    const guint16 *port = dialog->endpoints->port;
    if (dialog->client_known)
        return;
    if (has_port(decoder, port[0]) != has_port(decoder, port[1]))
        set_client(dialog, has_port(decoder, port[0]) ? 1 : 0);
    else if ((port[0] < BB_PORT_OF_CLIENTS) != (port[1] < BB_PORT_OF_CLIENTS))
        set_client(dialog, port[0] < BB_PORT_OF_CLIENTS ? 1 : 0);
}

// Whether side answers for the first time, and the client was seen to begin to speak: what it said
// then is answered first, whatever is missing behind. Of datagrams one was seen, since of several
// nobody knows which is answered.
static bool is_first_answer(const BbDialog *dialog, guint side)
{
    bool alone = dialog->is_tcp ? dialog->from_start : dialog->pieces == 1;
    return dialog->decoder == &bb_decoder_turns && alone && side != dialog->client &&
           dialog->turns_probed == 1 && !dialog->side[dialog->client].headless;
}

// What a reply answers is a request of the reply's protocol, however malformed: it stays open.
static void adopt_request(BbDialog *dialog, const BbDecoder *decoder)
{
    dialog->decoder = decoder;
    dialog->proto = BB_NAME_NONE;
    bb_turns_end_request(dialog, dialog->state);
    bb_dialog_adopt(dialog);
    g_clear_pointer(&dialog->state, g_free);
}

// Who calls where decoder is certain of what side said. What a server sends may begin as a request
// does (a list of words, what Redis passes on to a replica): in a connection without its handshake
// the usual port says more, unless it may be one that a client got by chance.
static guint find_client(const BbDialog *dialog, guint side, const BbDecoder *decoder,
                         BbMatch match)
{
    const guint16 *port = dialog->endpoints->port;
    guint server = has_port(decoder, port[0]) ? 0 : 1;
    if (match == BB_MATCH_REQUEST && dialog->is_tcp && !dialog->from_start &&
        has_port(decoder, port[0]) != has_port(decoder, port[1]) &&
        port[server] < BB_PORT_OF_CLIENTS && port[!server] >= BB_PORT_OF_CLIENTS)
        return !server;
    return match == BB_MATCH_REQUEST ? side : !side;
}

// What the bytes of side are worth as those of a protocol. The handshake has told who calls: what
// looks like a reply of the caller's is perhaps another protocol's request.
static BbMatch weigh(const BbDialog *dialog, guint side, BbMatch match)
{
    bool calls = dialog->is_tcp && dialog->from_start && side == dialog->client;
    return calls && match == BB_MATCH_REPLY ? BB_MATCH_LIKELY : match;
}

static bool use_if_certain(BbDialog *dialog, guint side, const BbDecoder *decoder, BbMatch match)
{
    if (match != BB_MATCH_REQUEST && match != BB_MATCH_REPLY)
        return false;
    if (match == BB_MATCH_REPLY && is_first_answer(dialog, side))
        adopt_request(dialog, decoder);
    else
        bb_dialog_end_decoder(dialog, true);
    set_client(dialog, find_client(dialog, side, decoder, match));
    bb_dialog_set_decoder(dialog, decoder);
    return true;
}

// Of the decoders with that one's name (the forms of a protocol), the one that these bytes fit.
static const BbDecoder *form_of(const BbDialog *dialog, const BbDecoder *told, const BbView *view)
{
    for (guint i = 0; bb_decoders[i]; i++)
        if (runs_here(dialog, bb_decoders[i]) && strcmp(bb_decoders[i]->name, told->name) == 0 &&
            bb_decoders[i]->probe(view->data, view->length) > BB_MATCH_MORE)
            return bb_decoders[i];
    return told;
}

// What nobody has to find out: the decoder that another one named, or people did by a port.
static bool use_if_told(BbDialog *dialog, const BbView *view)
{
    const BbContext *context = dialog->context;
    const guint16 *port = dialog->endpoints->port;
    if (dialog->next) {
        bb_dialog_set_decoder(dialog, g_steal_pointer(&dialog->next));
        return true;
    }
    for (guint i = 0; i < context->n_decode_as && !dialog->told; i++) {
        const BbDecodeAs *as = &context->decode_as[i];
        if ((port[0] != as->port && port[1] != as->port) ||
            !(dialog->is_tcp ? as->decoder->tcp : as->decoder->udp))
            continue;
        dialog->told = true;
        if (as->decoder == &bb_decoder_turns)
            dialog->turns_probed = BB_DIALOG_NO_PROBES;
        if (!dialog->client_known)
            set_client(dialog, port[0] == as->port ? 1 : 0);
        bb_dialog_set_decoder(dialog, form_of(dialog, as->decoder, view));
        return true;
    }
    return false;
}

const BbDecoder *bb_dialog_find_by_answer(const BbDialog *dialog, const BbAnswer *answer,
                                          bool *more)
{
    *more = false;
    for (guint i = 0; answer && bb_decoders[i]; i++) {
        if (!(dialog->likely >> i & 1))
            continue;
        BbMatch match = bb_decoders[i]->probe(answer->data, answer->length);
        if (match == BB_MATCH_LIKELY || match == BB_MATCH_REPLY) {
            *more = false;
            return bb_decoders[i];
        }
        *more |= match == BB_MATCH_MORE;
    }
    return NULL;
}

bool bb_dialog_choose_decoder(BbDialog *dialog, guint side, const BbView *view, BbHearing hearing)
{
    const guint16 *port = dialog->endpoints->port;
    const BbDecoder *found = NULL;
    bool undecided = false, more;
    if (use_if_told(dialog, view))
        return true;
    dialog->likely = 0;
    for (guint i = 0; bb_decoders[i]; i++) {
        const BbDecoder *decoder = bb_decoders[i];
        if (!runs_here(dialog, decoder) || dialog->refused >> i & 1)
            continue;
        BbMatch match = weigh(dialog, side, decoder->probe(view->data, view->length));
        // Of two protocols that look the same (`get key`, typed to Redis or sent to memcached) the
        // first in the table that has the port is meant.
        if (!found && use_if_certain(dialog, side, decoder, match))
            return true;
        undecided |= match == BB_MATCH_MORE;
        if (match == BB_MATCH_LIKELY)
            dialog->likely |= G_GUINT64_CONSTANT(1) << i;
        if ((match == BB_MATCH_LIKELY || match == BB_MATCH_MAYBE) && !found &&
            (has_port(decoder, port[0]) || has_port(decoder, port[1])))
            found = decoder;
    }
    if (!hearing.over && ((undecided && view->length < BB_DIALOG_PROBE) ||
                          (!found && dialog->likely && view->length < BB_DIALOG_LIKELY)))
        return false;
    if (!found)
        found = bb_dialog_find_by_answer(dialog, hearing.answer, &more);
    if (!found)
        found = &bb_decoder_turns;
    guess_client(dialog, found);
    bb_dialog_set_decoder(dialog, found);
    return true;
}

// Whether another turn is probed. Counts turns.
static bool may_probe(BbDialog *dialog, bool rested, gint64 time_ns)
{
    if (dialog->turns_probed == BB_DIALOG_NO_PROBES)
        return false;
    if (dialog->turns_probed < BB_DIALOG_REPROBES) {
        dialog->turns_probed++;
        return true;
    }
    if (!rested || time_ns - dialog->probed_ns < BB_DIALOG_REPROBE_NS)
        return false;
    dialog->probed_ns = time_ns;
    return true;
}

// Whether the bytes of side are those of a turn that is to be probed.
static bool begins_turn(BbDialog *dialog, guint side, const BbView *view)
{
    if (dialog->decoder != &bb_decoder_turns)
        return false;
    gint64 time_ns = view->marks[0].time_ns;
    bool rested = time_ns - dialog->turn_ns >= BB_DIALOG_REST_NS;
    dialog->turn_ns = view->marks[view->n_marks - 1].time_ns;
    if (dialog->turning == side + 1)
        return true;
    return dialog->last_spoke != side + 1 && may_probe(dialog, rested, time_ns);
}

bool bb_dialog_probe_turn(BbDialog *dialog, guint side, const BbView *view)
{
    const guint16 *port = dialog->endpoints->port;
    const BbDecoder *found = NULL;
    bool undecided = false, begins = begins_turn(dialog, side, view);
    dialog->turning = 0;
    if (!begins)
        return true;
    for (guint i = 0; bb_decoders[i]; i++) {
        const BbDecoder *decoder = bb_decoders[i];
        if (!runs_here(dialog, decoder))
            continue;
        BbMatch match = weigh(dialog, side, decoder->probe(view->data, view->length));
        bool likely = match == BB_MATCH_LIKELY;
        bool both = likely && dialog->likely >> i & 1 && is_first_answer(dialog, side);
        if (use_if_certain(dialog, side, decoder, both ? BB_MATCH_REPLY : match))
            return true;
        undecided |= match == BB_MATCH_MORE;
        if (!found && likely && !(dialog->refused >> i & 1) &&
            (has_port(decoder, port[0]) || has_port(decoder, port[1])))
            found = decoder;
    }
    if (found) {
        bb_dialog_end_decoder(dialog, true);
        guess_client(dialog, found);
        bb_dialog_set_decoder(dialog, found);
        return true;
    }
    if (!undecided || view->datagram || view->length >= BB_DIALOG_PROBE)
        return true;
    dialog->turning = (guint8)(side + 1);
    bb_turns_keep(dialog, dialog->state);
    return false;
}

void bb_dialog_give_up_decoder(BbDialog *dialog)
{
    dialog->context->loss->count[BB_DECODER_GAVE_UP]++;
    for (guint i = 0; bb_decoders[i]; i++)
        if (bb_decoders[i] == dialog->decoder)
            dialog->refused |= G_GUINT64_CONSTANT(1) << i;
    bb_dialog_end_decoder(dialog, true);
}
