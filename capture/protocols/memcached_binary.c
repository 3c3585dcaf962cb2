// SPDX-License-Identifier: Apache-2.0
// In: memcached's binary protocol (BinaryProtocolRevamped). Out: a call for each command that is
// answered, by opcode and opaque, among equal ones in order; the command as label, the status in
// the words of the text protocol.
//
// Quiet commands (GETQ, SETQ, ...) and QUIT are one-way unless they are answered: the server
// answers in order, so that shows when a later answer comes.
#include "capture/cursor.h"
#include "capture/protocols/framing.h"
#include "capture/protocols/memcached_line.h"
#include "capture/protocols/memcached_quiet.h"

#define HEAD 24u
#define REQUEST 0x80u
#define RESPONSE 0x81u
#define BODY_MAX (128u * 1024u * 1024u) // larger than any item

enum { OPCODE_QUIT = 0x07, OPCODE_STAT = 0x10, OPCODE_QUITQ = 0x17 };

typedef struct Head {
    guint32 body, opaque;
    guint16 key, status; // status: of a response
    guint8 magic, opcode, extras, data_type;
} Head;

// Of a command.
enum {
    QUIET = 1, // it may stay without an answer
    KEY = 2,   // its request has one
    KEY_OR_NOT = 4,
    VALUE = 8,
    EXTRAS_OR_NOT = 16,
};

typedef struct Command {
    const char *label; // NULL: there is none
    guint8 extras;     // bytes that its request has of them
    guint8 form;
} Command;

typedef struct Binary {
    BbFrames frames;
    BbMemcachedQuiets quiets;
    Head head[2]; // of the messages under way
    guint64 call; // of the request under way
    BbPart reply; // of several responses (STAT)
} Binary;

static const Command commands[] = {
    [0x00] = {"GET", 0, KEY},
    [0x01] = {"SET", 8, KEY | VALUE},
    [0x02] = {"ADD", 8, KEY | VALUE},
    [0x03] = {"REPLACE", 8, KEY | VALUE},
    [0x04] = {"DELETE", 0, KEY},
    [0x05] = {"INCR", 20, KEY},
    [0x06] = {"DECR", 20, KEY},
    [OPCODE_QUIT] = {"QUIT", 0, QUIET},
    [0x08] = {"FLUSH", 4, EXTRAS_OR_NOT},
    [0x09] = {"GETQ", 0, QUIET | KEY},
    [0x0a] = {"NOOP", 0, 0},
    [0x0b] = {"VERSION", 0, 0},
    [0x0c] = {"GETK", 0, KEY},
    [0x0d] = {"GETKQ", 0, QUIET | KEY},
    [0x0e] = {"APPEND", 0, KEY | VALUE},
    [0x0f] = {"PREPEND", 0, KEY | VALUE},
    [OPCODE_STAT] = {"STAT", 0, KEY_OR_NOT},
    [0x11] = {"SETQ", 8, QUIET | KEY | VALUE},
    [0x12] = {"ADDQ", 8, QUIET | KEY | VALUE},
    [0x13] = {"REPLACEQ", 8, QUIET | KEY | VALUE},
    [0x14] = {"DELETEQ", 0, QUIET | KEY},
    [0x15] = {"INCRQ", 20, QUIET | KEY},
    [0x16] = {"DECRQ", 20, QUIET | KEY},
    [OPCODE_QUITQ] = {"QUITQ", 0, QUIET},
    [0x18] = {"FLUSHQ", 4, QUIET | EXTRAS_OR_NOT},
    [0x19] = {"APPENDQ", 0, QUIET | KEY | VALUE},
    [0x1a] = {"PREPENDQ", 0, QUIET | KEY | VALUE},
    [0x1b] = {"VERBOSITY", 4, 0},
    [0x1c] = {"TOUCH", 4, KEY},
    [0x1d] = {"GAT", 4, KEY},
    [0x1e] = {"GATQ", 4, QUIET | KEY},
    [0x20] = {"SASL_LIST", 0, 0},
    [0x21] = {"SASL_AUTH", 0, KEY | VALUE},
    [0x22] = {"SASL_STEP", 0, KEY | VALUE},
    [0x23] = {"GATK", 4, KEY},
    [0x24] = {"GATKQ", 4, QUIET | KEY},
};

static const Command *command_of(guint8 opcode)
{
    return opcode < G_N_ELEMENTS(commands) && commands[opcode].label ? &commands[opcode] : NULL;
}

// ---- heads --------------------------------------------------------------------------------------

// data: HEAD bytes. False: they are no head.
static bool read_head(Head *head, const guint8 *data)
{
    BbCursor c = bb_cursor(data, HEAD);
    head->magic = bb_cursor_u8(&c);
    head->opcode = bb_cursor_u8(&c);
    head->key = bb_cursor_be16(&c);
    head->extras = bb_cursor_u8(&c);
    head->data_type = bb_cursor_u8(&c);
    head->status = bb_cursor_be16(&c);
    head->body = bb_cursor_be32(&c);
    head->opaque = bb_cursor_be32(&c);
    return (head->magic == REQUEST || head->magic == RESPONSE) && head->data_type == 0 &&
           head->key <= BB_MEMCACHED_KEY_MAX && head->body <= BODY_MAX &&
           head->body >= (guint32)head->key + head->extras;
}

static const char *status_name(guint16 status)
{
    switch (status) {
    case 0x0000:
    case 0x0021: // authentication goes on
        return "ok";
    case 0x0001:
        return "NOT_FOUND";
    case 0x0002:
        return "EXISTS";
    case 0x0005:
        return "NOT_STORED";
    case 0x0003: // too large
    case 0x0004: // invalid
    case 0x0006: // no number
    case 0x0020: // authentication
        return "CLIENT_ERROR";
    case 0x0081: // unknown command
        return "ERROR";
    default:
        return "SERVER_ERROR";
    }
}

static bool is_status(guint16 status)
{
    return status <= 0x0009 || (status >= 0x0020 && status <= 0x0022) ||
           (status >= 0x0081 && status <= 0x0086);
}

static bool fits_request(const Head *head, const Command *command)
{
    bool no_extras = command->form & EXTRAS_OR_NOT && head->extras == 0;
    bool key = head->key > 0 ? command->form & (KEY | KEY_OR_NOT) : !(command->form & KEY);
    guint32 rest = head->body - head->key - head->extras;
    return (head->extras == command->extras || no_extras) && key &&
           (command->form & VALUE || rest == 0);
}

static BbMatch probe(const guint8 *data, gsize length)
{
    Head head;
    if (length == 0)
        return BB_MATCH_MORE;
    if ((data[0] != REQUEST && data[0] != RESPONSE) || (length > 1 && !command_of(data[1])))
        return BB_MATCH_NO;
    if (length < HEAD)
        return length > 5 && data[5] != 0 ? BB_MATCH_NO : BB_MATCH_MORE;
    if (!read_head(&head, data))
        return BB_MATCH_NO;
    if (head.magic == RESPONSE)
        return is_status(head.status) && head.extras <= 8 ? BB_MATCH_REPLY : BB_MATCH_NO;
    return fits_request(&head, command_of(head.opcode)) ? BB_MATCH_REQUEST : BB_MATCH_NO;
}

// ---- pairs --------------------------------------------------------------------------------------

static guint64 key_of(const Head *head)
{
    return G_GUINT64_CONSTANT(1) << 40 | (guint64)head->opcode << 32 | head->opaque;
}

static void end_request(BbDialog *dialog, Binary *binary, const BbPart *part)
{
    const Command *command = command_of(binary->head[BB_TO_SERVER].opcode);
    const BbMemcachedQuiet quiet = {.call = binary->call, .request = *part};
    if (command && command->form & QUIET)
        bb_memcached_quiets_add(&binary->quiets, dialog, &quiet);
    else
        bb_dialog_sent(dialog, binary->call, part);
    binary->call = 0;
}

// Quiet commands before the one that is answered are not answered any more.
static void settle_quiet(BbDialog *dialog, Binary *binary, guint64 call)
{
    const BbMemcachedQuiet *oldest;
    while ((oldest = bb_memcached_quiets_oldest(&binary->quiets)) && oldest->call < call)
        bb_memcached_quiets_end(&binary->quiets, dialog, 1);
    if (oldest && oldest->call == call)
        (void)bb_memcached_quiets_answer(&binary->quiets, dialog);
}

static void end_reply(BbDialog *dialog, Binary *binary)
{
    const Head *head = &binary->head[BB_TO_CLIENT];
    const char *status = status_name(head->status);
    if (!binary->reply.begun)
        return;
    const BbOpenCall *open = bb_dialog_find(dialog, &binary->reply, key_of(head));
    guint64 call = open ? open->call : 0;
    if (call)
        settle_quiet(dialog, binary, call);
    bb_dialog_return(dialog, call, &binary->reply,
                     bb_dialog_status(dialog, status, strlen(status)));
    bb_part_reset(&binary->reply);
}

// ---- frames -------------------------------------------------------------------------------------

static BbFrameVerdict measure(const void *state, BbDirection direction, const guint8 *data,
                              gsize length, BbFrameSize *frame)
{
    Head head;
    if (data[0] != (direction == BB_TO_SERVER ? REQUEST : RESPONSE))
        return BB_FRAME_BAD;
    if (length < HEAD)
        return BB_FRAME_MORE;
    if (!read_head(&head, data))
        return BB_FRAME_BAD;
    *frame = (BbFrameSize){.length = HEAD + (gsize)head.body, .wanted = HEAD};
    return BB_FRAME_OK;
}

static void begin(BbDialog *dialog, void *state, const guint8 *data, gsize seen, const BbPart *part)
{
    Binary *binary = state;
    Head *head = &binary->head[part->direction];
    (void)read_head(head, data);
    if (part->direction != BB_TO_SERVER)
        return;
    const Command *command = command_of(head->opcode);
    const char *label = command ? command->label : "*";
    binary->call = bb_dialog_open_by(dialog, part, bb_dialog_label(dialog, label, strlen(label)),
                                     key_of(head), 0, BB_KEY_QUEUED);
}

// STAT is answered by many responses, the last one is empty.
static void end(BbDialog *dialog, void *state, const BbPart *part)
{
    Binary *binary = state;
    const Head *head = &binary->head[part->direction];
    if (part->direction == BB_TO_SERVER) {
        end_request(dialog, binary, part);
        return;
    }
    bb_part_join(&binary->reply, part);
    if (head->opcode != OPCODE_STAT || head->status != 0 || head->body == 0)
        end_reply(dialog, binary);
}

static void lose(BbDialog *dialog, void *state, BbDirection direction)
{
    if (direction == BB_TO_CLIENT)
        end_reply(dialog, state);
}

static const BbFraming framing = {
    .measure = measure,
    .probe = probe,
    .begin = begin,
    .end = end,
    .lose = lose,
};

// ---- the decoder --------------------------------------------------------------------------------

static void finish(BbDialog *dialog, void *state)
{
    Binary *binary = state;
    bb_frames_finish(dialog, state);
    end_reply(dialog, binary);
    bb_memcached_quiets_end(&binary->quiets, dialog, bb_memcached_quiets_count(&binary->quiets));
}

static gsize held(const void *state)
{
    const Binary *binary = state;
    return bb_memcached_quiets_count(&binary->quiets) * sizeof(BbMemcachedQuiet);
}

static void let_go(BbDialog *dialog, void *state)
{
    Binary *binary = state;
    bb_memcached_quiets_end(&binary->quiets, dialog, bb_memcached_quiets_count(&binary->quiets));
}

const BbDecoder bb_decoder_memcached_binary = {
    .name = "memcached",
    .about = "memcached, binary: by opcode and opaque",
    .tcp = true,
    .ports = {11211},
    .state_size = sizeof(Binary),
    .framing = &framing,
    .probe = probe,
    .parse = bb_frames_parse,
    .gap = bb_frames_gap,
    .finish = finish,
    .held = held,
    .let_go = let_go,
};
