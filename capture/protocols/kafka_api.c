// SPDX-License-Identifier: Apache-2.0
// In: the front of a Kafka request or response. Out: its name, topic, error code.
#include "capture/protocols/kafka_api.h"

#define NO_ERROR BB_KAFKA_NO_ERROR
#define KEY_LAST 127u // of requests to come

// What precedes the array of topics, a letter a field, with digits for its first version (and,
// behind '-', its last): s string, w i32 of which the wait is read, i i32, l i64, h i16 (of
// Produce: acks), b i8.
static const BbKafkaApi apis[] = {
    [0] = {"Produce", "s3hi", 13, 9, 13, NO_ERROR},
    [1] = {"Fetch", "i0-14wii3b4i7i7", 18, 12, 13, 7},
    [2] = {"ListOffsets", "ib2", 11, 6, -1, NO_ERROR},
    [3] = {"Metadata", "", 13, 9, -1, NO_ERROR},
    [4] = {"LeaderAndIsr", NULL, 7, 4, -1, -1},
    [5] = {"StopReplica", NULL, 4, 2, -1, -1},
    [6] = {"UpdateMetadata", NULL, 8, 6, -1, -1},
    [7] = {"ControlledShutdown", NULL, 3, 3, -1, -1},
    [8] = {"OffsetCommit", "si1s1l2-4s7", 10, 8, 10, NO_ERROR},
    [9] = {"OffsetFetch", "s", 10, 6, 8, NO_ERROR},
    [10] = {"FindCoordinator", NULL, 6, 3, -1, NO_ERROR},
    [11] = {"JoinGroup", NULL, 9, 6, -1, 2},
    [12] = {"Heartbeat", NULL, 4, 4, -1, 1},
    [13] = {"LeaveGroup", NULL, 5, 4, -1, 1},
    [14] = {"SyncGroup", NULL, 5, 4, -1, 1},
    [15] = {"DescribeGroups", NULL, 6, 5, -1, NO_ERROR},
    [16] = {"ListGroups", NULL, 5, 3, -1, 1},
    [17] = {"SaslHandshake", NULL, 1, -1, -1, -1},
    [18] = {"ApiVersions", NULL, 4, 3, -1, -1},
    [19] = {"CreateTopics", "", 7, 5, -1, NO_ERROR},
    [20] = {"DeleteTopics", "", 6, 4, 6, NO_ERROR},
    [21] = {"DeleteRecords", "", 2, 2, -1, NO_ERROR},
    [22] = {"InitProducerId", NULL, 5, 2, -1, 0},
    [23] = {"OffsetForLeaderEpoch", "i3", 4, 4, -1, NO_ERROR},
    [24] = {"AddPartitionsToTxn", NULL, 5, 3, -1, NO_ERROR},
    [25] = {"AddOffsetsToTxn", NULL, 4, 3, -1, 0},
    [26] = {"EndTxn", NULL, 5, 3, -1, 0},
    [27] = {"WriteTxnMarkers", NULL, 2, 1, -1, NO_ERROR},
    [28] = {"TxnOffsetCommit", NULL, 5, 3, -1, NO_ERROR},
    [29] = {"DescribeAcls", NULL, 3, 2, -1, 0},
    [30] = {"CreateAcls", NULL, 3, 2, -1, NO_ERROR},
    [31] = {"DeleteAcls", NULL, 3, 2, -1, NO_ERROR},
    [32] = {"DescribeConfigs", NULL, 4, 4, -1, NO_ERROR},
    [33] = {"AlterConfigs", NULL, 2, 2, -1, NO_ERROR},
    [34] = {"AlterReplicaLogDirs", NULL, 2, 2, -1, NO_ERROR},
    [35] = {"DescribeLogDirs", NULL, 5, 2, -1, NO_ERROR},
    [36] = {"SaslAuthenticate", NULL, 2, 2, -1, -1},
    [37] = {"CreatePartitions", "", 3, 2, -1, NO_ERROR},
    [38] = {"CreateDelegationToken", NULL, 3, 2, -1, -1},
    [39] = {"RenewDelegationToken", NULL, 2, 2, -1, -1},
    [40] = {"ExpireDelegationToken", NULL, 2, 2, -1, -1},
    [41] = {"DescribeDelegationToken", NULL, 3, 2, -1, -1},
    [42] = {"DeleteGroups", NULL, 2, 2, -1, NO_ERROR},
    [43] = {"ElectLeaders", NULL, 2, 2, -1, NO_ERROR},
    [44] = {"IncrementalAlterConfigs", NULL, 1, 1, -1, NO_ERROR},
    [45] = {"AlterPartitionReassignments", NULL, 1, 0, -1, NO_ERROR},
    [46] = {"ListPartitionReassignments", NULL, 0, 0, -1, 0},
    [47] = {"OffsetDelete", NULL, 0, -1, -1, -1},
    [48] = {"DescribeClientQuotas", NULL, 1, 1, -1, 0},
    [49] = {"AlterClientQuotas", NULL, 1, 1, -1, NO_ERROR},
    [50] = {"DescribeUserScramCredentials", NULL, 0, 0, -1, 0},
    [51] = {"AlterUserScramCredentials", NULL, 0, 0, -1, NO_ERROR},
    [52] = {"Vote", NULL, 2, 0, -1, -1},
    [53] = {"BeginQuorumEpoch", NULL, 1, 1, -1, -1},
    [54] = {"EndQuorumEpoch", NULL, 1, 1, -1, -1},
    [55] = {"DescribeQuorum", NULL, 2, 0, -1, -1},
    [56] = {"AlterPartition", NULL, 3, 0, -1, 0},
    [57] = {"UpdateFeatures", NULL, 2, 0, -1, 0},
    [58] = {"Envelope", NULL, 0, 0, -1, NO_ERROR},
    [59] = {"FetchSnapshot", NULL, 1, 0, -1, 0},
    [60] = {"DescribeCluster", NULL, 2, 0, -1, 0},
    [61] = {"DescribeProducers", "", 0, 0, -1, NO_ERROR},
    [62] = {"BrokerRegistration", NULL, 4, 0, -1, 0},
    [63] = {"BrokerHeartbeat", NULL, 1, 0, -1, 0},
    [64] = {"UnregisterBroker", NULL, 0, 0, -1, 0},
    [65] = {"DescribeTransactions", NULL, 0, 0, -1, NO_ERROR},
    [66] = {"ListTransactions", NULL, 2, 0, -1, 0},
    [67] = {"AllocateProducerIds", NULL, 0, 0, -1, 0},
    [68] = {"ConsumerGroupHeartbeat", NULL, 1, 0, -1, 0},
    [69] = {"ConsumerGroupDescribe", NULL, 1, 0, -1, NO_ERROR},
    [70] = {"ControllerRegistration", NULL, 0, 0, -1, 0},
    [71] = {"GetTelemetrySubscriptions", NULL, 0, 0, -1, 0},
    [72] = {"PushTelemetry", NULL, 0, 0, -1, 0},
    [73] = {"AssignReplicasToDirs", NULL, 0, 0, -1, 0},
    [74] = {"ListConfigResources", NULL, 1, 0, -1, 0},
    [75] = {"DescribeTopicPartitions", "", 0, 0, -1, NO_ERROR},
    [76] = {"ShareGroupHeartbeat", NULL, 1, 0, -1, 0},
    [77] = {"ShareGroupDescribe", NULL, 1, 0, -1, NO_ERROR},
    [78] = {"ShareFetch", NULL, 1, 0, -1, 0},
    [79] = {"ShareAcknowledge", NULL, 1, 0, -1, 0},
    [80] = {"AddRaftVoter", NULL, 1, 0, -1, 0},
    [81] = {"RemoveRaftVoter", NULL, 0, 0, -1, 0},
    [82] = {"UpdateRaftVoter", NULL, 0, 0, -1, 0},
    [83] = {"InitializeShareGroupState", NULL, 0, 0, -1, NO_ERROR},
    [84] = {"ReadShareGroupState", NULL, 0, 0, -1, NO_ERROR},
    [85] = {"WriteShareGroupState", NULL, 0, 0, -1, NO_ERROR},
    [86] = {"DeleteShareGroupState", NULL, 0, 0, -1, NO_ERROR},
    [87] = {"ReadShareGroupStateSummary", NULL, 0, 0, -1, NO_ERROR},
    [88] = {"StreamsGroupHeartbeat", NULL, 0, 0, -1, 0},
    [89] = {"StreamsGroupDescribe", NULL, 0, 0, -1, NO_ERROR},
    [90] = {"DescribeShareGroupOffsets", NULL, 0, 0, -1, NO_ERROR},
    [91] = {"AlterShareGroupOffsets", NULL, 0, 0, -1, NO_ERROR},
    [92] = {"DeleteShareGroupOffsets", NULL, 0, 0, -1, 0},
    [93] = {"GetReplicaLogInfo", NULL, 0, 0, -1, NO_ERROR},
};
// Of those to come nothing is known but the head.
static const BbKafkaApi nameless = {NULL, NULL, 0, -1, -1, NO_ERROR};

static bool is_flexible(const BbKafkaApi *api, guint16 version)
{
    return api->flexible >= 0 && version >= api->flexible;
}

static guint32 read_varint(BbCursor *c)
{
    guint32 value = 0;
    for (guint shift = 0; shift < 32; shift += 7) {
        guint8 byte = bb_cursor_u8(c);
        value |= (guint32)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    c->broken = true;
    return 0;
}

static void skip_tags(BbCursor *c)
{
    for (guint32 count = read_varint(c); count > 0 && bb_cursor_ok(c); count--) {
        (void)read_varint(c);
        bb_cursor_skip(c, read_varint(c));
    }
}

// A length that counts from 0, or that says by -1 (compact: 0) that there is nothing.
static gsize read_count(BbCursor *c, bool compact, gsize size)
{
    if (compact) {
        guint32 count = read_varint(c);
        return count ? count - 1 : 0;
    }
    gint32 count = size == 2 ? (gint16)bb_cursor_be16(c) : (gint32)bb_cursor_be32(c);
    return count > 0 ? (gsize)count : 0;
}

static const guint8 *read_string(BbCursor *c, bool compact, gsize *length)
{
    *length = read_count(c, compact, 2);
    return bb_cursor_take(c, *length);
}

// ---- requests -----------------------------------------------------------------------------------

bool bb_kafka_is_known(guint16 key, guint16 version)
{
    return key < G_N_ELEMENTS(apis) && apis[key].name && version <= apis[key].max + BB_KAFKA_NEWER;
}

static bool may_come(guint16 key, guint16 version)
{
    return key >= G_N_ELEMENTS(apis) && key <= KEY_LAST && version <= BB_KAFKA_NEWER;
}

bool bb_kafka_request(const guint8 *data, gsize length, bool to_come, BbKafkaRequest *request)
{
    BbCursor c = bb_cursor(data, length);
    *request = (BbKafkaRequest){0};
    request->key = bb_cursor_be16(&c);
    request->version = bb_cursor_be16(&c);
    request->correlation = bb_cursor_be32(&c);
    if (!bb_cursor_ok(&c))
        return false;
    if (bb_kafka_is_known(request->key, request->version))
        request->api = &apis[request->key];
    else if (to_come && may_come(request->key, request->version))
        request->api = &nameless;
    else
        return false;
    // ControlledShutdown v0 has no client id.
    gint16 client = request->key == 7 && request->version == 0 ? -1 : (gint16)bb_cursor_be16(&c);
    if (client < -1)
        return false;
    request->client_length = (gsize)MAX(client, 0);
    if (client >= 0)
        request->client = bb_cursor_take(&c, request->client_length);
    if (is_flexible(request->api, request->version))
        skip_tags(&c);
    request->body = c;
    return bb_cursor_ok(&c);
}

// Whether the field whose versions stand at text is in version; goes on to the next field.
static bool has_field(const char **text, guint16 version)
{
    char *end;
    guint64 from = g_ascii_strtoull(*text, &end, 10), until = G_MAXUINT16;
    if (*end == '-')
        until = g_ascii_strtoull(end + 1, &end, 10);
    *text = end;
    return version >= from && version <= until;
}

static void read_field(BbCursor *c, char kind, bool compact, BbKafkaDetail *detail)
{
    gsize length;
    switch (kind) {
    case 's':
        (void)read_string(c, compact, &length);
        break;
    case 'h':
        detail->acks = (gint16)bb_cursor_be16(c);
        break;
    case 'w':
        detail->wait_ms = (gint32)bb_cursor_be32(c);
        break;
    case 'l':
        (void)bb_cursor_be64(c);
        break;
    case 'b':
        (void)bb_cursor_u8(c);
        break;
    default:
        (void)bb_cursor_be32(c);
    }
}

// Metadata has an id before each name since version 10.
static void read_topic(BbCursor *c, const BbKafkaRequest *request, bool compact,
                       BbKafkaDetail *detail)
{
    const BbKafkaApi *api = request->api;
    detail->has_topics = read_count(c, compact, 4) > 0;
    if (!detail->has_topics || (api->by_id >= 0 && request->version >= api->by_id))
        return;
    if (request->key == 3 && request->version >= 10)
        bb_cursor_skip(c, 16);
    detail->topic = read_string(c, compact, &detail->topic_length);
    if (!detail->topic)
        detail->topic_length = 0;
}

BbKafkaDetail bb_kafka_detail(const BbKafkaRequest *request)
{
    BbKafkaDetail detail = {.acks = 1};
    BbCursor c = request->body;
    bool compact = is_flexible(request->api, request->version);
    if (!request->api->topic || request->version > request->api->max)
        return detail;
    for (const char *at = request->api->topic; *at;) {
        char kind = *at++;
        if (has_field(&at, request->version))
            read_field(&c, kind, compact, &detail);
    }
    if (!bb_cursor_ok(&c)) // cut: what it does not say is not known
        return (BbKafkaDetail){.acks = 1};
    read_topic(&c, request, compact, &detail);
    return detail;
}

// ---- responses ----------------------------------------------------------------------------------

// Of Produce and of Fetch before version 7: that of the first partition of the first topic.
static gint16 partition_error(guint16 key, guint16 version, bool compact, BbCursor *c)
{
    const BbKafkaApi *api = &apis[key];
    gsize length;
    if (key == BB_KAFKA_FETCH && version >= 1)
        bb_cursor_skip(c, 4);
    if (read_count(c, compact, 4) == 0)
        return 0;
    if (version >= api->by_id)
        bb_cursor_skip(c, 16);
    else
        (void)read_string(c, compact, &length);
    if (read_count(c, compact, 4) == 0)
        return 0;
    bb_cursor_skip(c, 4);
    return (gint16)bb_cursor_be16(c);
}

gint16 bb_kafka_error(guint16 key, guint16 version, BbCursor body)
{
    if (key >= G_N_ELEMENTS(apis) || !apis[key].name || version > apis[key].max)
        return 0;
    const BbKafkaApi *api = &apis[key];
    bool compact = is_flexible(api, version);
    // KIP-511: the head of this one stays as it was, so that everybody understands it.
    if (compact && key != BB_KAFKA_API_VERSIONS)
        skip_tags(&body);
    gint16 code = 0;
    if (key == BB_KAFKA_PRODUCE || (key == BB_KAFKA_FETCH && version < api->error)) {
        code = partition_error(key, version, compact, &body);
    } else if (api->error != NO_ERROR) {
        if (api->error >= 0 && version >= api->error)
            bb_cursor_skip(&body, 4);
        code = (gint16)bb_cursor_be16(&body);
    }
    return bb_cursor_ok(&body) ? code : 0;
}
