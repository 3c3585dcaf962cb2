// SPDX-License-Identifier: Apache-2.0
// In: the bytes of a STOMP connection (STOMP 1.0, 1.1, 1.2). Out: CONNECT with CONNECTED, and every
// frame that asks for a receipt with that; other frames are free messages. ERROR answers the frame
// that it names, or CONNECT.
//
// A body whose length is not given ends with a NUL: it is taken as it comes, piece by piece.
#include "capture/protocols/label.h"
#include "capture/protocols/meaning.h"
#include "capture/protocols/stomp_head.h"
#include "data/text_hash.h"

#include <string.h>

#define KEY_CONNECT 1u

typedef struct Side {
    BbPart part;
    BbMeaning meaning;
    bool in_body; // of a length that is not given
    bool last;    // the piece under way ends its frame
} Side;

typedef struct Stomp {
    BbFrames frames;
    Side side[2];
    guint32 ok, error;
} Stomp;

static guint64 key_of(const BbStompText *receipt)
{
    guint64 hash = bb_text_hash_bytes(BB_TEXT_HASH_START, receipt->at, receipt->length);
    return MAX(hash, KEY_CONNECT + 1);
}

// ---- what frames mean ---------------------------------------------------------------------------

static guint32 label_of(BbDialog *dialog, const BbStompHead *head)
{
    char text[BB_LABEL_MAX + 1];
    return bb_dialog_label(
        dialog, text,
        bb_label_topic(text, head->command, head->destination.at, head->destination.length, "/."));
}

static guint32 status_of(BbDialog *dialog, Stomp *stomp, bool good)
{
    guint32 *status = good ? &stomp->ok : &stomp->error;
    if (!*status)
        *status = bb_dialog_status(dialog, good ? "ok" : "error", good ? 2 : 5);
    return *status;
}

static BbMeaning answer(BbDialog *dialog, Stomp *stomp, const BbStompHead *head, guint64 key)
{
    bool good = head->kind != BB_STOMP_ERROR;
    return (BbMeaning){
        .means = BB_MEANS_RETURN, .status = status_of(dialog, stomp, good), .key = key};
}

static BbMeaning free_meaning(BbDialog *dialog, const BbStompHead *head)
{
    return (BbMeaning){.means = BB_MEANS_FREE, .op = label_of(dialog, head)};
}

static BbMeaning error_meaning(BbDialog *dialog, Stomp *stomp, const BbStompHead *head,
                               const BbPart *part)
{
    if (head->receipt_id.at && bb_dialog_find(dialog, part, key_of(&head->receipt_id)))
        return answer(dialog, stomp, head, key_of(&head->receipt_id));
    if (bb_dialog_find(dialog, part, KEY_CONNECT))
        return answer(dialog, stomp, head, KEY_CONNECT);
    BbMeaning meaning = free_meaning(dialog, head);
    meaning.status = status_of(dialog, stomp, false);
    return meaning;
}

static BbMeaning meaning_of(BbDialog *dialog, Stomp *stomp, const BbStompHead *head,
                            const BbPart *part)
{
    bool connect = head->kind == BB_STOMP_CONNECT;
    switch (head->kind) {
    case BB_STOMP_CONNECTED:
        return answer(dialog, stomp, head, KEY_CONNECT);
    case BB_STOMP_RECEIPT:
        return answer(dialog, stomp, head, key_of(&head->receipt_id));
    case BB_STOMP_ERROR:
        return error_meaning(dialog, stomp, head, part);
    default:
        if (!connect && (!head->receipt.at || part->direction == BB_TO_CLIENT))
            return free_meaning(dialog, head);
        return (BbMeaning){.means = BB_MEANS_CALL,
                           .use = connect ? BB_KEY_QUEUED : BB_KEY_REUSED,
                           .op = label_of(dialog, head),
                           .key = connect ? KEY_CONNECT : key_of(&head->receipt)};
    }
}

// ---- frames -------------------------------------------------------------------------------------

// Ends of lines between frames say that the other side is alive.
static gsize count_line_ends(const guint8 *data, gsize length)
{
    gsize count = 0;
    while (count < length && (data[count] == '\n' || data[count] == '\r'))
        count++;
    return count;
}

static BbFrameVerdict measure(const void *state, BbDirection direction, const guint8 *data,
                              gsize length, BbFrameSize *frame)
{
    const Stomp *stomp = state;
    BbStompHead head;
    gsize line_ends = count_line_ends(data, length);
    if (stomp->side[direction].in_body) {
        const guint8 *end = memchr(data, '\0', length);
        gsize piece = end ? (gsize)(end - data) + 1 : length;
        *frame = (BbFrameSize){.length = piece, .wanted = piece};
        return BB_FRAME_OK;
    }
    if (line_ends) {
        *frame = (BbFrameSize){.length = line_ends, .wanted = 1};
        return BB_FRAME_OK;
    }
    BbFrameVerdict verdict = bb_stomp_head(data, length, direction, &head);
    if (verdict == BB_FRAME_OK)
        *frame = (BbFrameSize){.length = head.length + (head.sized ? head.body + 1 : 0),
                               .wanted = head.length};
    return verdict;
}

static void begin(BbDialog *dialog, void *state, const guint8 *data, gsize seen, const BbPart *part)
{
    Stomp *stomp = state;
    Side *side = &stomp->side[part->direction];
    BbStompHead head;
    if (side->in_body) {
        side->last = data[seen - 1] == '\0';
        return;
    }
    side->last = true;
    if (bb_stomp_head(data, seen, part->direction, &head) != BB_FRAME_OK)
        return;
    side->in_body = !head.sized;
    side->last = head.sized;
    side->meaning = meaning_of(dialog, stomp, &head, part);
    bb_meaning_begin(&side->meaning, dialog, part);
}

static void end_frame(BbDialog *dialog, Side *side)
{
    bb_meaning_end(&side->meaning, dialog, &side->part);
    *side = (Side){0};
}

static void end(BbDialog *dialog, void *state, const BbPart *part)
{
    Side *side = &((Stomp *)state)->side[part->direction];
    bb_part_join(&side->part, part);
    if (side->last)
        end_frame(dialog, side);
}

static const BbFraming framing = {
    .measure = measure,
    .probe = bb_stomp_probe,
    .begin = begin,
    .end = end,
};

// ---- the decoder --------------------------------------------------------------------------------

static void gap(BbDialog *dialog, void *state, BbDirection direction)
{
    Stomp *stomp = state;
    bb_frames_gap(dialog, state, direction);
    end_frame(dialog, &stomp->side[direction]);
}

static void finish(BbDialog *dialog, void *state)
{
    Stomp *stomp = state;
    bb_frames_finish(dialog, state);
    end_frame(dialog, &stomp->side[BB_TO_SERVER]);
    end_frame(dialog, &stomp->side[BB_TO_CLIENT]);
}

const BbDecoder bb_decoder_stomp = {
    .name = "stomp",
    .about = "STOMP 1.0 to 1.2: by receipt",
    .tcp = true,
    .ports = {61613},
    .state_size = sizeof(Stomp),
    .framing = &framing,
    .probe = bb_stomp_probe,
    .parse = bb_frames_parse,
    .gap = gap,
    .finish = finish,
};
