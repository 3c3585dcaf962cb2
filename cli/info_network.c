// SPDX-License-Identifier: Apache-2.0
// In: what TCP told of the network. Out: a table for people: is it the server, or the way to it?
#include "cli/info_network.h"

#include "data/caption.h"

#include <stdio.h>
#include <string.h>

#define NAME_COLUMNS 40

static gint by_packets(gconstpointer a, gconstpointer b, gpointer user)
{
    const BbNetworkEdge *x = *(const BbNetworkEdge *const *)a;
    const BbNetworkEdge *y = *(const BbNetworkEdge *const *)b;
    const BbNames *names = user;
    if (x->packets != y->packets)
        return x->packets > y->packets ? -1 : 1;
    int order = strcmp(bb_names_text(names, x->client), bb_names_text(names, y->client));
    return order ? order : strcmp(bb_names_text(names, x->server), bb_names_text(names, y->server));
}

// "0.21/1.30": mean and longest in ms; "-" where no handshake was seen.
static char *trip_text(const BbRoundTrip *trip)
{
    if (!trip->count)
        return g_strdup("-");
    return g_strdup_printf("%.2f/%.2f", (double)trip->sum_ns / (double)trip->count / 1e6,
                           (double)trip->most_ns / 1e6);
}

static void print_edge(const BbNetworkEdge *edge, const BbNames *names)
{
    g_autoptr(GString) name = g_string_new(NULL);
    bb_caption_append(name, bb_names_text(names, edge->client), "-");
    g_string_append(name, " -> ");
    bb_caption_append(name, bb_names_text(names, edge->server), "-");
    bb_caption_pad(name, NAME_COLUMNS);
    g_autofree char *server = trip_text(&edge->to_server), *client = trip_text(&edge->to_client);
    double again = edge->packets ? 100.0 * (double)edge->retransmitted / (double)edge->packets : 0;
    printf("%s %9" G_GUINT64_FORMAT " %14s %14s %7.2f %7" G_GUINT64_FORMAT " %7" G_GUINT64_FORMAT
           " %7" G_GUINT64_FORMAT " %7" G_GUINT64_FORMAT "\n",
           name->str, edge->connections, server, client, again, edge->reordered, edge->zero_windows,
           edge->resets, bb_network_unopened(edge));
}

void bb_info_print_network(const BbNetwork *network, const BbNames *names, guint most)
{
    guint count = bb_network_count(network);
    if (count == 0)
        return;
    g_autoptr(GPtrArray) rows = g_ptr_array_new();
    for (guint i = 0; i < count; i++)
        g_ptr_array_add(rows, (gpointer)bb_network_at(network, i));
    g_ptr_array_sort_with_data(rows, by_packets, (gpointer)names);
    printf("\n%-*s %9s %14s %14s %7s %7s %7s %7s %7s\n", NAME_COLUMNS, "network (TCP)", "connec-",
           "to server", "to client", "again", "out of", "full", "reset", "not");
    printf("%-*s %9s %14s %14s %7s %7s %7s %7s %7s\n", NAME_COLUMNS, "client -> server", "tions",
           "mean/most ms", "mean/most ms", "%", "order", "", "", "opened");
    for (guint i = 0; i < MIN(most, count); i++)
        print_edge(rows->pdata[i], names);
    if (count > most)
        printf("(%u more: --all)\n", count - most);
}
