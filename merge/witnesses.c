// SPDX-License-Identifier: Apache-2.0
// In: what each observer saw of edges, and when. Out: each packet once, as well as can be known.
#include "merge/witnesses.h"

#include "data/call.h"

typedef struct {
    BbNetwork *network;
    gint64 from_ns, to_ns;
} Witness;

struct BbWitnesses {
    GArray *all;        // of Witness, in the order in which they were first heard
    GHashTable *places; // observer -> 1 + place in it
};

static void witness_clear(gpointer data)
{
    bb_network_free(((Witness *)data)->network);
}

BbWitnesses *bb_witnesses_new(void)
{
    BbWitnesses *witnesses = g_new(BbWitnesses, 1);
    witnesses->all = g_array_new(FALSE, FALSE, sizeof(Witness));
    g_array_set_clear_func(witnesses->all, witness_clear);
    witnesses->places = g_hash_table_new(NULL, NULL);
    return witnesses;
}

void bb_witnesses_free(BbWitnesses *witnesses)
{
    if (!witnesses)
        return;
    g_array_unref(witnesses->all);
    g_hash_table_unref(witnesses->places);
    g_free(witnesses);
}

static Witness *witness_at(const BbWitnesses *witnesses, guint place)
{
    return &g_array_index(witnesses->all, Witness, place);
}

static Witness *witness_of(BbWitnesses *witnesses, guint32 observer)
{
    gpointer key = GUINT_TO_POINTER(observer);
    guint place = GPOINTER_TO_UINT(g_hash_table_lookup(witnesses->places, key));
    if (place > 0)
        return witness_at(witnesses, place - 1);
    const Witness new = {bb_network_new(), G_MAXINT64, G_MININT64};
    g_array_append_val(witnesses->all, new);
    g_hash_table_insert(witnesses->places, key, GUINT_TO_POINTER(witnesses->all->len));
    return witness_at(witnesses, witnesses->all->len - 1);
}

void bb_witnesses_watched(BbWitnesses *witnesses, guint32 observer, gint64 from_ns, gint64 to_ns)
{
    Witness *witness = witness_of(witnesses, observer);
    witness->from_ns = MIN(witness->from_ns, from_ns);
    witness->to_ns = MAX(witness->to_ns, to_ns);
}

void bb_witnesses_saw(BbWitnesses *witnesses, guint32 observer, const BbNetworkEdge *edge)
{
    bb_network_add(witness_of(witnesses, observer)->network, edge);
}

// ---- whom to believe ---------------------------------------------------------------------------

typedef struct {
    const Witness *witness;
    const BbNetworkEdge *edge;
} Word;

// Who saw most first; of equals, who was heard first.
static gint by_packets(gconstpointer a, gconstpointer b)
{
    const Word *x = a, *y = b;
    return (x->edge->packets < y->edge->packets) - (x->edge->packets > y->edge->packets);
}

// Whether the shorter of the two watched for half of its time and more when the other one did, or
// nobody knows when.
static bool saw_the_same(const Witness *a, const Witness *b)
{
    gint64 a_ns = bb_time_between(a->from_ns, a->to_ns),
           b_ns = bb_time_between(b->from_ns, b->to_ns);
    gint64 both_ns = bb_time_between(MAX(a->from_ns, b->from_ns), MIN(a->to_ns, b->to_ns));
    return a_ns < 0 || b_ns < 0 || (both_ns >= 0 && both_ns >= MIN(a_ns, b_ns) / 2);
}

static void tell_edge(const BbWitnesses *witnesses, const BbNetworkEdge *told, BbNetwork *network)
{
    g_autoptr(GArray) words = g_array_new(FALSE, FALSE, sizeof(Word));
    for (guint i = 0; i < witnesses->all->len; i++) {
        const Witness *witness = witness_at(witnesses, i);
        Word word = {witness, bb_network_find(witness->network, told->client, told->server)};
        if (word.edge)
            g_array_append_val(words, word);
    }
    g_array_sort(words, by_packets);
    guint believed = 0; // they stand first
    for (guint i = 0; i < words->len; i++) {
        const Word word = g_array_index(words, Word, i);
        bool is_new = true;
        for (guint k = 0; k < believed && is_new; k++)
            is_new = !saw_the_same(word.witness, g_array_index(words, Word, k).witness);
        if (!is_new)
            continue;
        BbNetworkEdge edge = *word.edge;
        if (believed > 0) // a round trip is one from where it was seen
            edge.to_server = edge.to_client = (BbRoundTrip){0};
        bb_network_add(network, &edge);
        g_array_index(words, Word, believed++) = word;
    }
}

void bb_witnesses_tell(const BbWitnesses *witnesses, BbNetwork *network)
{
    g_autoptr(BbNetwork) all = bb_network_new();
    for (guint i = 0; i < witnesses->all->len; i++) {
        const BbNetwork *told = witness_at(witnesses, i)->network;
        for (guint k = 0; k < bb_network_count(told); k++) {
            const BbNetworkEdge *edge = bb_network_at(told, k);
            if (bb_network_find(all, edge->client, edge->server))
                continue;
            bb_network_add(all, edge);
            tell_edge(witnesses, edge, network);
        }
    }
}
