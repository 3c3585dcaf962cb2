// SPDX-License-Identifier: Apache-2.0
// In: frames. Out: the packets in them, each once.
#include "capture/intake.h"

#include "capture/echo.h"
#include "capture/follow.h"
#include "capture/layers/layer.h"
#include "capture/servers.h"

#define FRAGMENT_BYTES (16u * 1024u * 1024u)

struct BbIntake {
    BbLoss *loss;
    BbLayers *layers;
    BbTranslations *translations;
    BbEchoes *echoes;
    BbServers *servers;
    BbFollow *follow; // or NULL
    bool by_vlan, by_vni;
};

BbIntake *bb_intake_new(const BbCaptureOptions *options, BbLoss *loss)
{
    BbIntake *intake = g_new0(BbIntake, 1);
    intake->loss = loss;
    intake->layers = bb_layers_new(loss, FRAGMENT_BYTES);
    bb_layers_name_tunnels(intake->layers, options->tunnels, options->n_tunnels);
    intake->translations = bb_translations_new(options->translation, loss);
    intake->echoes = bb_echoes_new();
    intake->servers = bb_servers_new(loss);
    intake->by_vlan = options->by_vlan;
    intake->by_vni = options->by_vni;
    intake->follow = options->follow;
    return intake;
}

void bb_intake_free(BbIntake *intake)
{
    if (!intake)
        return;
    bb_layers_free(intake->layers);
    bb_translations_free(intake->translations);
    bb_echoes_free(intake->echoes);
    bb_servers_free(intake->servers);
    g_free(intake);
}

bool bb_intake_frame(BbIntake *intake, const BbFrame *frame, BbPacket *packet)
{
    intake->loss->count[BB_SEEN_FRAMES]++;
    intake->loss->count[BB_SEEN_BYTES] += frame->length;
    if (!bb_layers_decode(intake->layers, frame, packet))
        return false;
    if (!intake->by_vlan)
        packet->vlan = 0;
    packet->has_vni &= intake->by_vni;
    return true;
}

// Whether it is followed goes by addresses as they are on the wire, as the kernel's filter does.
// What comes after the sides of a NAT sees one connection for all of them: with the addresses of
// its last leg, and `hidden` where these do not tell who its client is.
bool bb_intake_is_new(BbIntake *intake, BbPacket *packet)
{
    if (intake->follow && !bb_follow_take(intake->follow, packet))
        return false;
    bool taken = bb_translations_check(intake->translations, packet);
    packet->options = NULL; // lent for so long only
    packet->options_size = 0;
    if (!taken)
        return false;
    packet->servers = bb_servers_learn(intake->servers, packet);
    if (packet->translated == BB_TRANSLATED_TWIN || !bb_echoes_check(intake->echoes, packet))
        return true;
    bool is_tcp = packet->transport == BB_TRANSPORT_TCP;
    intake->loss->count[is_tcp ? BB_TCP_ECHOED : BB_DATAGRAM_ECHOED]++;
    return false;
}

const BbTranslations *bb_intake_translations(const BbIntake *intake)
{
    return intake->translations;
}

BbServers *bb_intake_servers(BbIntake *intake)
{
    return intake->servers;
}

void bb_intake_finish(BbIntake *intake)
{
    bb_layers_finish(intake->layers);
}
