// SPDX-License-Identifier: Apache-2.0
// In: header sections, data, resets of streams. Out: a call for each request, a return for its
// final response; free messages for pushed responses.
#include "capture/protocols/http2_stream.h"

#include "capture/protocols/http2_frame.h"
#include "capture/protocols/label.h"

#define FEW 4u // streams whose room is not given back

// A key is never 0, the key of what goes by order.
#define KEY(id) (G_GUINT64_CONSTANT(1) << 32 | (id))

// ---- the table --------------------------------------------------------------------------------

// Where id is, or would be.
static guint place_of(const BbHttp2Streams *streams, guint32 id)
{
    guint low = 0, high = streams->n;
    while (low < high) {
        guint middle = (low + high) / 2;
        if (streams->stream[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

BbHttp2Stream *bb_http2_streams_find(BbHttp2Streams *streams, guint32 id)
{
    guint place = place_of(streams, id);
    bool found = place < streams->n && streams->stream[place].id == id;
    return found ? &streams->stream[place] : NULL;
}

static void remove_stream(BbHttp2Streams *streams, BbHttp2Stream *stream)
{
    guint place = (guint)(stream - streams->stream);
    streams->n--;
    memmove(stream, stream + 1, (streams->n - place) * sizeof *stream);
    if (streams->n == 0 && streams->capacity > FEW) {
        g_clear_pointer(&streams->stream, g_free);
        streams->capacity = 0;
    }
}

static void end_as_seen(BbHttp2Streams *streams, BbDialog *dialog, BbHttp2Stream *stream);

static BbHttp2Stream *add_stream(BbHttp2Streams *streams, BbDialog *dialog, guint32 id)
{
    if (streams->n == BB_HTTP2_STREAMS) {
        bb_dialog_count(dialog, BB_PENDING_LIMIT);
        streams->complete = false;
        end_as_seen(streams, dialog, &streams->stream[0]);
    }
    if (streams->n == streams->capacity) {
        streams->capacity = MAX(FEW / 2, streams->capacity * 2);
        streams->stream = g_renew(BbHttp2Stream, streams->stream, streams->capacity);
    }
    guint place = place_of(streams, id);
    BbHttp2Stream *stream = &streams->stream[place];
    memmove(stream + 1, stream, (streams->n - place) * sizeof *stream);
    streams->n++;
    *stream = (BbHttp2Stream){.id = id, .grpc_status = BB_HTTP2_NO_GRPC_STATUS};
    return stream;
}

// ---- names ------------------------------------------------------------------------------------

// What is not known is `?`; what the request leaves out is left out.
static guint32 op_of(BbDialog *dialog, const BbHttp2Fields *fields)
{
    char text[BB_LABEL_MAX + 1];
    bool no_method = fields->method_length == 0;
    const guint8 *method = no_method ? (const guint8 *)"?" : fields->method;
    gsize length = bb_label_http(text, method, no_method ? 1 : fields->method_length,
                                 fields->target, fields->has_path ? fields->target_length : 0);
    bool connect = fields->method_length == 7 && memcmp(fields->method, "CONNECT", 7) == 0;
    if (connect && !fields->has_path)
        length = bb_label_http(text, method, 7, fields->target, fields->target_length);
    else if (!fields->has_path && fields->unknown && !no_method)
        length = (gsize)g_snprintf(text, sizeof text, "%.*s ?", (int)fields->method_length,
                                   (const char *)fields->method);
    return bb_dialog_label(dialog, text, length);
}

static guint32 name_of(BbDialog *dialog, const char *text)
{
    return bb_dialog_status(dialog, text, strlen(text));
}

// Of gRPC, 200 only says that the call was carried: its outcome is in the trailers, or not known.
static guint32 status_of(BbHttp2Streams *streams, BbDialog *dialog, const BbHttp2Stream *stream)
{
    if (stream->grpc_status != BB_HTTP2_NO_GRPC_STATUS)
        return name_of(dialog, bb_grpc_status_name((guint)stream->grpc_status));
    bool untold = stream->grpc || stream->untold;
    return stream->code == 0 || (untold && stream->code == 200)
               ? BB_NAME_NONE
               : bb_dialog_status_code(dialog, stream->code);
}

// ---- ends -------------------------------------------------------------------------------------

static void send_request(BbDialog *dialog, const BbHttp2Stream *stream)
{
    if (stream->part[BB_TO_SERVER].begun)
        bb_dialog_sent(dialog, stream->call, &stream->part[BB_TO_SERVER]);
}

// Writes the response with that status and forgets the stream.
static void end_response(BbHttp2Streams *streams, BbDialog *dialog, BbHttp2Stream *stream,
                         guint32 status)
{
    const BbPart *response = &stream->part[BB_TO_CLIENT];
    if (stream->pushed) {
        bb_dialog_message(dialog, response, stream->op, status);
    } else {
        send_request(dialog, stream);
        bb_dialog_return(dialog, stream->call, response, status);
    }
    remove_stream(streams, stream);
}

// There is no response whose start was seen, and there will be none.
static void give_up(BbHttp2Streams *streams, BbDialog *dialog, BbHttp2Stream *stream)
{
    send_request(dialog, stream);
    bb_dialog_give_up(dialog, stream->call);
    remove_stream(streams, stream);
}

// The call stays open where no response was seen.
static void end_as_seen(BbHttp2Streams *streams, BbDialog *dialog, BbHttp2Stream *stream)
{
    if (stream->final) {
        end_response(streams, dialog, stream, status_of(streams, dialog, stream));
        return;
    }
    send_request(dialog, stream);
    remove_stream(streams, stream);
}

// ---- header sections --------------------------------------------------------------------------

void bb_http2_stream_is_grpc(BbHttp2Stream *stream, BbDialog *dialog)
{
    stream->grpc = true;
    bb_dialog_call_protocol(dialog, stream->call, "grpc");
}

static void end_request(const BbHttp2Event *event, BbHttp2Stream *stream)
{
    if (event->end_stream)
        send_request(event->dialog, stream);
}

static void take_request(BbHttp2Streams *streams, const BbHttp2Event *event,
                         const BbHttp2Fields *fields)
{
    BbHttp2Stream *stream = bb_http2_streams_find(streams, event->id);
    bool trailers = !fields->method_length && !fields->has_path && !fields->unknown;
    if (!stream && (event->id <= streams->last_request || trailers))
        return; // of a stream that is over, or that began before we looked
    if (!stream) {
        stream = add_stream(streams, event->dialog, event->id);
        stream->part[BB_TO_SERVER] = *event->part;
        stream->call = bb_dialog_open(event->dialog, event->part, op_of(event->dialog, fields),
                                      KEY(event->id), 0);
        stream->untyped = fields->unknown && !fields->has_type;
        streams->last_request = event->id;
        if (fields->is_grpc)
            bb_http2_stream_is_grpc(stream, event->dialog);
    } else {
        bb_part_join(&stream->part[BB_TO_SERVER], event->part);
    }
    end_request(event, stream);
}

// Frames of the response may still be on their way. Where all requests are known, one that has no
// open call any more can only have been cancelled.
static bool was_cancelled(const BbHttp2Streams *streams, guint32 id)
{
    if (streams->complete && id % 2 && id <= streams->last_request)
        return true;
    for (guint i = 0; i < MIN(streams->n_cancelled, BB_HTTP2_CANCELLED); i++)
        if (streams->cancelled[i] == id)
            return true;
    return false;
}

// The open call of a stream that is not in the table: its request was put aside, or came as HTTP/1
// (h2c: stream 1).
static guint64 open_call(const BbHttp2Event *event)
{
    const BbOpenCall *open = bb_dialog_find(event->dialog, event->part, KEY(event->id));
    return open && (open->key == KEY(event->id) || event->id == 1) ? open->call : 0;
}

// For a response of which no request is under way. NULL: it is of no interest.
static BbHttp2Stream *begin_response(BbHttp2Streams *streams, const BbHttp2Event *event,
                                     const BbHttp2Fields *fields)
{
    bool pushed = event->id % 2 == 0; // and its promise was not seen
    guint64 call = pushed ? 0 : open_call(event);
    if (!call && (!fields->code || was_cancelled(streams, event->id)))
        return NULL;
    BbHttp2Stream *stream = add_stream(streams, event->dialog, event->id);
    stream->call = call;
    stream->pushed = pushed;
    stream->untyped = !call && !pushed;
    return stream;
}

static void note_outcome(BbHttp2Stream *stream, BbDialog *dialog, const BbHttp2Fields *fields)
{
    if (fields->code)
        stream->code = fields->code;
    if (fields->has_type)
        stream->untyped = false;
    if (fields->is_grpc)
        bb_http2_stream_is_grpc(stream, dialog);
    if (fields->grpc_status != BB_HTTP2_NO_GRPC_STATUS)
        stream->grpc_status = fields->grpc_status;
    stream->untold = stream->untyped && fields->unknown;
}

static void take_response(BbHttp2Streams *streams, const BbHttp2Event *event,
                          const BbHttp2Fields *fields)
{
    BbHttp2Stream *stream = bb_http2_streams_find(streams, event->id);
    if (!stream)
        stream = begin_response(streams, event, fields);
    bool interim = fields->code >= 100 && fields->code < 200; // section 8.1
    if (!stream || (interim && !event->end_stream))
        return;
    // Trailers of a response whose start is missing. gRPC's :status is 200, which is always known.
    if (!stream->final && !fields->code && event->end_stream &&
        (stream->grpc || !fields->unknown)) {
        give_up(streams, event->dialog, stream);
        return;
    }
    stream->final = true;
    stream->torn = false;
    bb_part_join(&stream->part[BB_TO_CLIENT], event->part);
    note_outcome(stream, event->dialog, fields);
    if (event->end_stream)
        end_as_seen(streams, event->dialog, stream);
}

void bb_http2_streams_headers(BbHttp2Streams *streams, const BbHttp2Event *event,
                              const BbHttp2Fields *fields)
{
    if (event->direction == BB_TO_SERVER)
        take_request(streams, event, fields);
    else
        take_response(streams, event, fields);
}

void bb_http2_streams_promise(BbHttp2Streams *streams, const BbHttp2Event *event,
                              const BbHttp2Fields *fields)
{
    if (bb_http2_streams_find(streams, event->id))
        return;
    BbHttp2Stream *stream = add_stream(streams, event->dialog, event->id);
    stream->pushed = true;
    stream->op = op_of(event->dialog, fields);
}

// ---- other frames -----------------------------------------------------------------------------

void bb_http2_streams_data(BbHttp2Streams *streams, const BbHttp2Event *event)
{
    BbHttp2Stream *stream = bb_http2_streams_find(streams, event->id);
    if (!stream)
        return;
    if (event->direction == BB_TO_SERVER) {
        bb_part_join(&stream->part[BB_TO_SERVER], event->part);
        end_request(event, stream);
        return;
    }
    stream->torn = false;
    if (stream->final)
        bb_part_join(&stream->part[BB_TO_CLIENT], event->part);
    if (event->end_stream && stream->final)
        end_as_seen(streams, event->dialog, stream);
    else if (event->end_stream)
        give_up(streams, event->dialog, stream);
}

static void cancel(BbHttp2Streams *streams, const BbHttp2Event *event, BbHttp2Stream *stream,
                   guint32 status)
{
    streams->cancelled[streams->n_cancelled++ % BB_HTTP2_CANCELLED] = event->id;
    if (stream->final)
        end_response(streams, event->dialog, stream, status);
    else
        give_up(streams, event->dialog, stream);
}

void bb_http2_streams_reset(BbHttp2Streams *streams, const BbHttp2Event *event, guint32 code)
{
    BbDialog *dialog = event->dialog;
    guint32 status = name_of(dialog, bb_http2_error_name(code));
    BbHttp2Stream *stream = bb_http2_streams_find(streams, event->id);
    if (event->direction == BB_TO_SERVER) {
        if (stream)
            cancel(streams, event, stream, status);
        return;
    }
    if (!stream) {
        guint64 call = open_call(event);
        if (call)
            bb_dialog_return(dialog, call, event->part, status);
        return;
    }
    if (code == 0 && stream->final) { // section 8.1: the response was complete
        end_as_seen(streams, dialog, stream);
        return;
    }
    bb_part_join(&stream->part[BB_TO_CLIENT], event->part);
    end_response(streams, dialog, stream, status);
}

// Section 6.8. Streams above the last one were not looked at, as if refused (8.7); after an error
// the others are not answered either, since the connection is closed.
void bb_http2_streams_goaway(BbHttp2Streams *streams, const BbHttp2Event *event, guint32 code)
{
    const char *name = code ? bb_http2_error_name(code) : "REFUSED_STREAM";
    guint32 status = name_of(event->dialog, name);
    for (guint i = 0; i < streams->n;) {
        BbHttp2Stream *stream = &streams->stream[i];
        if (stream->pushed || (code == 0 && stream->id <= event->id)) {
            i++;
            continue;
        }
        if (!stream->part[BB_TO_CLIENT].begun)
            stream->part[BB_TO_CLIENT] = *event->part;
        end_response(streams, event->dialog, stream, status);
    }
}

// ---- gaps and the end -------------------------------------------------------------------------

void bb_http2_streams_gap(BbHttp2Streams *streams, BbDialog *dialog, BbDirection direction)
{
    streams->complete &= direction == BB_TO_CLIENT;
    for (guint i = 0; i < streams->n;) {
        BbHttp2Stream *stream = &streams->stream[i];
        stream->framing[direction].lost = true;
        if (direction == BB_TO_CLIENT && stream->torn) {
            end_as_seen(streams, dialog, stream);
            continue;
        }
        stream->torn |= direction == BB_TO_CLIENT && stream->final;
        i++;
    }
}

void bb_http2_streams_finish(BbHttp2Streams *streams, BbDialog *dialog)
{
    streams->complete = false;
    while (streams->n)
        end_as_seen(streams, dialog, &streams->stream[0]);
    g_clear_pointer(&streams->stream, g_free);
    streams->capacity = 0;
}

gsize bb_http2_streams_held(const BbHttp2Streams *streams)
{
    return streams->capacity > FEW ? streams->capacity * sizeof streams->stream[0] : 0;
}
