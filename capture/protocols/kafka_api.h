// SPDX-License-Identifier: Apache-2.0
// The requests of Kafka (Apache Kafka protocol guide, up to 4.2): their names, and where in them
// stands what labels and states are made of.
#pragma once

#include "capture/cursor.h"

typedef enum {
    BB_KAFKA_PRODUCE = 0,
    BB_KAFKA_FETCH = 1,
    BB_KAFKA_SASL_HANDSHAKE = 17,
    BB_KAFKA_API_VERSIONS = 18,
} BbKafkaKey;

typedef struct BbKafkaApi {
    const char *name;  // NULL: there is no such request, or it is one to come
    const char *topic; // what precedes the first topic in the request, see kafka_api.c; NULL: none
    gint8 max;         // newest version known
    gint8 flexible;    // first version with compact lengths and tagged fields; -1: none
    gint8 by_id;       // first version whose topics have ids in place of names; -1: none
    gint8 error;       // response: first version where the error code follows the throttle time,
                       // -1: it comes first in all; BB_KAFKA_NO_ERROR: not at the top
} BbKafkaApi;

#define BB_KAFKA_NO_ERROR 127
// Versions to come, which this table does not know, are believed up to so many beyond.
#define BB_KAFKA_NEWER 4

typedef struct BbKafkaRequest {
    guint16 key, version;
    guint32 correlation;
    const BbKafkaApi *api;
    const guint8 *client; // lent; NULL: none was given
    gsize client_length;
    BbCursor body;
} BbKafkaRequest;

typedef struct BbKafkaDetail {
    const guint8 *topic; // of the first topic; NULL: none, or it has an id only
    gsize topic_length;
    bool has_topics; // of a request that may name some: it does
    gint16 acks;     // Produce: 0 = there is no response
    gint32 wait_ms;  // Fetch: how long the broker may wait for data
} BbKafkaDetail;

// Whether there is such a request, or may be soon.
bool bb_kafka_is_known(guint16 key, guint16 version);
// Reads what follows the size. False: no request that we know (or cut). to_come: those of versions
// of Kafka to come will do, of which no more is read than the head that all have.
bool bb_kafka_request(const guint8 *data, gsize length, bool to_come, BbKafkaRequest *request);
// What its body says; of a cut body as much as is there.
BbKafkaDetail bb_kafka_detail(const BbKafkaRequest *request);
// The error code of a response to request (key, version); body is what follows the correlation id.
// 0 also where its place is not known.
gint16 bb_kafka_error(guint16 key, guint16 version, BbCursor body);
