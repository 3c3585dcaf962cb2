// SPDX-License-Identifier: Apache-2.0
// In: facts on the network between two nodes. Out: a line for people.
#include "viz/network_note.h"

#include "data/quantity.h"

#define TROUBLE 0.01

static double share(guint64 part, guint64 whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static guint64 failed(const BbNetworkEdge *edge)
{
    return edge->resets + bb_network_unopened(edge);
}

static void append_handshake(GString *out, const BbNetworkEdge *edge)
{
    guint64 count = MIN(edge->to_server.count, edge->to_client.count);
    if (count == 0)
        return;
    guint64 sum_ns = edge->to_server.sum_ns / edge->to_server.count +
                     edge->to_client.sum_ns / edge->to_client.count;
    g_string_append(out, "handshake ");
    bb_quantity_append_duration(out, (gint64)MIN(sum_ns, G_MAXINT64));
    g_string_append(out, ", ");
}

void bb_network_note_append(GString *out, const BbNetwork *network, guint32 client, guint32 server)
{
    const BbNetworkEdge *edge = network ? bb_network_find(network, client, server) : NULL;
    if (!edge)
        return;
    g_string_append(out, "\nnetwork: ");
    append_handshake(out, edge);
    bb_quantity_append_share(out, share(edge->retransmitted, edge->packets));
    g_string_append(out, " sent again, ");
    bb_quantity_append_counted(out, edge->zero_windows, "full window");
    g_string_append(out, ", ");
    bb_quantity_append_counted(out, edge->connections, "connection");
    if (failed(edge)) {
        g_string_append(out, ", of them reset or not opened ");
        bb_quantity_append_count(out, failed(edge));
    }
}

// "not opened: 40 % of 5 connections", where that is trouble.
static void append_share_of(GString *out, const char *what, guint64 part, guint64 whole,
                            const char *noun)
{
    if (share(part, whole) < TROUBLE)
        return;
    g_string_append_printf(out, "\n%s: ", what);
    bb_quantity_append_share(out, share(part, whole));
    g_string_append(out, " of ");
    bb_quantity_append_counted(out, whole, noun);
}

void bb_network_note_append_trouble(GString *out, const BbNetwork *network, guint32 client,
                                    guint32 server)
{
    const BbNetworkEdge *edge = network ? bb_network_find(network, client, server) : NULL;
    if (!edge)
        return;
    append_share_of(out, "sent again", edge->retransmitted, edge->packets, "packet");
    append_share_of(out, "reset", edge->resets, edge->connections, "connection");
    append_share_of(out, "not opened", bb_network_unopened(edge), edge->connections, "connection");
    if (edge->zero_windows) {
        g_string_append_c(out, '\n');
        bb_quantity_append_counted(out, edge->zero_windows, "full window");
    }
}
