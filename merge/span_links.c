// SPDX-License-Identifier: Apache-2.0
// In: the spans of one trace. Out: how they hang together.
//
// What is above whom is found first, over the spans in order of their ids; then who is at the other
// end of whom; then, when asked, what caused what. A trace may be damaged or hostile: each step is
// linear or sorts, and nothing calls itself.
#include "merge/span_links.h"

#define NONE BB_SPAN_NONE
#define ROOT BB_SPAN_ROOT
#define FRESH (BB_SPAN_ROOT - 1) // not looked for yet

static void count(const BbSpanLinks *links, const char *name)
{
    bb_counters_add(links->counters, name, 1);
}

static bool is_span(guint32 index)
{
    return index < FRESH;
}

// ---- ids --------------------------------------------------------------------------------------

// A span id may be used twice, for both ends of one call (Zipkin), and once more within a service.
typedef enum { SIDE_SENDS, SIDE_RECEIVES, SIDE_INSIDE, SIDES } Side;

static Side side_of(const BbSpan *span)
{
    if (bb_span_kind_sends(span->kind))
        return SIDE_SENDS;
    return bb_span_kind_receives(span->kind) ? SIDE_RECEIVES : SIDE_INSIDE;
}

static gint compare_ids(BbId a, BbId b)
{
    if (a.form != b.form)
        return a.form < b.form ? -1 : 1;
    return a.number < b.number ? -1 : a.number > b.number;
}

static gint compare_spans(gconstpointer a, gconstpointer b, gpointer user)
{
    const guint32 *x = a, *y = b;
    const BbSpan *spans = user;
    gint ids = compare_ids(spans[*x].id, spans[*y].id);
    if (ids != 0)
        return ids;
    gint sides = (gint)side_of(&spans[*x]) - (gint)side_of(&spans[*y]);
    return sides != 0 ? sides : *x < *y ? -1 : *x > *y;
}

static bool is_duplicate(const BbSpanLinks *links, guint32 a, guint32 b)
{
    const BbSpan *x = &links->spans[a], *y = &links->spans[b];
    return bb_id_equal(x->id, y->id) && side_of(x) == side_of(y);
}

static void sort_spans(BbSpanLinks *links)
{
    for (guint32 i = 0; i < links->count; i++)
        links->order[i] = i;
    g_qsort_with_data(links->order, (gint)links->count, sizeof links->order[0], compare_spans,
                      links->spans);
    for (guint32 i = 0; i < links->count; i++) {
        guint32 span = links->order[i];
        if (links->ordered > 0 && is_duplicate(links, links->order[links->ordered - 1], span)) {
            links->links[span].out = true;
            count(links, "spans_duplicate");
        } else {
            links->order[links->ordered++] = span;
        }
    }
}

// Fills found with the spans of that id by their side, NONE where there is none.
static void find_id(const BbSpanLinks *links, BbId id, guint32 found[SIDES])
{
    guint32 low = 0, high = links->ordered;
    for (guint side = 0; side < SIDES; side++)
        found[side] = NONE;
    while (low < high) {
        guint32 middle = low + (high - low) / 2;
        if (compare_ids(links->spans[links->order[middle]].id, id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < links->ordered; low++) {
        const BbSpan *span = &links->spans[links->order[low]];
        if (!bb_id_equal(span->id, id))
            return;
        found[side_of(span)] = links->order[low];
    }
}

// ---- what is above whom -----------------------------------------------------------------------

static bool same_service(const BbSpan *a, const BbSpan *b)
{
    return a->service != BB_NAME_NONE && a->service == b->service;
}

bool bb_span_links_apart(const BbSpanLinks *links, guint32 a, guint32 b)
{
    guint32 x = links->spans[a].service, y = links->spans[b].service;
    return x != y && x != BB_NAME_NONE && y != BB_NAME_NONE;
}

static bool fits(const BbSpan *sender, const BbSpan *receiver)
{
    return (sender->kind == BB_SPAN_CLIENT && receiver->kind == BB_SPAN_SERVER) ||
           (sender->kind == BB_SPAN_PRODUCER && receiver->kind == BB_SPAN_CONSUMER);
}

// Of spans with one id: below both ends of a call is what the server did, unless it is the
// client's.
static guint32 choose_above(const BbSpanLinks *links, const BbSpan *span,
                            const guint32 found[SIDES])
{
    guint32 sends = found[SIDE_SENDS], receives = found[SIDE_RECEIVES];
    if (sends != NONE && receives != NONE)
        return same_service(span, &links->spans[sends]) &&
                       !same_service(span, &links->spans[receives])
                   ? sends
                   : receives;
    if (receives != NONE)
        return receives;
    return sends != NONE ? sends : found[SIDE_INSIDE];
}

static guint32 find_above(const BbSpanLinks *links, const BbSpan *span)
{
    guint32 found[SIDES];
    if (bb_span_kind_receives(span->kind)) {
        find_id(links, span->id, found);
        if (found[SIDE_SENDS] != NONE && fits(&links->spans[found[SIDE_SENDS]], span))
            return found[SIDE_SENDS];
    }
    if (!bb_id_is_known(span->parent))
        return ROOT;
    find_id(links, span->parent, found);
    return choose_above(links, span, found);
}

static void find_all_above(BbSpanLinks *links)
{
    for (guint32 i = 0; i < links->count; i++)
        if (!links->links[i].out)
            links->links[i].above = find_above(links, &links->spans[i]);
}

// Goes up from each span to one that was passed before: if on the same way, it is a circle.
static void break_circles(BbSpanLinks *links)
{
    for (guint32 i = 0; i < links->count; i++) {
        guint32 at = i;
        while (is_span(at) && links->links[at].walk == 0) {
            BbSpanLink *link = &links->links[at];
            link->walk = i + 1;
            at = link->above;
            if (is_span(at) && links->links[at].walk == i + 1) {
                link->above = NONE;
                count(links, "spans_circular");
            }
        }
    }
}

// The span above, NULL if none is known.
static const BbSpan *above(const BbSpanLinks *links, guint32 index)
{
    guint32 up = links->links[index].above;
    return is_span(up) ? &links->spans[up] : NULL;
}

// Where nothing else tells of what crossed from one service to another. Below a client's span it is
// told, and the span may be any of the work that the call caused.
static void guess_kinds(BbSpanLinks *links)
{
    for (guint32 i = 0; i < links->count; i++) {
        BbSpan *span = &links->spans[i];
        const BbSpan *parent = above(links, i);
        if (span->kind != BB_SPAN_UNSET || !parent || bb_span_kind_sends(parent->kind) ||
            !bb_span_links_apart(links, i, links->links[i].above))
            continue;
        span->kind = BB_SPAN_SERVER;
        count(links, "spans_kind_guessed");
    }
}

// ---- who is at the other end ------------------------------------------------------------------

static bool is_earlier(const BbSpanLinks *links, guint32 a, guint32 b)
{
    gint64 x = links->spans[a].start_ns, y = links->spans[b].start_ns;
    return x != y ? x < y : a < b;
}

// The first that got it, as their own clocks say, is the partner.
static void find_partners(BbSpanLinks *links)
{
    for (guint32 i = 0; i < links->count; i++) {
        const BbSpan *parent = above(links, i);
        if (!parent || !bb_span_kind_sends(parent->kind))
            continue;
        BbSpanLink *up = &links->links[links->links[i].above];
        if (!fits(parent, &links->spans[i])) {
            if (up->far == NONE && bb_span_links_apart(links, i, links->links[i].above))
                up->far = i;
        } else if (up->partner == NONE || is_earlier(links, i, up->partner)) {
            up->partner = i;
        }
    }
    for (guint32 i = 0; i < links->count; i++)
        if (bb_span_kind_sends(links->spans[i].kind) && links->links[i].partner != NONE) {
            links->links[links->links[i].partner].partner = i;
            count(links, "spans_joined");
        }
}

// Which of a span and the one right above, both of one service and kind, tells of the message once
// more; NONE if they are two messages.
static guint32 find_again(const BbSpanLinks *links, guint32 index)
{
    const BbSpan *span = &links->spans[index], *parent = above(links, index);
    const BbSpanLink *link = &links->links[index];
    if (!parent || span->kind != parent->kind || !same_service(span, parent))
        return NONE;
    if (bb_span_kind_receives(span->kind)) {
        // One that is called by its own service answers another call.
        bool same_peer = span->peer == BB_NAME_NONE ||
                         (span->peer == parent->peer && span->peer != span->service);
        return link->partner == NONE && same_peer ? index : NONE;
    }
    if (!bb_span_kind_sends(span->kind) || span->peer == BB_NAME_NONE || span->peer != parent->peer)
        return NONE;
    if (links->links[link->above].partner == NONE)
        return link->above;
    return link->partner == NONE ? index : NONE;
}

static void find_all_again(BbSpanLinks *links)
{
    for (guint32 i = 0; i < links->count; i++) {
        guint32 again = find_again(links, i);
        if (again == NONE || links->links[again].again)
            continue;
        links->links[again].again = true;
        count(links, "spans_again");
    }
}

// ---- all together -----------------------------------------------------------------------------

BbSpanLinks *bb_span_links_new(BbSpan *spans, guint32 span_count, BbCounters *counters)
{
    BbSpanLinks *links = g_new0(BbSpanLinks, 1);
    links->spans = spans;
    links->count = span_count;
    links->counters = counters;
    links->order = g_new(guint32, span_count);
    links->links = g_new(BbSpanLink, span_count);
    for (guint32 i = 0; i < span_count; i++)
        links->links[i] = (BbSpanLink){.above = NONE, .partner = NONE, .far = NONE, .cause = FRESH};
    sort_spans(links);
    find_all_above(links);
    break_circles(links);
    guess_kinds(links);
    find_partners(links);
    find_all_again(links);
    return links;
}

void bb_span_links_free(BbSpanLinks *links)
{
    if (!links)
        return;
    g_free(links->order);
    g_free(links->links);
    g_free(links);
}

bool bb_span_links_sends(const BbSpanLinks *links, guint32 index)
{
    const BbSpanLink *link = &links->links[index];
    return bb_span_kind_sends(links->spans[index].kind) && !link->again && !link->out;
}

bool bb_span_links_receives(const BbSpanLinks *links, guint32 index)
{
    const BbSpanLink *link = &links->links[index];
    return bb_span_kind_receives(links->spans[index].kind) && !link->again && !link->out;
}

BbSpanEvent bb_span_links_event(const BbSpanLinks *links, guint32 index)
{
    const BbSpanLink *link = &links->links[index];
    if (bb_span_links_sends(links, index))
        return (BbSpanEvent){index, link->partner};
    // Of several that got one message each has it from the sender.
    if (link->partner == NONE && is_span(link->above) && bb_span_links_sends(links, link->above) &&
        fits(&links->spans[link->above], &links->spans[index]) &&
        links->spans[index].kind == BB_SPAN_CONSUMER)
        return (BbSpanEvent){link->above, index};
    return (BbSpanEvent){link->partner, index};
}

bool bb_span_links_is_usable(const BbSpanLinks *links, BbSpanEvent event)
{
    const BbSpan blank = bb_span_empty();
    const BbSpan *sender = event.sender != NONE ? &links->spans[event.sender] : &blank;
    const BbSpan *receiver = event.receiver != NONE ? &links->spans[event.receiver] : &blank;
    return (sender->start_ns != BB_TIME_NONE || receiver->start_ns != BB_TIME_NONE) &&
           (sender->service != BB_NAME_NONE || receiver->service != BB_NAME_NONE);
}

BbId bb_span_links_id(const BbSpanLinks *links, guint32 index)
{
    guint32 partner = links->links[index].partner;
    bool receives = bb_span_kind_receives(links->spans[index].kind);
    return links->spans[receives && partner != NONE ? partner : index].id;
}

// Whether index is work that the message of up caused at its receiver. Where only its sender tells
// of the message, it is what its receiver did.
static bool is_reached_by(const BbSpanLinks *links, guint32 up, guint32 index)
{
    const BbSpan *span = &links->spans[up];
    if (bb_span_links_receives(links, up))
        return true;
    if (!bb_span_links_sends(links, up) || bb_span_links_receives(links, index))
        return false;
    return bb_span_links_apart(links, up, index) ||
           (links->links[up].partner == NONE && span->peer != BB_NAME_NONE &&
            span->peer == span->service);
}

// What the step from a span to the one above it says; FRESH to go on from there.
static guint32 cause_above(const BbSpanLinks *links, guint32 index)
{
    guint32 up = links->links[index].above;
    if (!is_span(up))
        return up;
    if (!is_reached_by(links, up, index))
        return FRESH;
    return bb_span_links_is_usable(links, bb_span_links_event(links, up)) ? up : NONE;
}

guint32 bb_span_links_cause(BbSpanLinks *links, guint32 index)
{
    guint32 end = index, cause = FRESH;
    while (cause == FRESH) {
        cause = links->links[end].cause;
        if (cause == FRESH)
            cause = cause_above(links, end);
        if (cause == FRESH)
            end = links->links[end].above;
    }
    for (guint32 at = index; at != end; at = links->links[at].above)
        links->links[at].cause = cause;
    links->links[end].cause = cause;
    return cause;
}
