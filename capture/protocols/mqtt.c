// SPDX-License-Identifier: Apache-2.0
// In: the bytes of an MQTT connection (OASIS MQTT 3.1.1 and 5.0, also 3.1). Out: calls with their
// acknowledgements by packet identifier, in both directions; messages of QoS 0 are free.
#include "capture/protocols/framing.h"
#include "capture/protocols/label.h"
#include "capture/protocols/meaning.h"
#include "capture/protocols/mqtt_packet.h"

#define ALIASES 16u // topic aliases (MQTT 5, section 3.3.2.3.4) remembered for each direction

typedef struct Mqtt {
    BbFrames frames;
    BbMeaning meaning[2];
    guint32 alias[2][ALIASES]; // labels
    guint32 ok;
    guint8 version; // 3 to 5; 0: the beginning was not seen
} Mqtt;

// Acknowledgements that end a call, by type; its type takes the place of the key's upper half.
static const guint8 answered[] = {
    [BB_MQTT_CONNACK] = BB_MQTT_CONNECT,  [BB_MQTT_PUBACK] = BB_MQTT_PUBLISH,
    [BB_MQTT_PUBREC] = BB_MQTT_PUBLISH,   [BB_MQTT_PUBCOMP] = BB_MQTT_PUBREL,
    [BB_MQTT_SUBACK] = BB_MQTT_SUBSCRIBE, [BB_MQTT_UNSUBACK] = BB_MQTT_UNSUBSCRIBE,
    [BB_MQTT_PINGRESP] = BB_MQTT_PINGREQ, [BB_MQTT_AUTH] = 0,
};

static const char *const verbs[] = {
    [BB_MQTT_CONNECT] = "CONNECT",         [BB_MQTT_PUBLISH] = "PUBLISH",
    [BB_MQTT_PUBREL] = "PUBREL",           [BB_MQTT_SUBSCRIBE] = "SUBSCRIBE",
    [BB_MQTT_UNSUBSCRIBE] = "UNSUBSCRIBE", [BB_MQTT_PINGREQ] = "PINGREQ",
    [BB_MQTT_DISCONNECT] = "DISCONNECT",   [BB_MQTT_AUTH] = "AUTH",
};

static guint64 key_of(guint8 type, guint16 id)
{
    return (guint64)type << 16 | id;
}

static bool is_open(BbDialog *dialog, BbDirection caller, guint64 key)
{
    BbPart answer = {.direction = bb_direction_other(caller)};
    return bb_dialog_find(dialog, &answer, key) != NULL;
}

// ---- labels and states --------------------------------------------------------------------------

static guint32 label_of(BbDialog *dialog, const BbMqttPacket *packet)
{
    char text[BB_LABEL_MAX + 1];
    const guint8 *topic = packet->topic_length ? packet->topic : (const guint8 *)"?";
    gsize length = packet->has_topic ? MAX(packet->topic_length, 1) : 0;
    return bb_dialog_label(dialog, text,
                           bb_label_topic(text, verbs[packet->type], topic, length, "/"));
}

// A publication may name its topic by a number, once it has given it one.
static guint32 publish_label(BbDialog *dialog, Mqtt *mqtt, BbDirection direction,
                             const BbMqttPacket *packet)
{
    bool known = packet->alias > 0 && packet->alias <= ALIASES;
    guint32 *alias = known ? &mqtt->alias[direction][packet->alias - 1] : NULL;
    if (packet->topic_length == 0 && alias && *alias)
        return *alias;
    guint32 label = label_of(dialog, packet);
    if (alias && packet->topic_length)
        *alias = label;
    return label;
}

static guint32 status_of(BbDialog *dialog, Mqtt *mqtt, guint8 code, guint8 least)
{
    char text[4];
    if (code >= least)
        return bb_dialog_status(dialog, text,
                                (gsize)g_snprintf(text, sizeof text, "%u", (guint)code));
    if (!mqtt->ok)
        mqtt->ok = bb_dialog_status(dialog, "ok", 2);
    return mqtt->ok;
}

// ---- what packets mean --------------------------------------------------------------------------

static BbMeaning call_meaning(BbDialog *dialog, BbDirection direction, const BbMqttPacket *packet,
                              guint32 op)
{
    guint64 key = key_of(packet->type, packet->id);
    if (packet->id && packet->duplicate && is_open(dialog, direction, key)) {
        bb_dialog_repeated(dialog);
        return (BbMeaning){0};
    }
    return (BbMeaning){.means = BB_MEANS_CALL,
                       .use = packet->id ? BB_KEY_REUSED : BB_KEY_QUEUED,
                       .op = op,
                       .key = key};
}

static BbMeaning publish_meaning(BbDialog *dialog, Mqtt *mqtt, BbDirection direction,
                                 const BbMqttPacket *packet)
{
    guint32 op = publish_label(dialog, mqtt, direction, packet);
    if (!packet->qos)
        return (BbMeaning){.means = BB_MEANS_FREE, .op = op};
    return call_meaning(dialog, direction, packet, op);
}

static BbMeaning meaning_of(BbDialog *dialog, Mqtt *mqtt, BbDirection direction,
                            const BbMqttPacket *packet)
{
    bool first = packet->type == BB_MQTT_CONNACK; // its codes begin with 1
    switch (packet->type) {
    case BB_MQTT_PUBLISH:
        return publish_meaning(dialog, mqtt, direction, packet);
    case BB_MQTT_CONNECT:
    case BB_MQTT_PINGREQ:
    case BB_MQTT_SUBSCRIBE:
    case BB_MQTT_UNSUBSCRIBE:
    case BB_MQTT_PUBREL:
        return call_meaning(dialog, direction, packet, label_of(dialog, packet));
    case BB_MQTT_DISCONNECT:
    case BB_MQTT_AUTH:
        return (BbMeaning){.means = BB_MEANS_FREE, .op = label_of(dialog, packet)};
    default:
        return (BbMeaning){.means = BB_MEANS_RETURN,
                           .status = status_of(dialog, mqtt, packet->code, first ? 1 : 128),
                           .key = key_of(answered[packet->type], packet->id)};
    }
}

// ---- frames -------------------------------------------------------------------------------------

static BbFrameVerdict measure(const void *state, BbDirection direction, const guint8 *data,
                              gsize length, BbFrameSize *frame)
{
    const Mqtt *mqtt = state;
    return bb_mqtt_measure(data, length, direction, mqtt->version, frame);
}

static void begin(BbDialog *dialog, void *state, const guint8 *data, gsize seen, const BbPart *part)
{
    Mqtt *mqtt = state;
    BbMeaning *meaning = &mqtt->meaning[part->direction];
    BbMqttPacket packet;
    *meaning = (BbMeaning){0};
    if (!bb_mqtt_read(data, seen, mqtt->version, &packet))
        return;
    if (packet.type == BB_MQTT_CONNECT)
        mqtt->version = packet.version;
    *meaning = meaning_of(dialog, mqtt, part->direction, &packet);
    bb_meaning_begin(meaning, dialog, part);
}

static void end(BbDialog *dialog, void *state, const BbPart *part)
{
    Mqtt *mqtt = state;
    bb_meaning_end(&mqtt->meaning[part->direction], dialog, part);
}

// Acknowledgements are short: that they answer an open call is what tells them from other bytes.
static BbMatch find(BbDialog *dialog, const void *state, const BbView *view, gsize at)
{
    const Mqtt *mqtt = state;
    const guint8 *data = view->data + at;
    gsize length = view->length - at;
    BbMqttPacket packet;
    BbMatch match = bb_mqtt_probe(data, length);
    BbFrameSize frame;
    if (match < BB_MATCH_MAYBE)
        return match;
    if (bb_mqtt_measure(data, length, view->direction, mqtt->version, &frame) != BB_FRAME_OK ||
        !bb_mqtt_read(data, length, mqtt->version, &packet))
        return BB_MATCH_NO;
    guint8 request = packet.type < G_N_ELEMENTS(answered) ? answered[packet.type] : 0;
    BbDirection caller = bb_direction_other(view->direction);
    bool good = !request || is_open(dialog, caller, key_of(request, packet.id));
    return good ? BB_MATCH_LIKELY : BB_MATCH_NO;
}

static const BbFraming framing = {
    .measure = measure,
    .probe = bb_mqtt_probe,
    .find = find,
    .begin = begin,
    .end = end,
    .anywhere = true,
};

const BbDecoder bb_decoder_mqtt = {
    .name = "mqtt",
    .about = "MQTT 3.1, 3.1.1 and 5: by packet identifier",
    .tcp = true,
    .ports = {1883},
    .state_size = sizeof(Mqtt),
    .framing = &framing,
    .probe = bb_mqtt_probe,
    .parse = bb_frames_parse,
    .gap = bb_frames_gap,
    .finish = bb_frames_finish,
};
