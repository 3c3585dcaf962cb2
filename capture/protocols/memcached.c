// SPDX-License-Identifier: Apache-2.0
// In: memcached's text protocol, meta commands included (protocol.txt of memcached). Out: a call
// for each command that is answered, in order; the command as label, never its keys. The binary
// protocol is another one (memcached_binary.c).
//
// One-way: noreply, quit, and quiet meta commands that were not answered. Which those are shows
// when a later answer comes; until then they wait (memcached_quiet.h).
//
// Errors come in spite of noreply. One that is sent before the server had the oldest open command
// (by TCP's numbers), or that this command cannot have, is a free message. In doubt it is the
// answer of the oldest: then the real answer becomes an orphan, and the pairs behind it stay right.
#include "capture/cursor.h"
#include "capture/protocols/memcached_line.h"
#include "capture/protocols/memcached_quiet.h"

#define STRANGE_MOST 3u // lines of a client of which no word is known: then it is none

typedef enum { STEP_ON, STEP_WAIT, STEP_BAD } Step;

// What is read of a side: lines, blocks of data with a line end behind them.
typedef struct Stream {
    BbPart *part;    // where the bytes of the block belong
    guint64 end_seq; // in_block: position behind it
    guint32 scanned; // bytes of the unfinished line known to hold no line end
    guint8 strange;  // lines of commands that are not known, before any that is
    bool in_block;
    bool in_line; // a long line, known already, is read to its end
    bool lost;    // does not know where the next line begins
    bool known;   // a line was understood
    BbPart aside; // bytes of no call
} Stream;

typedef struct Memcached {
    Stream stream[2];
    BbPart request, reply;
    guint64 call;               // of request, while its data is read
    BbMemcachedCommand command; // of request
    BbMemcachedLine line;       // that ends the answer, while its data is read
    BbMemcachedQuiets quiets;
    bool silent_seen; // noreply was used: errors may come unasked
    bool watching;
    bool many;     // so was a get of several keys
    bool headless; // the beginning of what the server sends is missing
    bool passing;  // the rest of an answer of which the beginning is missing
} Memcached;

typedef struct Reader {
    BbDialog *dialog;
    Memcached *mc;
    Stream *stream;
    const BbView *view;
    gsize at;
} Reader;

static bool is_client(const Reader *reader)
{
    return reader->view->direction == BB_TO_SERVER;
}

static const guint8 *here(const Reader *reader)
{
    return reader->view->data + reader->at;
}

static gsize left(const Reader *reader)
{
    return reader->view->length - reader->at;
}

static void take(Reader *reader, BbPart *part, gsize count)
{
    bb_part_add(part, reader->view, reader->at, reader->at + count);
    reader->at += count;
}

static guint32 name(BbDialog *dialog, const char *text)
{
    return bb_dialog_label(dialog, text, strlen(text));
}

// ---- quiet commands ---------------------------------------------------------------------------

static void add_quiet(BbDialog *dialog, Memcached *mc)
{
    const BbMemcachedQuiet quiet = {
        .call = mc->call,
        .request = mc->request,
        .token = mc->command.token,
        .kind = (guint8)mc->command.kind,
    };
    bb_memcached_quiets_add(&mc->quiets, dialog, &quiet);
}

// Whether line can be the answer of a quiet command: by token where there are any, else by what a
// quiet command of that kind does not leave out.
static bool answers_quiet(const BbMemcachedLine *line, const BbMemcachedQuiet *quiet)
{
    if (line->kind == BB_MEMCACHED_FAILED)
        return true;
    if (line->kind != BB_MEMCACHED_META)
        return false;
    if (line->token || quiet->token)
        return line->token == quiet->token;
    bool hit = memcmp(line->code, "HD", 2) == 0 || memcmp(line->code, "VA", 2) == 0;
    return hit == (quiet->kind == BB_MEMCACHED_META_GET);
}

// Errors are for a quiet command where nothing else can have them: mn never fails.
static bool may_answer_quiet(BbDialog *dialog, const Memcached *mc)
{
    if (mc->line.kind != BB_MEMCACHED_FAILED)
        return true;
    const BbOpenCall *youngest = bb_dialog_youngest(dialog);
    return bb_dialog_open_calls(dialog) <= bb_memcached_quiets_count(&mc->quiets) ||
           (youngest && youngest->tag == BB_MEMCACHED_META_NOOP);
}

// ---- pairs ------------------------------------------------------------------------------------

// The call that reply answers, 0 if none. Quiet commands before it are not answered any more.
static guint64 answered_call(BbDialog *dialog, Memcached *mc)
{
    bool may = may_answer_quiet(dialog, mc);
    for (;;) {
        const BbOpenCall *open = bb_dialog_oldest(dialog, &mc->reply);
        if (!open)
            return 0;
        guint64 call = open->call;
        if (mc->line.value_only && open->tag != BB_MEMCACHED_STORE &&
            open->tag != BB_MEMCACHED_META_SET)
            return 0;
        guint index = bb_memcached_quiets_find(&mc->quiets, call);
        if (index == bb_memcached_quiets_count(&mc->quiets))
            return call;
        bb_memcached_quiets_end(&mc->quiets, dialog, index); // forgotten by the dialog
        if (may && answers_quiet(&mc->line, bb_memcached_quiets_oldest(&mc->quiets)))
            return bb_memcached_quiets_answer(&mc->quiets, dialog);
        bb_memcached_quiets_end(&mc->quiets, dialog, 1);
    }
}

static void end_reply(BbDialog *dialog, Memcached *mc, guint32 status)
{
    if (!mc->reply.begun)
        return;
    guint64 call = answered_call(dialog, mc);
    bool failed = mc->line.kind == BB_MEMCACHED_FAILED;
    if (!call && failed && (mc->silent_seen || bb_dialog_is_unasked(dialog, &mc->reply)))
        bb_dialog_message(dialog, &mc->reply, BB_NAME_NONE, status);
    else
        bb_dialog_return(dialog, call, &mc->reply, status);
    bb_part_reset(&mc->reply);
}

// What the server says is complete.
static void end_answer(Reader *reader, guint32 status)
{
    Memcached *mc = reader->mc;
    if (mc->passing) {
        bb_dialog_passed_rest(reader->dialog, &reader->stream->aside, true);
        bb_part_reset(&reader->stream->aside);
    }
    mc->passing = false;
    end_reply(reader->dialog, mc, status);
}

static void open_request(BbDialog *dialog, Memcached *mc)
{
    mc->call =
        bb_dialog_open(dialog, &mc->request, name(dialog, mc->command.label), 0, mc->command.kind);
}

static void end_request(BbDialog *dialog, Memcached *mc)
{
    const BbMemcachedCommand *command = &mc->command;
    if (command->silent || command->kind == BB_MEMCACHED_QUIT) {
        mc->silent_seen = true;
        bb_dialog_message(dialog, &mc->request, name(dialog, command->label), BB_NAME_NONE);
    } else {
        if (!mc->call)
            open_request(dialog, mc);
        if (command->quiet)
            add_quiet(dialog, mc);
        else
            bb_dialog_sent(dialog, mc->call, &mc->request);
    }
    mc->call = 0;
    bb_part_reset(&mc->request);
}

// ---- blocks and lines -------------------------------------------------------------------------

static void begin_block(Reader *reader, BbPart *part, guint32 length)
{
    Stream *stream = reader->stream;
    stream->in_block = true;
    stream->part = part;
    stream->end_seq = reader->view->seq + reader->at + length + 2; // and its line end
}

// The data and the line end behind it are there, or a gap went beyond them.
static void end_block(Reader *reader)
{
    Memcached *mc = reader->mc;
    reader->stream->in_block = false;
    if (is_client(reader)) {
        end_request(reader->dialog, mc);
    } else if (mc->line.kind != BB_MEMCACHED_PART) { // VA
        end_answer(reader, name(reader->dialog, "ok"));
    }
}

static Step read_block(Reader *reader)
{
    Stream *stream = reader->stream;
    gint64 rest = (gint64)(stream->end_seq - (reader->view->seq + reader->at));
    stream->lost = rest < 0;
    gsize wanted = (gsize)MAX(rest, 0), count = MIN(wanted, left(reader));
    take(reader, stream->part, count);
    if (count < wanted) {
        bb_dialog_skip(reader->dialog, reader->view->direction, wanted - count, stream->part);
        return STEP_WAIT;
    }
    end_block(reader);
    return STEP_ON;
}

// Length of the line at the front with its end, 0 if the end is not there.
static gsize find_line(Reader *reader)
{
    Stream *stream = reader->stream;
    gsize from = MIN(stream->scanned, left(reader));
    const guint8 *newline =
        left(reader) > from ? memchr(here(reader) + from, '\n', left(reader) - from) : NULL;
    stream->scanned = newline ? 0 : (guint32)left(reader);
    return newline ? (gsize)(newline - here(reader)) + 1 : 0;
}

// Length without the line end.
static gsize trimmed(const guint8 *line, gsize length)
{
    if (length && line[length - 1] == '\n')
        length--;
    if (length && line[length - 1] == '\r')
        length--;
    return length;
}

static bool is_text(const guint8 *line, gsize length)
{
    for (gsize i = 0; i < length; i++)
        if (line[i] < ' ' && line[i] != '\t')
            return false;
    return true;
}

// ---- the client -------------------------------------------------------------------------------

// Another line that is no command. A client that says nothing else is not memcached's.
static bool is_strange(Stream *stream)
{
    return !stream->known && ++stream->strange >= STRANGE_MOST;
}

// The command line of length bytes is there, or (cut) its beginning.
static Step read_command(Reader *reader, gsize length, bool cut)
{
    Memcached *mc = reader->mc;
    gsize text = trimmed(here(reader), length);
    BbMemcachedCommand command = bb_memcached_command(here(reader), text, cut);
    if (!command.known && (!is_text(here(reader), text) || is_strange(reader->stream)))
        return STEP_BAD;
    reader->stream->known |= command.known;
    mc->many |= command.many;
    mc->command = command;
    mc->watching |= command.kind == BB_MEMCACHED_WATCH;
    take(reader, &mc->request, length);
    reader->stream->scanned = 0;
    if (cut) {
        reader->stream->in_line = true;
        return STEP_ON;
    }
    if (!command.has_data) {
        end_request(reader->dialog, mc);
        return STEP_ON;
    }
    if (!command.silent)
        open_request(reader->dialog, mc);
    begin_block(reader, &mc->request, command.data_length);
    return STEP_ON;
}

// A line that does not end: the list of keys of a get may be of any length, others are cut.
static Step read_open_command(Reader *reader)
{
    const guint8 *space = memchr(here(reader), ' ', left(reader));
    if (!space)
        return left(reader) < BB_MEMCACHED_LINE_MAX ? STEP_WAIT : STEP_BAD;
    BbMemcachedCommand command = bb_memcached_command(here(reader), left(reader), true);
    bool is_get = command.kind == BB_MEMCACHED_RETRIEVE;
    if (command.known && (reader->view->closed || (is_get && left(reader) >= 1024)))
        return read_command(reader, left(reader), true);
    return left(reader) < BB_MEMCACHED_LINE_MAX ? STEP_WAIT : STEP_BAD;
}

static Step read_rest_of_line(Reader *reader)
{
    gsize length = find_line(reader);
    reader->stream->scanned = 0;
    take(reader, &reader->mc->request, length ? length : left(reader));
    if (!length)
        return STEP_WAIT;
    reader->stream->in_line = false;
    end_request(reader->dialog, reader->mc);
    return STEP_ON;
}

static Step read_client(Reader *reader)
{
    if (reader->stream->in_line)
        return read_rest_of_line(reader);
    gsize length = find_line(reader);
    if (!length)
        return read_open_command(reader);
    return read_command(reader, length, false);
}

// ---- the server -------------------------------------------------------------------------------

static guint32 line_status(BbDialog *dialog, const BbMemcachedLine *line, const guint8 *text)
{
    return line->status ? bb_dialog_status(dialog, line->status, strlen(line->status))
                        : bb_dialog_status(dialog, (const char *)text, line->word);
}

// A line that is in no table: of a dump of keys, of a watch, or the answer of a command that we do
// not know.
static bool read_other_line(Reader *reader, BbMemcachedLine *line, gsize text)
{
    const BbOpenCall *open = reader->mc->reply.begun
                                 ? bb_dialog_oldest(reader->dialog, &reader->mc->reply)
                                 : bb_dialog_oldest_at(reader->dialog, reader->view, reader->at);
    if (!open || open->tag != BB_MEMCACHED_OTHER || !is_text(here(reader), text))
        return false;
    bool dump =
        bb_bytes_begin(here(reader), text, "key=") || bb_bytes_begin(here(reader), text, "mg ");
    line->kind = dump ? BB_MEMCACHED_PART : BB_MEMCACHED_ANSWER;
    line->status = "ok";
    return true;
}

// Whether the line, the first one behind a gap, goes on with an answer that the gap cut off, or the
// beginning of which was in it.
static bool may_be_rest(const Memcached *mc)
{
    bool is_part = mc->line.kind == BB_MEMCACHED_PART && (mc->many || !mc->line.has_data);
    return is_part || mc->line.kind == BB_MEMCACHED_END;
}

static BbPart *reply_part(Reader *reader)
{
    Memcached *mc = reader->mc;
    if (mc->reply.begun)
        return &mc->reply;
    if (mc->headless) {
        mc->passing =
            may_be_rest(mc) && !bb_dialog_oldest_at(reader->dialog, reader->view, reader->at);
        mc->headless = false;
    }
    return mc->passing ? &reader->stream->aside : &mc->reply;
}

static Step read_log_line(Reader *reader, gsize length)
{
    bb_part_reset(&reader->stream->aside);
    take(reader, &reader->stream->aside, length);
    bb_dialog_message(reader->dialog, &reader->stream->aside, name(reader->dialog, "LOG"),
                      BB_NAME_NONE);
    return STEP_ON;
}

static Step read_server(Reader *reader)
{
    Memcached *mc = reader->mc;
    gsize length = find_line(reader);
    if (!length)
        return left(reader) < BB_MEMCACHED_LINE_MAX ? STEP_WAIT : STEP_BAD;
    const guint8 *text = here(reader);
    gsize text_length = trimmed(text, length);
    BbMemcachedLine line = bb_memcached_line(text, text_length);
    bool known = line.kind != BB_MEMCACHED_UNKNOWN;
    if (!known && !read_other_line(reader, &line, text_length))
        return mc->watching && is_text(text, text_length) ? read_log_line(reader, length)
                                                          : STEP_BAD;
    reader->stream->known |= known;
    mc->line = line;
    BbPart *part = reply_part(reader);
    take(reader, part, length);
    if (line.has_data) {
        begin_block(reader, part, line.data_length);
    } else if (line.kind != BB_MEMCACHED_PART) {
        end_answer(reader, line_status(reader->dialog, &line, text));
    }
    return STEP_ON;
}

// ---- finding the place again ------------------------------------------------------------------

static bool is_line(const Reader *reader, gsize length)
{
    gsize text = trimmed(here(reader), length);
    if (is_client(reader))
        return bb_memcached_command(here(reader), text, false).valid;
    BbMemcachedLine line = bb_memcached_line(here(reader), text);
    return line.kind != BB_MEMCACHED_UNKNOWN && is_text(here(reader), text);
}

// Looks for a line at the start of each packet: there answers and commands begin as a rule.
static Step find_start(Reader *reader)
{
    while (left(reader)) {
        const guint8 *newline = memchr(here(reader), '\n', left(reader));
        gsize length = newline ? (gsize)(newline - here(reader)) + 1 : left(reader);
        bool open = !newline && bb_memcached_probe(here(reader), length) == BB_MATCH_MORE;
        if (open && !reader->view->closed)
            return STEP_WAIT;
        if (open || (newline && is_line(reader, length))) {
            reader->stream->lost = false;
            bb_dialog_resynced(reader->dialog);
            return STEP_ON;
        }
        gsize next = bb_view_next_packet(reader->view, reader->at);
        bb_dialog_pass_over(reader->dialog, reader->view, reader->at, next);
        reader->at = next;
    }
    return STEP_WAIT;
}

static Step step(Reader *reader)
{
    if (reader->stream->in_block)
        return read_block(reader);
    if (!left(reader))
        return STEP_WAIT;
    if (reader->stream->lost)
        return find_start(reader);
    return is_client(reader) ? read_client(reader) : read_server(reader);
}

static gssize parse(BbDialog *dialog, void *state, const BbView *view)
{
    Memcached *mc = state;
    Reader reader = {
        .dialog = dialog, .mc = mc, .stream = &mc->stream[view->direction], .view = view};
    Step next;
    do {
        next = step(&reader);
        if (next == STEP_BAD) {
            // A side whose first line makes no sense is not memcached's.
            if (!reader.stream->known)
                return BB_PARSE_BAD;
            reader.stream->lost = true;
            reader.stream->scanned = 0;
        }
    } while (next != STEP_WAIT);
    return (gssize)reader.at;
}

static void gap(BbDialog *dialog, void *state, BbDirection direction)
{
    Memcached *mc = state;
    Stream *stream = &mc->stream[direction];
    stream->lost |= !stream->in_block;
    stream->scanned = 0;
    if (direction == BB_TO_SERVER) {
        if (stream->in_line)
            end_request(dialog, mc);
        stream->in_line = false;
        return;
    }
    mc->headless = true;
    mc->passing = false; // the end of what is passed over may be among the missing
    end_reply(dialog, mc, BB_NAME_NONE);
    stream->part = &stream->aside;
}

static void finish(BbDialog *dialog, void *state)
{
    Memcached *mc = state;
    if (mc->request.begun)
        end_request(dialog, mc);
    end_reply(dialog, mc, BB_NAME_NONE);
    bb_memcached_quiets_end(&mc->quiets, dialog, bb_memcached_quiets_count(&mc->quiets));
}

static gsize held(const void *state)
{
    const Memcached *mc = state;
    return bb_memcached_quiets_count(&mc->quiets) * sizeof(BbMemcachedQuiet);
}

static void let_go(BbDialog *dialog, void *state)
{
    Memcached *mc = state;
    bb_memcached_quiets_end(&mc->quiets, dialog, bb_memcached_quiets_count(&mc->quiets));
}

const BbDecoder bb_decoder_memcached = {
    .name = "memcached",
    .about = "memcached, text and meta commands: in order of the commands",
    .tcp = true,
    .ports = {11211},
    .state_size = sizeof(Memcached),
    .probe = bb_memcached_probe,
    .parse = parse,
    .gap = gap,
    .finish = finish,
    .held = held,
    .let_go = let_go,
};
