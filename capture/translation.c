// SPDX-License-Identifier: Apache-2.0
// In: packets. Out: which of them are second sightings on another side of a NAT, and what the
// clients of the others are really called.
#include "capture/translation_state.h"

#include "data/keys.h"

// ---- legs ---------------------------------------------------------------------------------------

BbLeg bb_leg_of(const BbPacket *packet, bool client)
{
    BbLeg leg = {.time_ns = packet->time_ns};
    leg.address[!client] = packet->source;
    leg.address[client] = packet->target;
    leg.port[!client] = packet->source_port;
    leg.port[client] = packet->target_port;
    leg.vlan = packet->vlan;
    leg.has_vni = packet->has_vni;
    leg.vni = packet->has_vni ? packet->vni : 0;
    return leg;
}

bool bb_leg_is_end(const BbLeg *leg, guint end, const BbLeg *other, guint other_end)
{
    return leg->port[end] == other->port[other_end] &&
           bb_address_equal(&leg->address[end], &other->address[other_end]);
}

bool bb_leg_is_network(const BbLeg *leg, const BbLeg *other)
{
    return leg->vlan == other->vlan && leg->has_vni == other->has_vni && leg->vni == other->vni;
}

// The same for both directions.
static guint leg_hash(gconstpointer data)
{
    const BbLeg *leg = data;
    guint64 network = bb_mix(leg->has_vni, (guint64)leg->vlan << 32 | leg->vni);
    guint64 ends =
        bb_mix_ends(bb_keys_seed(), &leg->address[0], leg->port[0], &leg->address[1], leg->port[1]);
    return (guint)(bb_mix(network, ends) >> 32);
}

static gboolean leg_equal(gconstpointer a, gconstpointer b)
{
    const BbLeg *leg = a, *other = b;
    return bb_leg_is_network(leg, other) &&
           ((bb_leg_is_end(leg, 0, other, 0) && bb_leg_is_end(leg, 1, other, 1)) ||
            (bb_leg_is_end(leg, 0, other, 1) && bb_leg_is_end(leg, 1, other, 0)));
}

// ---- joined connections -------------------------------------------------------------------------

static void list_remove(BbTranslations *t, BbLink *link)
{
    BbLinkList *list = &t->lists[link->in_ended];
    *(link->older ? &link->older->newer : &list->oldest) = link->newer;
    *(link->newer ? &link->newer->older : &list->newest) = link->older;
    link->older = link->newer = NULL;
}

static bool has_ended(const BbLink *link)
{
    return link->reset || (link->fins[0] && link->fins[1]);
}

static void list_append(BbTranslations *t, BbLink *link)
{
    link->in_ended = has_ended(link);
    BbLinkList *list = &t->lists[link->in_ended];
    link->older = list->newest;
    *(list->newest ? &list->newest->newer : &list->oldest) = link;
    list->newest = link;
}

void bb_link_release(BbLink *link)
{
    if (!link->syn && !link->known)
        g_free(link);
}

// Its legs are connections of their own from here on.
static void part(BbTranslations *t, BbLink *link)
{
    for (guint i = link->answered; i < link->n_legs; i++)
        if (g_hash_table_lookup(t->known, &link->legs[i]) == &link->legs[i])
            g_hash_table_remove(t->known, &link->legs[i]);
    list_remove(t, link);
    t->joined--;
    link->known = false;
    if (link->syn) {
        link->syn->spent = true;
        link->syn->link = NULL;
        link->syn = NULL;
    }
    bb_link_release(link);
}

// Its ports are used again.
static void supersede(BbTranslations *t, BbLink *link)
{
    t->loss->count[BB_NAT_PARTED] += !has_ended(link);
    part(t, link);
}

static void make_room(BbTranslations *t, gint64 now_ns)
{
    const BbLinkList *live = &t->lists[false], *ended = &t->lists[true];
    while (ended->oldest && now_ns - ended->oldest->last_ns >= BB_TRANSLATION_ENDED_NS)
        part(t, ended->oldest);
    if (t->joined < BB_TRANSLATION_CONNECTIONS)
        return;
    t->loss->count[BB_NAT_LIMIT] += !ended->oldest;
    part(t, ended->oldest ? ended->oldest : live->oldest);
}

static void add_known(BbTranslations *t, BbLeg *leg)
{
    const BbLeg *former = g_hash_table_lookup(t->known, leg);
    if (former)
        supersede(t, former->link);
    g_hash_table_add(t->known, leg);
}

// Of clients the address outside is what counts.
static bool is_same_pair(const BbTranslationPair *pair, const BbTranslationPair *other, guint end)
{
    return bb_address_equal(&pair->after, &other->after) &&
           (end == BB_TRANSLATION_CLIENTS ||
            (pair->before_port == other->before_port && pair->after_port == other->after_port &&
             bb_address_equal(&pair->before, &other->before)));
}

// Counts what `end` of a leg is called on the next one.
static void note_pair(BbTranslations *t, const BbLeg *leg, guint end)
{
    BbTranslationPair pair = {.before = leg[0].address[end], .after = leg[1].address[end]};
    if (end == BB_TRANSLATION_SERVICES) {
        pair.before_port = leg[0].port[end];
        pair.after_port = leg[1].port[end];
    }
    if (bb_address_equal(&pair.before, &pair.after) && pair.before_port == pair.after_port)
        return;
    BbPairTable *table = &t->tables[end];
    guint i = 0;
    while (i < table->count && !is_same_pair(&table->pairs[i], &pair, end))
        i++;
    if (i == BB_TRANSLATION_PAIRS)
        return;
    if (i == table->count)
        table->pairs[table->count++] = pair;
    BbTranslationPair *known = &table->pairs[i];
    known->connections++;
    known->others |= !bb_address_equal(&known->before, &pair.before);
}

bool bb_link_join(BbTranslations *t, BbLink *link, guint index)
{
    bool joins = t->mode == BB_TRANSLATION_JOIN;
    t->found = true;
    note_pair(t, &link->legs[index], BB_TRANSLATION_CLIENTS);
    note_pair(t, &link->legs[index], BB_TRANSLATION_SERVICES);
    if (index + 2 == link->n_legs)
        t->loss->count[joins ? BB_NAT_JOINED : BB_NAT_SEEN_TWICE]++;
    if (!joins)
        return false;
    if (!link->known) {
        make_room(t, link->answer_ns);
        add_known(t, &link->legs[link->n_legs - 1]);
        list_append(t, link);
        t->joined++;
        link->known = true;
    }
    add_known(t, &link->legs[index]);
    link->last_ns = link->answer_ns;
    return true;
}

// ---- their packets ------------------------------------------------------------------------------

static void note_end(BbLink *link, const BbPacket *packet, bool client)
{
    if (packet->tcp_flags & BB_TCP_RST)
        link->reset = true;
    else if (packet->tcp_flags & BB_TCP_FIN)
        link->fins[client] = true;
    else if (packet->length) // that was no end
        link->reset = false;
}

// What the last leg shows: it goes further, under the client's own name.
static void take(BbLink *link, const BbLeg *leg, BbPacket *packet, bool client)
{
    const BbLeg *first = &link->legs[link->answered];
    link->missed = 0;
    if (bb_leg_is_end(first, 0, leg, 0))
        return;
    packet->translated = client ? BB_TRANSLATED_SOURCE : BB_TRANSLATED_TARGET;
    packet->hidden = first->address[0];
    packet->hidden_port = first->port[0];
}

// Another leg shows it. Returns whether the last one is gone.
static bool miss(BbLink *link, const BbPacket *packet)
{
    if (!packet->length)
        return false;
    if (link->missed++ == 0)
        link->missed_ns = packet->time_ns;
    return link->missed >= BB_TRANSLATION_MISSED &&
           packet->time_ns - link->missed_ns >= BB_TRANSLATION_MISSED_NS;
}

static bool follow(BbTranslations *t, const BbLeg *leg, BbPacket *packet)
{
    BbLink *link = leg->link;
    const BbLeg sent = bb_leg_of(packet, true);
    bool client = bb_leg_is_end(leg, 0, &sent, 0);
    link->last_ns = MAX(link->last_ns, packet->time_ns);
    note_end(link, packet, client);
    if (t->lists[has_ended(link)].newest != link) {
        list_remove(t, link);
        list_append(t, link);
    }
    if (leg == &link->legs[link->n_legs - 1]) {
        take(link, leg, packet, client);
        return true;
    }
    if (miss(link, packet)) {
        t->loss->count[BB_NAT_PARTED]++;
        part(t, link);
        return true;
    }
    t->loss->count[BB_NAT_PACKETS]++;
    return false;
}

// Whether the packet is of another connection with the same ends: its SYN, which may be forged or
// late, so that nothing is parted yet; or the answer to that.
static bool is_other(BbLink *link, const BbPacket *packet)
{
    guint8 flags = packet->tcp_flags & (BB_TCP_SYN | BB_TCP_ACK | BB_TCP_RST);
    if (flags == (BB_TCP_SYN | BB_TCP_ACK))
        return link->asked && packet->ack - 1 == link->asked_isn;
    if (flags != BB_TCP_SYN || packet->seq == link->isn)
        return false;
    link->asked = true;
    link->asked_isn = packet->seq;
    return true;
}

bool bb_translations_check(BbTranslations *t, BbPacket *packet)
{
    bool is_syn = packet->tcp_flags & BB_TCP_SYN;
    if (t->mode == BB_TRANSLATION_OFF || packet->transport != BB_TRANSPORT_TCP ||
        (!is_syn && !t->joined))
        return true;
    if (t->joined) {
        const BbLeg sought = bb_leg_of(packet, true);
        const BbLeg *leg = g_hash_table_lookup(t->known, &sought);
        if (leg && !is_other(leg->link, packet))
            return follow(t, leg, packet);
        if (leg && (packet->tcp_flags & BB_TCP_ACK || has_ended(leg->link)))
            supersede(t, leg->link);
    }
    if (is_syn && bb_handshake_push(t, packet)) {
        packet->translated = BB_TRANSLATED_TWIN;
        t->loss->count[BB_NAT_PACKETS]++;
    }
    return true;
}

// ---- beginning and end --------------------------------------------------------------------------

BbTranslations *bb_translations_new(BbTranslationMode mode, BbLoss *loss)
{
    BbTranslations *t = g_new0(BbTranslations, 1);
    t->mode = mode;
    t->loss = loss;
    if (mode == BB_TRANSLATION_OFF)
        return t;
    t->seed = bb_mix_seed();
    t->syns = g_new0(BbSyn, BB_TRANSLATION_SYNS);
    t->buckets = g_new0(BbSyn *, BB_TRANSLATION_SYNS);
    t->known = g_hash_table_new(leg_hash, leg_equal);
    return t;
}

void bb_translations_free(BbTranslations *t)
{
    if (!t)
        return;
    for (guint i = 0; t->syns && i < BB_TRANSLATION_SYNS; i++)
        if (t->syns[i].link && !t->syns[i].link->known)
            g_free(t->syns[i].link);
    for (guint list = 0; list < G_N_ELEMENTS(t->lists); list++)
        for (BbLink *link = t->lists[list].oldest, *next; link; link = next) {
            next = link->newer;
            g_free(link);
        }
    g_clear_pointer(&t->known, g_hash_table_unref);
    g_free(t->buckets);
    g_free(t->syns);
    g_free(t);
}

guint bb_translations_joined(const BbTranslations *t)
{
    return t->joined;
}

guint bb_translations_pairs(const BbTranslations *t, BbTranslationEnd end)
{
    return t->tables[end].count;
}

const BbTranslationPair *bb_translations_pair(const BbTranslations *t, BbTranslationEnd end,
                                              guint index)
{
    g_return_val_if_fail(index < t->tables[end].count, NULL);
    return &t->tables[end].pairs[index];
}
