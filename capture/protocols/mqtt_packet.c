// SPDX-License-Identifier: Apache-2.0
// In: bytes of an MQTT connection. Out: what one control packet says.
#include "capture/protocols/mqtt_packet.h"

#include "capture/cursor.h"

#define TOPIC_MAX 8192u     // longer topics are nobody's
#define PROPERTIES_SEEN 64u // of a PUBLISH: the alias of its topic is looked for among them
#define FRONT 512u          // of packets with a list of topics or reasons
#define CHAIN 8u            // packets that a probe looks at
#define CUT_MAX 64u         // bytes of a body that it waits for
#define CERTAIN 20u         // bits found right that make it likely

typedef struct Head {
    guint8 type, flags;
    gsize size; // of the head itself
    gsize body;
} Head;

// Section 2.2.3: seven bits a byte, the lowest first.
static BbFrameVerdict read_length(BbCursor *c, gsize *value)
{
    *value = 0;
    for (guint shift = 0; shift < 28; shift += 7) {
        guint8 byte = bb_cursor_u8(c);
        if (!bb_cursor_ok(c))
            return BB_FRAME_MORE;
        *value |= (gsize)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return BB_FRAME_OK;
    }
    return BB_FRAME_BAD;
}

static bool flags_fit(const Head *head)
{
    switch (head->type) {
    case BB_MQTT_PUBLISH:
        return (head->flags >> 1 & 3) != 3;
    case BB_MQTT_PUBREL:
    case BB_MQTT_SUBSCRIBE:
    case BB_MQTT_UNSUBSCRIBE:
        return (head->flags & 7) == 2; // MQTT 3.1 had a DUP flag there
    case 0:
        return false;
    default:
        return head->flags == 0;
    }
}

static bool body_fits(const Head *head)
{
    switch (head->type) {
    case BB_MQTT_CONNECT:
        return head->body >= 12;
    case BB_MQTT_SUBSCRIBE:
        return head->body >= 6;
    case BB_MQTT_UNSUBSCRIBE:
        return head->body >= 5;
    case BB_MQTT_PUBLISH:
    case BB_MQTT_SUBACK:
        return head->body >= 3;
    case BB_MQTT_PINGREQ:
    case BB_MQTT_PINGRESP:
        return head->body == 0;
    case BB_MQTT_DISCONNECT:
    case BB_MQTT_AUTH:
        return true;
    default:
        return head->body >= 2;
    }
}

static BbFrameVerdict read_head(const guint8 *data, gsize length, Head *head)
{
    BbCursor c = bb_cursor(data, length);
    guint8 first = bb_cursor_u8(&c);
    *head = (Head){.type = first >> 4, .flags = first & 15};
    if (!length)
        return BB_FRAME_MORE;
    if (!flags_fit(head))
        return BB_FRAME_BAD;
    BbFrameVerdict verdict = read_length(&c, &head->body);
    head->size = length - c.left;
    return verdict == BB_FRAME_OK && !body_fits(head) ? BB_FRAME_BAD : verdict;
}

static bool may_say(BbDirection direction, guint8 type)
{
    switch (type) {
    case BB_MQTT_CONNECT:
    case BB_MQTT_SUBSCRIBE:
    case BB_MQTT_UNSUBSCRIBE:
    case BB_MQTT_PINGREQ:
        return direction == BB_TO_SERVER;
    case BB_MQTT_CONNACK:
    case BB_MQTT_SUBACK:
    case BB_MQTT_UNSUBACK:
    case BB_MQTT_PINGRESP:
        return direction == BB_TO_CLIENT;
    default:
        return true;
    }
}

// Of a PUBLISH what is to be seen: topic, identifier and, in version 5, some of the properties.
static BbFrameVerdict measure_publish(const Head *head, BbCursor c, guint8 version, gsize *wanted)
{
    bb_cursor_skip(&c, head->size);
    gsize topic = bb_cursor_be16(&c), id = head->flags >> 1 & 3 ? 2 : 0;
    if (!bb_cursor_ok(&c))
        return BB_FRAME_MORE;
    if (2 + topic + id > head->body || topic > TOPIC_MAX)
        return BB_FRAME_BAD;
    *wanted = head->size + 2 + topic + id + (version == 5 ? PROPERTIES_SEEN : 0);
    return BB_FRAME_OK;
}

BbFrameVerdict bb_mqtt_measure(const guint8 *data, gsize length, BbDirection direction,
                               guint8 version, BbFrameSize *frame)
{
    Head head;
    BbFrameVerdict verdict = read_head(data, length, &head);
    if (verdict != BB_FRAME_OK)
        return verdict;
    frame->length = head.size + head.body;
    frame->wanted = FRONT;
    if (head.type == BB_MQTT_PUBLISH)
        verdict = measure_publish(&head, bb_cursor(data, length), version, &frame->wanted);
    return may_say(direction, head.type) ? verdict : BB_FRAME_BAD;
}

// ---- bodies -------------------------------------------------------------------------------------

static BbCursor take_properties(BbCursor *c)
{
    gsize length;
    if (read_length(c, &length) != BB_FRAME_OK)
        c->broken = true;
    length = MIN(length, c->left);
    const guint8 *at = bb_cursor_take(c, length);
    return bb_cursor(at, at ? length : 0);
}

// Section 2.2.2: identifiers of properties and what their values are made of.
static bool skip_property(BbCursor *c, guint8 id)
{
    static const guint8 sizes[] = {
        [0x01] = 1, [0x02] = 4, [0x11] = 4, [0x13] = 2, [0x17] = 1,
        [0x18] = 4, [0x19] = 1, [0x21] = 2, [0x22] = 2, [0x24] = 1,
        [0x25] = 1, [0x27] = 4, [0x28] = 1, [0x29] = 1, [0x2a] = 1,
    };
    gsize number;
    if (id == 0x0b)
        return read_length(c, &number) == BB_FRAME_OK;
    if (id < G_N_ELEMENTS(sizes) && sizes[id]) {
        bb_cursor_skip(c, sizes[id]);
        return true;
    }
    for (guint texts = id == 0x26 ? 2 : 1; texts > 0; texts--)
        bb_cursor_skip(c, bb_cursor_be16(c));
    return true;
}

static guint16 topic_alias(BbCursor properties)
{
    while (properties.left && bb_cursor_ok(&properties)) {
        guint8 id = bb_cursor_u8(&properties);
        if (id == 0x23)
            return bb_cursor_be16(&properties);
        if (!skip_property(&properties, id))
            break;
    }
    return 0;
}

static void read_topic(BbCursor *c, BbMqttPacket *packet)
{
    packet->topic_length = bb_cursor_be16(c);
    packet->topic = bb_cursor_take(c, packet->topic_length);
    if (!packet->topic)
        packet->topic_length = 0;
    packet->has_topic = true;
}

// Version 3 has the first topic where 5 has properties, which are few: their length is the upper
// byte of what would be the topic's.
static void read_filter(BbCursor *c, guint8 version, BbMqttPacket *packet)
{
    BbCursor peek = *c;
    gsize topic = bb_cursor_be16(&peek);
    if (version == 5 || (version == 0 && (topic == 0 || topic >= peek.left)))
        take_properties(c);
    read_topic(c, packet);
}

static guint8 worst_code(BbCursor codes)
{
    guint8 worst = 0;
    while (codes.left && bb_cursor_ok(&codes)) {
        guint8 code = bb_cursor_u8(&codes);
        worst = MAX(worst, code);
    }
    return worst;
}

// Reasons that follow an identifier: for each topic in version 3, behind properties in 5. Where the
// version is not known the last one must do.
static void read_reasons(BbCursor *c, guint8 version, BbMqttPacket *packet)
{
    if (version == 0 && c->left > 1)
        bb_cursor_skip(c, c->left - 1);
    if (version == 5)
        take_properties(c);
    packet->code = worst_code(*c);
}

static void read_connect(BbCursor *c, BbMqttPacket *packet)
{
    bb_cursor_skip(c, bb_cursor_be16(c));
    packet->version = bb_cursor_u8(c) & 0x7f; // a bridge sets the upper bit
}

bool bb_mqtt_read(const guint8 *data, gsize length, guint8 version, BbMqttPacket *packet)
{
    Head head;
    if (read_head(data, length, &head) != BB_FRAME_OK)
        return false;
    BbCursor c = bb_cursor(data + head.size, MIN(head.body, length - head.size));
    *packet =
        (BbMqttPacket){.type = head.type, .qos = head.flags >> 1 & 3, .duplicate = head.flags >> 3};
    switch (head.type) {
    case BB_MQTT_CONNECT:
        read_connect(&c, packet);
        return bb_cursor_ok(&c);
    case BB_MQTT_CONNACK:
        bb_cursor_skip(&c, 1);
        packet->code = bb_cursor_u8(&c);
        return bb_cursor_ok(&c);
    case BB_MQTT_PINGREQ:
    case BB_MQTT_PINGRESP:
    case BB_MQTT_DISCONNECT:
    case BB_MQTT_AUTH:
        return true;
    case BB_MQTT_PUBLISH:
        read_topic(&c, packet);
        if (packet->qos)
            packet->id = bb_cursor_be16(&c);
        if (version == 5 && bb_cursor_ok(&c))
            packet->alias = topic_alias(take_properties(&c));
        return packet->qos == 0 || packet->id > 0;
    }
    packet->id = bb_cursor_be16(&c);
    if (head.type == BB_MQTT_SUBSCRIBE || head.type == BB_MQTT_UNSUBSCRIBE)
        read_filter(&c, version, packet);
    else if (head.type == BB_MQTT_SUBACK || head.type == BB_MQTT_UNSUBACK)
        read_reasons(&c, version, packet);
    else if (c.left)
        packet->code = bb_cursor_u8(&c);
    return packet->id > 0;
}

// ---- the probe ----------------------------------------------------------------------------------

// Section 3.1.2.1: "MQTT", which 3.1 called "MQIsdp", and the version.
static BbMatch probe_connect(const guint8 *data, gsize length, gsize head)
{
    static const guint8 names[][9] = {"\0\4MQTT", "\0\6MQIsdp"};
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        gsize size = 2 + names[i][1], have = MIN(length - head, size);
        if (memcmp(data + head, names[i], have) != 0)
            continue;
        if (length - head <= size)
            return BB_MATCH_MORE;
        guint8 version = data[head + size] & 0x7f;
        return version >= 3 && version <= 5 ? BB_MATCH_REQUEST : BB_MATCH_NO;
    }
    return BB_MATCH_NO;
}

static bool is_printable(const guint8 *text, gsize length)
{
    for (gsize i = 0; i < length; i++)
        if (text[i] < ' ' || text[i] == 0x7f)
            return false;
    return g_utf8_validate((const char *)text, (gssize)length, NULL);
}

// How many bits of a packet were found right: 0 if something is wrong.
static guint weigh(const guint8 *data, gsize length, const Head *head)
{
    BbMqttPacket packet;
    bool whole = length - head->size >= head->body;
    if (!bb_mqtt_read(data, length, 0, &packet))
        return 0;
    bool topic = packet.topic_length > 0 && is_printable(packet.topic, packet.topic_length);
    switch (head->type) {
    case BB_MQTT_PUBLISH:
        return topic && (whole || packet.topic_length >= 4) ? 12 + (guint)packet.topic_length : 0;
    case BB_MQTT_SUBSCRIBE:
    case BB_MQTT_UNSUBSCRIBE:
        return topic && whole ? 24 : 0;
    case BB_MQTT_SUBACK:
        return whole && (packet.code <= 2 || packet.code >= 0x80) ? 20 : 0;
    case BB_MQTT_CONNACK:
        return whole && data[head->size] <= 1 && packet.code <= 159 ? 20 : 0;
    default:
        return whole && head->body <= 4 ? 14 : 0;
    }
}

// The first packet is not all there: whether it is worth to wait for more of it.
static BbMatch probe_cut(const guint8 *data, gsize length, const Head *head)
{
    gsize wanted;
    BbCursor c = bb_cursor(data, length);
    if (head->type != BB_MQTT_PUBLISH)
        return head->body <= CUT_MAX ? BB_MATCH_MORE : BB_MATCH_NO;
    if (measure_publish(head, c, 0, &wanted) == BB_FRAME_BAD)
        return BB_MATCH_NO;
    bb_cursor_skip(&c, head->size);
    gsize topic = bb_cursor_be16(&c);
    return is_printable(c.at, MIN(topic, c.left)) ? BB_MATCH_MORE : BB_MATCH_NO;
}

BbMatch bb_mqtt_probe(const guint8 *data, gsize length)
{
    guint bits = 0;
    gsize at = 0;
    for (guint i = 0; i < CHAIN && at < length; i++) {
        Head head;
        BbFrameVerdict verdict = read_head(data + at, length - at, &head);
        if (verdict == BB_FRAME_MORE)
            return at ? BB_MATCH_MAYBE : BB_MATCH_MORE;
        if (verdict == BB_FRAME_BAD)
            return BB_MATCH_NO;
        if (head.type == BB_MQTT_CONNECT)
            return probe_connect(data + at, length - at, head.size);
        guint weight = weigh(data + at, length - at, &head);
        bool cut = length - at - head.size < head.body;
        if (weight == 0 && cut && at == 0)
            return probe_cut(data, length, &head);
        if (weight == 0 && !cut)
            return BB_MATCH_NO;
        bits += weight;
        if (cut)
            return bits >= CERTAIN ? BB_MATCH_LIKELY : BB_MATCH_MAYBE;
        at += head.size + head.body;
    }
    if (!length)
        return BB_MATCH_MORE;
    return bits >= CERTAIN ? BB_MATCH_LIKELY : BB_MATCH_MAYBE;
}
