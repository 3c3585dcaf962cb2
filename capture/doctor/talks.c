// SPDX-License-Identifier: Apache-2.0
// In: packets. Out: the conversations they belong to.
#include "capture/doctor/talks.h"

#include "data/keys.h"

struct BbTalks {
    GHashTable *by_key;
    GPtrArray *talks; // owned
    guint64 unwatched;
};

// Ends in a fixed order, so that both directions are one.
typedef struct Key {
    BbAddress address[2];
    guint16 port[2];
    guint32 transport;
} Key;

static Key key_of(const BbPacket *packet)
{
    int order = memcmp(packet->source.bytes, packet->target.bytes, sizeof packet->source.bytes);
    bool swap = order > 0 || (order == 0 && packet->source_port > packet->target_port);
    Key key;
    memset(&key, 0, sizeof key); // it is compared as bytes
    key.address[swap] = packet->source;
    key.address[!swap] = packet->target;
    key.port[swap] = packet->source_port;
    key.port[!swap] = packet->target_port;
    key.transport = packet->transport;
    return key;
}

static guint hash_key(gconstpointer of)
{
    return bb_keys_bytes(of, sizeof(Key));
}

static gboolean equal_keys(gconstpointer a, gconstpointer b)
{
    return memcmp(a, b, sizeof(Key)) == 0;
}

BbTalks *bb_talks_new(void)
{
    BbTalks *talks = g_new0(BbTalks, 1);
    talks->by_key = g_hash_table_new_full(hash_key, equal_keys, g_free, NULL);
    talks->talks = g_ptr_array_new_with_free_func(g_free);
    return talks;
}

void bb_talks_free(BbTalks *talks)
{
    if (!talks)
        return;
    g_hash_table_unref(talks->by_key);
    g_ptr_array_unref(talks->talks);
    g_free(talks);
}

static BbTalk *add(BbTalks *talks, const BbPacket *packet, const Key *key)
{
    BbTalk *talk = g_new0(BbTalk, 1);
    *talk = (BbTalk){
        .address = {packet->source, packet->target},
        .port = {packet->source_port, packet->target_port},
        .transport = packet->transport,
        .server = packet->target_port < packet->source_port,
    };
    g_hash_table_insert(talks->by_key, g_memdup2(key, sizeof *key), talk);
    g_ptr_array_add(talks->talks, talk);
    return talk;
}

static bool is_side(const BbTalk *talk, guint side, const BbPacket *packet)
{
    return talk->port[side] == packet->source_port && talk->port[!side] == packet->target_port &&
           bb_address_equal(&talk->address[side], &packet->source);
}

static void note_tcp(BbTalk *talk, guint side, const BbPacket *packet)
{
    BbTalkSide *own = &talk->side[side];
    bool syn = packet->tcp_flags & BB_TCP_SYN, fin = packet->tcp_flags & BB_TCP_FIN;
    bool ack = packet->tcp_flags & BB_TCP_ACK;
    if (packet->tcp_flags & BB_TCP_RST) // its numbers may be anything (RFC 9293, 3.10.7.1)
        return;
    if (syn && !talk->server_known) {
        talk->server = ack ? side : !side;
        talk->server_known = true;
    }
    own->acks += ack && (!syn || own->acks == 0);
    if (syn)
        bb_holes_syn(&own->holes, packet->seq);
    bb_holes_data(&own->holes, packet->seq, packet->length + syn + fin);
    if (ack)
        bb_holes_ack(&talk->side[!side].holes, packet->ack);
}

BbTalk *bb_talks_push(BbTalks *talks, const BbPacket *packet, guint *side)
{
    Key key = key_of(packet);
    BbTalk *talk = g_hash_table_lookup(talks->by_key, &key);
    if (!talk && talks->talks->len >= BB_TALKS) {
        talks->unwatched++;
        return NULL;
    }
    if (!talk)
        talk = add(talks, packet, &key);
    *side = is_side(talk, 0, packet) ? 0 : 1;
    talk->side[*side].packets++;
    if (packet->transport == BB_TRANSPORT_TCP)
        note_tcp(talk, *side, packet);
    return talk;
}

void bb_talks_finish(BbTalks *talks)
{
    for (guint i = 0; i < talks->talks->len; i++)
        for (guint side = 0; side < 2; side++)
            bb_holes_settle(&bb_talks_at(talks, i)->side[side].holes);
}

guint bb_talks_count(const BbTalks *talks)
{
    return talks->talks->len;
}

BbTalk *bb_talks_at(const BbTalks *talks, guint index)
{
    return g_ptr_array_index(talks->talks, index);
}

guint64 bb_talks_unwatched(const BbTalks *talks)
{
    return talks->unwatched;
}

char *bb_talk_edge(const BbTalk *talk)
{
    char client[BB_ADDRESS_TEXT], server[BB_ADDRESS_TEXT];
    bb_address_format(&talk->address[!talk->server], client);
    bb_address_format_port(&talk->address[talk->server], talk->port[talk->server], server);
    return g_strdup_printf("%s -> %s", client, server);
}
