// SPDX-License-Identifier: Apache-2.0
// In: SYNs and SYN-ACKs. Out: legs of one connection.
#include "capture/translation_state.h"

#include "capture/cursor.h"
#include "data/mix.h"

#define SYNS BB_TRANSLATION_SYNS
#define WINDOW_NS BB_TRANSLATION_WINDOW_NS
// TCP options (RFC 9293, section 3.1).
#define OPTION_END 0
#define OPTION_NOTHING 1
#define OPTION_MSS 2

static guint64 mix_options(guint64 form, BbCursor rest)
{
    while (rest.left) {
        guint8 kind = bb_cursor_u8(&rest);
        form = bb_mix(form, kind);
        if (kind == OPTION_END || kind == OPTION_NOTHING)
            continue;
        guint8 size = bb_cursor_u8(&rest);
        const guint8 *value = size < 2 ? NULL : bb_cursor_take(&rest, size - 2u);
        if (!value)
            break;
        form = bb_mix(form, size);
        if (kind != OPTION_MSS)
            form = bb_mix_bytes(form, value, size - 2u);
    }
    return form;
}

// What a box leaves alone of the first packets of a connection, whose networks are to be one where
// these tell hosts apart. The MSS counts without its value.
static guint64 form_of(const BbPacket *packet)
{
    guint64 networks = (guint64)packet->vlan << 32 | (packet->has_vni ? packet->vni : 0);
    guint64 form = bb_mix(bb_mix(1, networks), (guint64)packet->window << 16 | packet->has_vni);
    return mix_options(form, bb_cursor(packet->options, packet->options_size));
}

static bool is_near(gint64 a_ns, gint64 b_ns)
{
    return a_ns <= b_ns + WINDOW_NS && b_ns <= a_ns + WINDOW_NS;
}

// ---- the ring of SYNs ---------------------------------------------------------------------------

static BbSyn **bucket_of(const BbTranslations *t, guint32 isn)
{
    return &t->buckets[(bb_mix(t->seed, isn) >> 32) % SYNS];
}

// In the network of leg.
static BbSyn *find_syn(const BbTranslations *t, const BbLeg *leg, guint32 isn)
{
    BbSyn *syn = *bucket_of(t, isn);
    while (syn && !(syn->isn == isn && bb_leg_is_network(&syn->leg, leg)))
        syn = syn->chain;
    return syn;
}

// Nothing more is to come of it. What it has joined stays.
static void spend(BbSyn *syn)
{
    BbLink *link = g_steal_pointer(&syn->link);
    syn->spent = true;
    if (link) {
        link->syn = NULL;
        bb_link_release(link);
    }
}

// Whether another leg, or the answer on one, is to be expected: not of scans where no NAT is.
static bool is_awaited(const BbTranslations *t, const BbSyn *syn, gint64 now_ns)
{
    return !syn->spent &&
           (syn->link || (t->found && !syn->answered && is_near(syn->leg.time_ns, now_ns)));
}

static void drop_oldest(BbTranslations *t, BbSyn *syn, gint64 now_ns)
{
    if (!syn->used)
        return;
    t->loss->count[BB_NAT_LIMIT] += is_awaited(t, syn, now_ns);
    spend(syn);
    BbSyn **at = bucket_of(t, syn->isn);
    while (*at != syn)
        at = &(*at)->chain;
    *at = syn->chain;
}

static void add_syn(BbTranslations *t, const BbLeg *leg, guint32 isn)
{
    BbSyn *syn = &t->syns[t->next];
    t->next = (t->next + 1) % SYNS;
    drop_oldest(t, syn, leg->time_ns);
    BbSyn **bucket = bucket_of(t, isn);
    *syn = (BbSyn){.leg = *leg, .chain = *bucket, .isn = isn, .used = true};
    *bucket = syn;
}

// ---- legs of a SYN ------------------------------------------------------------------------------

static BbLeg *legs_of(BbSyn *syn, guint *count)
{
    *count = syn->link ? syn->link->n_legs : 1;
    return syn->link ? syn->link->legs : &syn->leg;
}

// The leg of syn with the same ends as leg, NULL if it has none.
static BbLeg *find_leg(BbSyn *syn, const BbLeg *leg, guint *index)
{
    guint count;
    BbLeg *legs = legs_of(syn, &count);
    for (*index = 0; *index < count; ++*index)
        if (bb_leg_is_end(&legs[*index], 0, leg, 0) && bb_leg_is_end(&legs[*index], 1, leg, 1))
            return &legs[*index];
    return NULL;
}

static bool is_same_syn(BbSyn *syn, const BbLeg *leg)
{
    guint count;
    const BbLeg *legs = legs_of(syn, &count);
    const BbLeg *last = &legs[count - 1];
    for (guint i = 0; i < count; i++) // both open the same one at once (RFC 9293, section 3.5)
        if (bb_leg_is_end(&legs[i], 0, leg, 1) && bb_leg_is_end(&legs[i], 1, leg, 0))
            return false;
    return !syn->answered && count < BB_TRANSLATION_LEGS && last->form == leg->form &&
           is_near(last->time_ns, leg->time_ns);
}

static void add_leg(BbSyn *syn, const BbLeg *leg)
{
    BbLink *link = syn->link;
    if (!link) {
        link = syn->link = g_new0(BbLink, 1);
        link->syn = syn;
        link->isn = syn->isn;
        link->legs[link->n_legs++] = syn->leg;
        link->legs[0].link = link;
    }
    BbLeg *added = &link->legs[link->n_legs++];
    *added = *leg;
    added->link = link;
    link->answered = link->n_legs;
}

static void push_syn(BbTranslations *t, const BbPacket *packet)
{
    BbLeg leg = bb_leg_of(packet, true);
    leg.form = form_of(packet);
    BbSyn *syn = find_syn(t, &leg, packet->seq);
    guint index;
    if (!syn) {
        add_syn(t, &leg, packet->seq);
        return;
    }
    BbLeg *same = find_leg(syn, &leg, &index);
    if (same) { // sent again, maybe with another time stamp
        same->form = leg.form;
        same->time_ns = leg.time_ns;
    } else if (syn->spent || !is_same_syn(syn, &leg)) {
        spend(syn); // such numbers are not random
    } else {
        add_leg(syn, &leg);
    }
}

// Whether a SYN-ACK that leg `index` shows is what is to come next: the last leg has it first, then
// the one before, with the same numbers, at once.
static bool takes_answer(const BbLink *link, guint index, const BbPacket *packet, guint64 form)
{
    if (index + 1 != link->answered)
        return false;
    if (link->answered == link->n_legs)
        return packet->seq >= BB_TRANSLATION_ISN;
    return packet->seq == link->answer_seq && form == link->answer_form &&
           is_near(packet->time_ns, link->answer_ns);
}

static bool push_answer(BbTranslations *t, const BbPacket *packet)
{
    BbLeg leg = bb_leg_of(packet, false);
    BbSyn *syn = find_syn(t, &leg, packet->ack - 1);
    guint index;
    if (!syn || syn->spent || !find_leg(syn, &leg, &index))
        return false;
    BbLink *link = syn->link;
    syn->answered = true;
    if (!link)
        return false;
    guint64 form = form_of(packet);
    bool again = index == link->answered && packet->seq == link->answer_seq;
    if (!again && !takes_answer(link, index, packet, form)) {
        spend(syn);
        return false;
    }
    link->answer_seq = packet->seq;
    link->answer_form = form;
    link->answer_ns = packet->time_ns;
    if (again)
        return false;
    link->answered = index;
    bool joined = index + 1 < link->n_legs && bb_link_join(t, link, index);
    if (index == 0)
        spend(syn);
    return joined;
}

bool bb_handshake_push(BbTranslations *t, const BbPacket *packet)
{
    if (packet->tcp_flags & (BB_TCP_RST | BB_TCP_FIN) || packet->length)
        return false;
    if (packet->tcp_flags & BB_TCP_ACK)
        return push_answer(t, packet);
    if (packet->seq >= BB_TRANSLATION_ISN)
        push_syn(t, packet);
    return false;
}
