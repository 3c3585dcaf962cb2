// SPDX-License-Identifier: Apache-2.0
// In: frames. Out: findings. Layers, then the capture and the examinations side by side.
#include "capture/doctor.h"

#include "capture/capture.h"
#include "capture/cursor.h"
#include "capture/doctor/examination.h"
#include "capture/layers/layer.h"

#define FRAGMENT_BYTES (16u * 1024u * 1024u)
#define LINK_ETHERNET 1
#define LINK_COOKED 113
#define LINK_COOKED2 276
#define COOKED_TO_ONE 0 // packet types of LINKTYPE_LINUX_SLL; 1 is broadcast, 2 multicast
#define COOKED_TO_MANY 2

struct BbDoctor {
    BbLoss loss;
    BbNames *names;
    BbNodes *nodes;
    BbLayers *layers;
    BbCapture *capture;
    BbTalks *talks;
    gpointer state[BB_EXAMINATIONS_MAX];
    GArray *findings;
    gint64 first_ns, last_ns;
    bool live;
};

static bool drop_message(const BbMessage *message, gpointer user, GError **error)
{
    return true;
}

BbDoctor *bb_doctor_new(bool live)
{
    BbDoctor *doctor = g_new0(BbDoctor, 1);
    BbCaptureOptions options = bb_capture_options_default();
    doctor->live = live;
    doctor->names = bb_names_new();
    doctor->nodes = bb_nodes_new(doctor->names, false);
    doctor->layers = bb_layers_new(&doctor->loss, FRAGMENT_BYTES);
    doctor->capture =
        bb_capture_new(&options, doctor->names, doctor->nodes, &doctor->loss, drop_message, NULL);
    doctor->talks = bb_talks_new();
    doctor->findings = bb_findings_new();
    for (guint i = 0; bb_examinations[i]; i++)
        doctor->state[i] = g_malloc0(bb_examinations[i]->state_size);
    return doctor;
}

void bb_doctor_free(BbDoctor *doctor)
{
    if (!doctor)
        return;
    for (guint i = 0; bb_examinations[i]; i++)
        g_free(doctor->state[i]);
    g_array_unref(doctor->findings);
    bb_talks_free(doctor->talks);
    bb_capture_free(doctor->capture);
    bb_layers_free(doctor->layers);
    bb_nodes_free(doctor->nodes);
    bb_names_free(doctor->names);
    g_free(doctor);
}

BbLoss *bb_doctor_loss(BbDoctor *doctor)
{
    return &doctor->loss;
}

// ---- frames -------------------------------------------------------------------------------------

static bool is_to_many(const BbAddress *address)
{
    if (!bb_address_is_v4(address))
        return address->bytes[0] == 0xff;
    static const guint8 all[4] = {255, 255, 255, 255};
    return (address->bytes[12] & 0xf0) == 0xe0 || memcmp(address->bytes + 12, all, 4) == 0;
}

// By the link's word where it has one (of the outermost frame), else by the address of the packet.
static bool frame_is_to_many(const BbFrame *frame, const BbPacket *packet)
{
    BbCursor c = bb_cursor(frame->data, frame->captured);
    guint16 cooked;
    switch (frame->link_type) {
    case LINK_ETHERNET:
        return bb_cursor_u8(&c) & 1;
    case LINK_COOKED:
        cooked = bb_cursor_be16(&c);
        return cooked > COOKED_TO_ONE && cooked <= COOKED_TO_MANY;
    case LINK_COOKED2:
        bb_cursor_skip(&c, 10);
        cooked = bb_cursor_u8(&c);
        return cooked > COOKED_TO_ONE && cooked <= COOKED_TO_MANY;
    default:
        return packet && is_to_many(&packet->target);
    }
}

// Gives the packet to the capture. Returns whether it was seen a moment ago.
static bool capture_packet(BbDoctor *doctor, const BbPacket *packet)
{
    const guint64 *count = doctor->loss.count;
    guint64 echoes = count[BB_TCP_ECHOED] + count[BB_DATAGRAM_ECHOED];
    BbPacket plain = *packet;
    plain.vlan = 0; // as in a capture that was not told otherwise
    plain.has_vni = false;
    (void)bb_capture_packet(doctor->capture, &plain, NULL); // the sink does not fail
    return count[BB_TCP_ECHOED] + count[BB_DATAGRAM_ECHOED] > echoes;
}

static void note_talk(BbSight *sight)
{
    BbTalkSide *side = &sight->talk->side[sight->side];
    side->tunnelled += sight->tunnels > 0;
    side->tagged += sight->packet->vlan != 0;
    side->vlan = sight->packet->vlan ? sight->packet->vlan : side->vlan;
}

static void note_time(BbDoctor *doctor, gint64 time_ns)
{
    bool first = doctor->loss.count[BB_SEEN_FRAMES] == 0;
    doctor->first_ns = first ? time_ns : MIN(doctor->first_ns, time_ns);
    doctor->last_ns = first ? time_ns : MAX(doctor->last_ns, time_ns);
}

void bb_doctor_frame(BbDoctor *doctor, const BbFrame *frame)
{
    BbLoss *loss = &doctor->loss;
    BbPacket packet;
    BbHeaders headers;
    BbSight sight = {.frame = frame};
    note_time(doctor, frame->time_ns);
    guint64 tunnels = loss->count[BB_TUNNELLED];
    loss->count[BB_SEEN_FRAMES]++;
    loss->count[BB_SEEN_BYTES] += frame->length;
    if (bb_layers_decode(doctor->layers, frame, &packet)) {
        sight.packet = &packet;
        sight.headers = bb_headers_find(frame, &packet, &headers) ? &headers : NULL;
        sight.tunnels = loss->count[BB_TUNNELLED] - tunnels;
        sight.echoed = capture_packet(doctor, &packet);
        if (!sight.echoed)
            sight.talk = bb_talks_push(doctor->talks, &packet, &sight.side);
    }
    sight.to_many = frame_is_to_many(frame, sight.packet);
    if (sight.talk)
        note_talk(&sight);
    for (guint i = 0; bb_examinations[i]; i++)
        if (bb_examinations[i]->look)
            bb_examinations[i]->look(doctor->state[i], &sight);
}

// ---- the end ------------------------------------------------------------------------------------

// Worst first; what is alike keeps the order of the table.
static void sort_findings(GArray *findings)
{
    g_autofree BbDoctorFinding *all =
        g_memdup2(findings->data, findings->len * sizeof(BbDoctorFinding));
    guint to = 0;
    for (guint severity = BB_FINDING_SICK + 1; severity-- > BB_FINDING_NOTE;)
        for (guint i = 0; i < findings->len; i++)
            if (all[i].severity == severity)
                g_array_index(findings, BbDoctorFinding, to++) = all[i];
}

const GArray *bb_doctor_finish(BbDoctor *doctor)
{
    BbDoctorView view = {&doctor->loss, doctor->talks, doctor->live};
    (void)bb_capture_finish(doctor->capture, NULL); // likewise
    bb_layers_finish(doctor->layers);
    bb_talks_finish(doctor->talks);
    for (guint i = 0; bb_examinations[i]; i++)
        bb_examinations[i]->judge(doctor->state[i], &view, doctor->findings);
    sort_findings(doctor->findings);
    return doctor->findings;
}

BbVerdict bb_doctor_verdict(const BbDoctor *doctor)
{
    static const BbVerdict verdicts[] = {
        [BB_FINDING_NOTE] = BB_VERDICT_HEALTHY,
        [BB_FINDING_WARNING] = BB_VERDICT_USABLE,
        [BB_FINDING_SICK] = BB_VERDICT_SICK,
    };
    bool any = doctor->findings->len > 0;
    return any ? verdicts[g_array_index(doctor->findings, BbDoctorFinding, 0).severity]
               : BB_VERDICT_HEALTHY;
}

const char *bb_verdict_name(BbVerdict verdict)
{
    static const char *const names[] = {"healthy", "usable", "sick"};
    return names[verdict];
}

BbDoctorSummary bb_doctor_summary(const BbDoctor *doctor)
{
    const guint64 *count = doctor->loss.count;
    BbDoctorSummary summary = {
        .frames = count[BB_SEEN_FRAMES],
        .bytes = count[BB_SEEN_BYTES],
        .first_ns = doctor->first_ns,
        .last_ns = doctor->last_ns,
        .tcp = count[BB_SEEN_TCP],
        .udp = count[BB_SEEN_UDP],
        .talks = bb_talks_count(doctor->talks),
        .unwatched_packets = bb_talks_unwatched(doctor->talks),
        .calls = count[BB_CALLS],
        .returns = count[BB_RETURNS],
    };
    for (guint i = 0; i < summary.talks; i++) {
        const BbTalk *talk = bb_talks_at(doctor->talks, i);
        summary.both_ways += talk->side[0].packets && talk->side[1].packets;
    }
    return summary;
}
