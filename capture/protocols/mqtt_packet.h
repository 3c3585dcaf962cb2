// SPDX-License-Identifier: Apache-2.0
// MQTT control packets (OASIS MQTT 3.1.1 and 5.0, sections 2 and 3), as far as pairing needs them.
#pragma once

#include "capture/protocols/framing.h"

typedef enum {
    BB_MQTT_CONNECT = 1,
    BB_MQTT_CONNACK,
    BB_MQTT_PUBLISH,
    BB_MQTT_PUBACK,
    BB_MQTT_PUBREC,
    BB_MQTT_PUBREL,
    BB_MQTT_PUBCOMP,
    BB_MQTT_SUBSCRIBE,
    BB_MQTT_SUBACK,
    BB_MQTT_UNSUBSCRIBE,
    BB_MQTT_UNSUBACK,
    BB_MQTT_PINGREQ,
    BB_MQTT_PINGRESP,
    BB_MQTT_DISCONNECT,
    BB_MQTT_AUTH, // version 5
} BbMqttType;

typedef struct BbMqttPacket {
    guint8 type;
    guint8 qos, version; // of PUBLISH; of CONNECT: 3 to 5
    guint8 code;         // the reason of an answer; of several the worst
    guint16 id, alias;   // 0: none
    bool duplicate, has_topic;
    const guint8 *topic; // of PUBLISH and the first of SUBSCRIBE, UNSUBSCRIBE; lent
    gsize topic_length;
} BbMqttPacket;

// version: 0 where it is not known.
BbFrameVerdict bb_mqtt_measure(const guint8 *data, gsize length, BbDirection direction,
                               guint8 version, BbFrameSize *frame);
// Reads the front of a packet that bb_mqtt_measure took for one. False: its identifier is missing.
bool bb_mqtt_read(const guint8 *data, gsize length, guint8 version, BbMqttPacket *packet);
BbMatch bb_mqtt_probe(const guint8 *data, gsize length);
