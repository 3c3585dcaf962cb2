// SPDX-License-Identifier: Apache-2.0
// In: the bytes of a Kafka connection (Apache Kafka protocol guide, up to 4.2). Out: requests with
// their responses by correlation id; what a producer sends without wanting an answer is free.
#include "capture/protocols/framing.h"
#include "capture/protocols/kafka_api.h"
#include "capture/protocols/label.h"
#include "capture/protocols/meaning.h"

#define SIZE 4u            // the field before each message
#define REQUEST_MIN 8u     // without any client id
#define REQUEST_SEEN 1024u // of its front: client and transactional id, topic
#define RESPONSE_SEEN 512u
#define CLIENT_MAX 256u
#define HEAD_SEEN 32u         // what a probe waits for to find a head
#define REQUEST_PROBED 512u   // and a topic
#define BODY_MAX (256u << 20) // brokers refuse requests of 100 MiB by default
#define KEY_SASL 1u           // correlation ids are above: a raw SASL token has none

typedef struct Kafka {
    BbFrames frames;
    BbMeaning meaning[2];
    guint32 fetched; // label of the newest Fetch that named topics: those after it need not
    guint32 ok;
    bool raw_sasl; // tokens without a head follow (SaslHandshake v0)
} Kafka;

static guint64 key_of(guint32 correlation)
{
    return (guint64)correlation + 2;
}

// ---- requests -----------------------------------------------------------------------------------

// Strings are UTF-8, and people write no control bytes into names.
static bool is_client_id(const BbKafkaRequest *request)
{
    if (request->client_length > CLIENT_MAX)
        return false;
    for (gsize i = 0; i < request->client_length; i++)
        if (request->client[i] < ' ' || request->client[i] == 0x7f)
            return false;
    return request->client_length == 0 ||
           g_utf8_validate_len((const char *)request->client, request->client_length, NULL);
}

static bool is_request(const guint8 *data, gsize length, BbKafkaRequest *request)
{
    return bb_kafka_request(data, length, false, request) && is_client_id(request);
}

// Where requests were read before, what stands behind them is one, also if this version of Kafka is
// newer than we are. But not among the tokens of SASL.
static bool is_next(const Kafka *kafka, const guint8 *data, gsize length, BbKafkaRequest *request)
{
    bool to_come = kafka->frames.side[BB_TO_SERVER].good && !kafka->raw_sasl;
    return bb_kafka_request(data, length, to_come, request) && is_client_id(request);
}

static guint32 label_of(BbDialog *dialog, Kafka *kafka, const BbKafkaRequest *request,
                        const BbKafkaDetail *detail)
{
    char text[BB_LABEL_MAX + 8];
    if (!request->api->name)
        return bb_dialog_label(dialog, text,
                               (gsize)g_snprintf(text, sizeof text, "api %u", request->key));
    bool topical = request->api->topic && detail->has_topics;
    bool poll = request->key == BB_KAFKA_FETCH && detail->wait_ms > 0;
    if (request->key == BB_KAFKA_FETCH && !topical && kafka->fetched)
        return kafka->fetched;
    const guint8 *topic = detail->topic ? detail->topic : (const guint8 *)"?";
    gsize topic_length = detail->topic ? detail->topic_length : 1;
    gsize length =
        bb_label_topic(text, request->api->name, topic,
                       topical || request->key == BB_KAFKA_FETCH ? topic_length : 0, ".");
    if (poll)
        length += (gsize)g_snprintf(text + length, 8, " poll");
    guint32 label = bb_dialog_label(dialog, text, length);
    if (request->key == BB_KAFKA_FETCH && topical)
        kafka->fetched = label;
    return label;
}

static BbMeaning request_meaning(BbDialog *dialog, Kafka *kafka, const guint8 *data, gsize length)
{
    BbKafkaRequest request;
    if (!is_next(kafka, data, length, &request))
        return (BbMeaning){.means = kafka->raw_sasl ? BB_MEANS_CALL : BB_MEANS_NOTHING,
                           .use = BB_KEY_QUEUED,
                           .op = bb_dialog_label(dialog, "SASL", 4),
                           .key = KEY_SASL};
    BbKafkaDetail detail = bb_kafka_detail(&request);
    bool one_way = request.key == BB_KAFKA_PRODUCE && detail.acks == 0;
    kafka->raw_sasl = request.key == BB_KAFKA_SASL_HANDSHAKE && request.version == 0;
    return (BbMeaning){.means = one_way ? BB_MEANS_FREE : BB_MEANS_CALL,
                       .use = BB_KEY_REUSED,
                       .op = label_of(dialog, kafka, &request, &detail),
                       .tag = (guint32)request.key << 16 | request.version,
                       .key = key_of(request.correlation)};
}

// ---- responses ----------------------------------------------------------------------------------

static guint32 status_of(BbDialog *dialog, Kafka *kafka, gint16 code)
{
    char text[8];
    if (code)
        return bb_dialog_status(dialog, text,
                                (gsize)g_snprintf(text, sizeof text, "%d", (gint)code));
    if (!kafka->ok)
        kafka->ok = bb_dialog_status(dialog, "ok", 2);
    return kafka->ok;
}

static BbMeaning response_meaning(BbDialog *dialog, Kafka *kafka, BbCursor c, const BbPart *part)
{
    guint64 key = key_of(bb_cursor_be32(&c));
    const BbOpenCall *open = NULL;
    gint16 code = 0;
    if (bb_cursor_ok(&c))
        open = bb_dialog_find(dialog, part, key);
    if (!open && (open = bb_dialog_find(dialog, part, KEY_SASL)))
        key = KEY_SASL;
    if (open && key != KEY_SASL)
        code = bb_kafka_error((guint16)(open->tag >> 16), (guint16)open->tag, c);
    return (BbMeaning){.means = BB_MEANS_RETURN,
                       .key = key,
                       .status = open ? status_of(dialog, kafka, code) : BB_NAME_NONE};
}

// ---- frames -------------------------------------------------------------------------------------

static BbFrameVerdict measure(const void *state, BbDirection direction, const guint8 *data,
                              gsize length, BbFrameSize *frame)
{
    const Kafka *kafka = state;
    BbCursor c = bb_cursor(data, length);
    gsize size = bb_cursor_be32(&c);
    BbKafkaRequest request;
    if (!bb_cursor_ok(&c))
        return BB_FRAME_MORE;
    bool client = direction == BB_TO_SERVER;
    if (size > BODY_MAX || (!kafka->raw_sasl && size < (client ? REQUEST_MIN : 4)))
        return BB_FRAME_BAD;
    frame->length = SIZE + size;
    frame->wanted = SIZE + (client ? REQUEST_SEEN : RESPONSE_SEEN);
    bool whole = c.left >= MIN(size, REQUEST_SEEN);
    bool good =
        !client || kafka->raw_sasl || !whole || is_next(kafka, c.at, MIN(size, c.left), &request);
    return good ? BB_FRAME_OK : BB_FRAME_BAD;
}

static void begin(BbDialog *dialog, void *state, const guint8 *data, gsize seen, const BbPart *part)
{
    Kafka *kafka = state;
    BbMeaning *meaning = &kafka->meaning[part->direction];
    BbCursor body = bb_cursor(data, seen);
    bb_cursor_skip(&body, SIZE);
    *meaning = (BbMeaning){0};
    if (!bb_cursor_ok(&body))
        return;
    *meaning = part->direction == BB_TO_SERVER ? request_meaning(dialog, kafka, body.at, body.left)
                                               : response_meaning(dialog, kafka, body, part);
    bb_meaning_begin(meaning, dialog, part);
}

static void end(BbDialog *dialog, void *state, const BbPart *part)
{
    Kafka *kafka = state;
    bb_meaning_end(&kafka->meaning[part->direction], dialog, part);
}

// ---- the probe ----------------------------------------------------------------------------------

// A response is told from other bytes by its size alone, which must be that of all that came.
static BbMatch probe_response(gsize size, gsize there)
{
    return size >= 6 && size == there ? BB_MATCH_MAYBE : BB_MATCH_NO;
}

// Whether a request that is known begins there, by as much as there is.
static bool is_api(const guint8 *data, gsize there)
{
    BbCursor c = bb_cursor(data, there);
    guint16 key = bb_cursor_be16(&c), version = bb_cursor_be16(&c);
    return !bb_cursor_ok(&c) || bb_kafka_is_known(key, version);
}

// Several requests may have been sent at once: what follows the first looks like one, too.
static bool is_next_request(const guint8 *data, gsize length)
{
    BbKafkaRequest request;
    BbCursor c = bb_cursor(data, length);
    gsize size = bb_cursor_be32(&c);
    return size >= REQUEST_MIN && size <= BODY_MAX && is_request(c.at, MIN(size, c.left), &request);
}

// The first response to a producer looks like a request of one, but for what its body says.
static bool has_good_topics(const BbKafkaRequest *request)
{
    BbKafkaDetail detail = bb_kafka_detail(request);
    bool named = request->api->topic && request->version <= request->api->max &&
                 (request->api->by_id < 0 || request->version < request->api->by_id);
    if (!named || (!detail.has_topics && request->key != BB_KAFKA_PRODUCE))
        return true;
    for (gsize i = 0; i < detail.topic_length; i++)
        if (!g_ascii_isalnum(detail.topic[i]) && !strchr("._-", detail.topic[i]))
            return false;
    return detail.topic_length > 0;
}

static BbMatch probe_request(const guint8 *data, gsize size, gsize there)
{
    BbKafkaRequest request;
    if (size < REQUEST_MIN || size > BODY_MAX)
        return BB_MATCH_NO;
    if (!is_request(data, MIN(size, there), &request))
        return there < MIN(size, HEAD_SEEN) && is_api(data, there) ? BB_MATCH_MORE : BB_MATCH_NO;
    if (there < MIN(size, REQUEST_PROBED))
        return BB_MATCH_MORE;
    if (!has_good_topics(&request))
        return BB_MATCH_NO;
    bool good = size >= there || is_next_request(data + size, there - size);
    if (request.client_length < 3)
        return good && size <= there ? BB_MATCH_LIKELY : BB_MATCH_NO;
    return good ? BB_MATCH_REQUEST : BB_MATCH_LIKELY;
}

static BbMatch probe(const guint8 *data, gsize length)
{
    BbCursor c = bb_cursor(data, length);
    gsize size = bb_cursor_be32(&c);
    if (!bb_cursor_ok(&c))
        return length && data[0] ? BB_MATCH_NO : BB_MATCH_MORE;
    BbMatch request = probe_request(c.at, size, c.left);
    return request == BB_MATCH_NO ? probe_response(size, c.left) : request;
}

// Without a client id a head says little: its end must be there, and be the end of all or the begin
// of another.
static BbMatch find_nameless(const guint8 *data, gsize size, gsize there)
{
    if (there < size)
        return size <= REQUEST_PROBED ? BB_MATCH_MORE : BB_MATCH_NO;
    bool good = size == there || is_next_request(data + size, there - size);
    return good ? BB_MATCH_LIKELY : BB_MATCH_NO;
}

// A long body must not be waited for, in which there may be another request.
static BbMatch find_request(const guint8 *data, gsize size, gsize there)
{
    BbKafkaRequest request;
    if (there < HEAD_SEEN && there < size && is_api(data, there))
        return BB_MATCH_MORE;
    if (size < REQUEST_MIN || size > BODY_MAX || !is_request(data, MIN(size, there), &request))
        return BB_MATCH_NO;
    return request.client_length > 0 ? BB_MATCH_LIKELY : find_nameless(data, size, there);
}

// A request has a known head; a response answers an open call.
static BbMatch find(BbDialog *dialog, const void *state, const BbView *view, gsize at)
{
    BbCursor c = bb_cursor(view->data + at, view->length - at);
    gsize size = bb_cursor_be32(&c);
    if (!bb_cursor_ok(&c))
        return BB_MATCH_MORE;
    if (view->direction == BB_TO_SERVER)
        return find_request(c.at, size, c.left);
    BbPart part = {.direction = BB_TO_CLIENT};
    guint64 key = key_of(bb_cursor_be32(&c));
    if (!bb_cursor_ok(&c))
        return BB_MATCH_MORE;
    bool good = size >= 4 && size <= BODY_MAX && bb_dialog_find(dialog, &part, key);
    return good ? BB_MATCH_LIKELY : BB_MATCH_NO;
}

static const BbFraming framing = {
    .measure = measure,
    .probe = probe,
    .find = find,
    .begin = begin,
    .end = end,
    .anywhere = true,
    .sign = {true, 0, 0},
};

// ---- the decoder --------------------------------------------------------------------------------

const BbDecoder bb_decoder_kafka = {
    .name = "kafka",
    .about = "Apache Kafka up to 4.2: by correlation id",
    .tcp = true,
    .ports = {9092, 9094},
    .state_size = sizeof(Kafka),
    .framing = &framing,
    .probe = probe,
    .parse = bb_frames_parse,
    .gap = bb_frames_gap,
    .finish = bb_frames_finish,
};
