// SPDX-License-Identifier: Apache-2.0
// In: the bytes of SMTP (RFC 5321) and LMTP (RFC 2033) connections, with PIPELINING (RFC 2920),
// CHUNKING (RFC 3030), AUTH (RFC 4954). Out: commands with their replies, in order; DATA with the
// mail is one call, so is AUTH with what it asks and gets; greetings are free. After STARTTLS
// (RFC 3207) the connection is handed on.
//
// Labels are known verbs only: in what else a client may say there could be a password.
#include "capture/protocols/smtp_line.h"
#include "capture/protocols/tls_record.h"

#include <string.h>

enum { CODE_READY = 220, CODE_AUTH_GO_ON = 334, CODE_DATA_GO_ON = 354, CODE_CLOSING = 421 };

typedef enum {
    CLIENT_COMMAND,
    CLIENT_BODY,  // mail, up to a line with a dot
    CLIENT_REST,  // mail that belongs to no open call
    CLIENT_CHUNK, // the dialog skips what BDAT announced
    CLIENT_ANSWER // one line that belongs to AUTH
} ClientPhase;

typedef struct Client {
    BbPart part; // of the command under way
    guint64 call;
    BbSmtpCommand command; // under way
    ClientPhase phase;
    guint8 dot;      // bytes of CR LF . CR LF that were seen at the end of the mail so far
    bool in_line;    // the rest of a line is being dropped
    bool data_asked; // DATA was sent, and no answer was seen
    bool lost, known;
} Client;

typedef struct Server {
    BbPart part;
    guint64 call; // LMTP: the one that gets several replies
    guint due;    // and how many are still to come, one a recipient
    guint failed; // and the first of them that is a refusal; 0: none
    guint code;   // of the reply under way; 0: none
    bool more;    // its line under way is not the last one
    bool in_line; // the rest of a line is being dropped
    bool missed;  // replies are missing since the last one that had its command
    bool lost, known;
} Server;

typedef struct Smtp {
    Client client;
    Server server;
    guint accepted; // LMTP: recipients
    bool lmtp;
} Smtp;

// ---- what a client says -----------------------------------------------------------------------

static void end_command(BbDialog *dialog, Client *client)
{
    bb_dialog_sent(dialog, client->call, &client->part);
    bb_part_reset(&client->part);
    client->call = 0;
    client->phase = CLIENT_COMMAND;
}

static void open_command(BbDialog *dialog, Smtp *smtp)
{
    Client *client = &smtp->client;
    const char *name = client->command.name ? client->command.name : "?";
    guint32 tag = client->command.verb;
    if (tag == BB_SMTP_CHUNK && client->command.last)
        tag = BB_SMTP_DATA; // the mail ends with it
    guint32 op = bb_dialog_label(dialog, name, strlen(name));
    client->call = bb_dialog_open(dialog, &client->part, op, 0, tag);
    smtp->lmtp |= tag == BB_SMTP_LMTP_HELLO;
}

// The command's line is over.
static void end_line(BbDialog *dialog, Client *client)
{
    client->data_asked = client->command.verb == BB_SMTP_DATA;
    if (client->data_asked)
        return; // the mail belongs to it
    if (client->command.verb == BB_SMTP_CHUNK && client->command.chunk) {
        client->phase = CLIENT_CHUNK;
        bb_dialog_skip(dialog, BB_TO_SERVER, client->command.chunk, &client->part);
        return;
    }
    end_command(dialog, client);
}

// TLS that begins here, though nobody was seen to agree on it. MORE: too few bytes to tell.
static BbMatch match_tls(const BbView *view, gsize at)
{
    if (view->data[at] != BB_TLS_HANDSHAKE)
        return BB_MATCH_NO;
    BbMatch match = bb_tls_probe(view->data + at, view->length - at);
    bool hello = match == BB_MATCH_REQUEST || match == BB_MATCH_REPLY;
    return hello || (match == BB_MATCH_MORE && !view->closed) ? match : BB_MATCH_NO;
}

// After a gap: the next packet, or line, that is a command by more than its verb, or TLS.
static gssize find_command(BbDialog *dialog, Client *client, const BbView *view)
{
    gsize at = 0;
    while (at < view->length) {
        gsize left = view->length - at;
        const guint8 *newline = memchr(view->data + at, '\n', left);
        if (match_tls(view, at) != BB_MATCH_NO)
            break;
        if (!newline && left < BB_SMTP_LINE_MAX && !view->closed)
            break;
        client->lost = !bb_smtp_command(view->data + at, left).sure;
        if (!client->lost) {
            bb_dialog_resynced(dialog);
            break;
        }
        gsize line = newline ? (gsize)(newline - view->data) + 1 : view->length;
        at = MIN(line, bb_view_next_packet(view, at));
    }
    bb_dialog_pass_over(dialog, view, 0, at);
    return (gssize)at;
}

// Nobody says what no server may know before the last answer was there: such a line is mail, or
// encrypted, or a password, and what announced it was not seen.
static bool is_command(BbDialog *dialog, const Smtp *smtp, const guint8 *line, gsize length)
{
    if (smtp->client.command.name)
        return true;
    return !bb_dialog_open_calls(dialog) && !smtp->server.missed && bb_smtp_is_text(line, length);
}

static gssize take_command(BbDialog *dialog, Smtp *smtp, const BbView *view, gsize length, bool end)
{
    Client *client = &smtp->client;
    client->command = bb_smtp_command(view->data, length);
    if (!client->command.sure && client->data_asked) { // its permission was not seen
        client->data_asked = false;
        client->phase = CLIENT_BODY;
        client->dot = 2;
        return 0;
    }
    if (!client->command.name && !client->known)
        return BB_PARSE_BAD;
    if (!is_command(dialog, smtp, view->data, length)) {
        client->lost = true;
        return find_command(dialog, client, view);
    }
    if (client->data_asked) // it was refused, unseen
        end_command(dialog, client);
    client->known = true;
    bb_part_add(&client->part, view, 0, length);
    open_command(dialog, smtp);
    client->in_line = !end;
    if (end)
        end_line(dialog, client);
    return (gssize)length;
}

static gssize drop_line(BbDialog *dialog, Smtp *smtp, const BbView *view, gsize length, bool end)
{
    Client *client = &smtp->client;
    client->in_line = !end;
    if (client->phase == CLIENT_ANSWER) {
        client->phase = end ? CLIENT_COMMAND : CLIENT_ANSWER;
        return (gssize)length;
    }
    bb_part_add(&client->part, view, 0, length);
    if (end)
        end_line(dialog, client);
    return (gssize)length;
}

// Takes mail up to its end: CR LF . CR LF, of which the first line end may be that of DATA.
static gssize take_body(BbDialog *dialog, Client *client, const BbView *view)
{
    static const char end[] = "\r\n.\r\n";
    gsize at = 0;
    while (at < view->length && client->dot < 5) {
        if (client->dot == 0) {
            const guint8 *cr = memchr(view->data + at, '\r', view->length - at);
            at = cr ? (gsize)(cr - view->data) : view->length;
            if (!cr)
                break;
        }
        guint8 byte = view->data[at++];
        client->dot = byte == (guint8)end[client->dot] ? client->dot + 1 : byte == '\r';
    }
    bb_part_add(&client->part, view, 0, at);
    if (client->dot == 5)
        end_command(dialog, client);
    return (gssize)at;
}

// Mail that goes on though it has its answer, or whose DATA was not seen: up to its end, or to a
// packet that begins with a command.
static gssize take_rest(Client *client, const BbView *view)
{
    gsize at = 0;
    while (at < view->length) {
        const guint8 *line = view->data + at;
        gsize left = view->length - at;
        const guint8 *newline = memchr(line, '\n', left);
        gsize length = newline ? (gsize)(newline - line) + 1 : left;
        if (!newline && left < BB_SMTP_LINE_MAX && !view->closed)
            break;
        bool packet = at == 0 || bb_view_next_packet(view, at - 1) == at;
        bool command = packet && bb_smtp_command(line, length).sure;
        bool end = length == 3 && memcmp(line, ".\r\n", length) == 0;
        at += command ? 0 : length;
        if (command || end) {
            client->phase = CLIENT_COMMAND;
            break;
        }
    }
    return (gssize)at;
}

// Returns whether TLS begins, or may begin once more bytes are there.
static bool begins_tls(BbDialog *dialog, const Client *client, const BbView *view)
{
    if (!view->length || client->phase != CLIENT_COMMAND || client->in_line)
        return false;
    BbMatch match = match_tls(view, 0);
    if (match == BB_MATCH_REQUEST || match == BB_MATCH_REPLY)
        bb_dialog_switch(dialog);
    return match != BB_MATCH_NO;
}

static gssize parse_client(BbDialog *dialog, Smtp *smtp, const BbView *view)
{
    Client *client = &smtp->client;
    if (client->phase == CLIENT_CHUNK)
        end_command(dialog, client); // all of it was skipped
    if (begins_tls(dialog, client, view))
        return 0;
    if (client->lost) {
        gssize passed = find_command(dialog, client, view);
        if (passed || client->lost)
            return passed;
    }
    if (!view->length)
        return 0;
    if (client->phase == CLIENT_BODY)
        return take_body(dialog, client, view);
    if (client->phase == CLIENT_REST) {
        gssize passed = take_rest(client, view);
        if (passed || client->phase == CLIENT_REST)
            return passed;
    }
    const guint8 *newline = memchr(view->data, '\n', view->length);
    gsize length = newline ? (gsize)(newline - view->data) + 1 : view->length;
    if (!newline && length < BB_SMTP_LINE_MAX && !view->closed && !client->in_line)
        return 0;
    if (client->in_line || client->phase == CLIENT_ANSWER)
        return drop_line(dialog, smtp, view, length, newline);
    gssize taken = take_command(dialog, smtp, view, length, newline);
    return taken ? taken : take_body(dialog, client, view);
}

// ---- what a server says -----------------------------------------------------------------------

// Whatever was lost, what the client says next is known.
static void go_on(BbDialog *dialog, Client *client, ClientPhase phase)
{
    if (client->lost)
        bb_dialog_resynced(dialog);
    client->lost = false;
    client->phase = phase;
}

// What is said before the call is over. Returns whether this was such.
static bool take_interim(BbDialog *dialog, Smtp *smtp, const BbOpenCall *open, guint code)
{
    Client *client = &smtp->client;
    if (open->tag == BB_SMTP_AUTH && code == CODE_AUTH_GO_ON) {
        if (!client->in_line)
            go_on(dialog, client, CLIENT_ANSWER);
        return true;
    }
    if (open->tag != BB_SMTP_DATA || code != CODE_DATA_GO_ON)
        return false;
    if (client->call != open->call || !client->data_asked)
        return true; // the client did not wait for it
    client->data_asked = false;
    client->phase = CLIENT_BODY;
    client->dot = 2; // a line has just ended
    return true;
}

// The same of a call that is not open: that call was not seen, or given up. What the client says
// next is known all the same.
static bool take_lone_interim(BbDialog *dialog, Client *client, guint code)
{
    if (code != CODE_AUTH_GO_ON && code != CODE_DATA_GO_ON)
        return false;
    if (client->phase != CLIENT_COMMAND || client->data_asked || client->in_line)
        return true;
    go_on(dialog, client, code == CODE_DATA_GO_ON ? CLIENT_REST : CLIENT_ANSWER);
    return true;
}

// The call has its answer: what the client was still saying belongs to nothing else.
static void end_call(BbDialog *dialog, Smtp *smtp, const BbOpenCall *open, guint code)
{
    Client *client = &smtp->client;
    guint32 tag = open->tag;
    if (open->call == client->call && client->phase != CLIENT_CHUNK) {
        bool goes_on = client->phase == CLIENT_BODY;
        client->data_asked = false;
        end_command(dialog, client);
        client->phase = goes_on ? CLIENT_REST : CLIENT_COMMAND;
    }
    if (tag == BB_SMTP_AUTH && client->phase == CLIENT_ANSWER)
        client->phase = CLIENT_COMMAND; // the answer was lost (RFC 4954, 4)
    if (tag == BB_SMTP_RCPT && code < 300)
        smtp->accepted++;
    else if (tag == BB_SMTP_MAIL || tag == BB_SMTP_RESET || tag == BB_SMTP_DATA)
        smtp->accepted = 0;
    if (tag == BB_SMTP_TLS && code == CODE_READY)
        bb_dialog_switch(dialog);
}

// LMTP answers the end of a mail once for each recipient (RFC 2033, 4.2). The first refusal, if
// there is one, is the status of the call.
static bool more_due(Smtp *smtp, const BbOpenCall *open)
{
    Server *server = &smtp->server;
    bool mail = smtp->lmtp && open->tag == BB_SMTP_DATA && open->call != smtp->client.call;
    if (server->call != open->call) {
        server->due = mail ? MAX(smtp->accepted, 1) : 1;
        server->failed = 0;
    }
    server->call = open->call;
    if (server->code >= 400 && !server->failed)
        server->failed = server->code;
    return --server->due > 0;
}

static void answer(BbDialog *dialog, Smtp *smtp, const BbOpenCall *open)
{
    Server *server = &smtp->server;
    guint64 call = open ? open->call : 0;
    guint code = open && server->failed ? server->failed : server->code;
    if (open) {
        end_call(dialog, smtp, open, code);
        server->missed = false;
    }
    bb_dialog_return(dialog, call, &server->part, bb_dialog_status_code(dialog, code));
}

static void forget_reply(Server *server)
{
    server->code = 0;
    server->call = 0;
    server->in_line = server->more = false;
    bb_part_reset(&server->part);
}

// What a server says before it was asked, even where the client did not wait for it: 220 answers
// only what begins a session anew (STARTTLS, XCLIENT); a refusal may be that of a command.
static bool is_greeting(const Server *server, const BbOpenCall *open)
{
    bool anew = open && (open->tag == BB_SMTP_TLS || open->tag == BB_SMTP_OTHER);
    if (server->known)
        return false;
    return (server->code == CODE_READY && !anew) || (server->code >= 500 && !open);
}

static void end_reply(BbDialog *dialog, Smtp *smtp)
{
    Server *server = &smtp->server;
    guint code = server->code;
    const BbOpenCall *open = bb_dialog_oldest(dialog, &server->part);
    bool greeting = is_greeting(server, open);
    server->known = true;
    bb_dialog_continues(dialog, BB_TO_SERVER, code == CODE_AUTH_GO_ON);
    if (greeting)
        open = NULL;
    if (open ? take_interim(dialog, smtp, open, code)
             : take_lone_interim(dialog, &smtp->client, code)) {
        forget_reply(server);
        return;
    }
    if (open && more_due(smtp, open))
        return;
    if (!open && (code == CODE_CLOSING || greeting))
        bb_dialog_message(dialog, &server->part, BB_NAME_NONE, bb_dialog_status_code(dialog, code));
    else
        answer(dialog, smtp, open);
    forget_reply(server);
}

// What was seen of a reply whose end is missing.
static void end_reply_early(BbDialog *dialog, Smtp *smtp)
{
    Server *server = &smtp->server;
    if (server->part.begun && server->code) {
        server->due = 1; // replies that are missing
        end_reply(dialog, smtp);
    }
    forget_reply(server);
}

static gssize find_reply(BbDialog *dialog, Server *server, const BbView *view)
{
    gsize at = 0;
    bool more;
    for (; at < view->length; at = bb_view_next_packet(view, at)) {
        gsize left = view->length - at;
        if (left < BB_SMTP_REPLY_HEAD && g_ascii_isdigit(view->data[at]) && !view->closed)
            break;
        server->lost = !bb_smtp_reply(view->data + at, left, false, &more);
        if (!server->lost) {
            bb_dialog_resynced(dialog);
            break;
        }
    }
    bb_dialog_pass_over(dialog, view, 0, at);
    return (gssize)at;
}

static gssize not_a_reply(BbDialog *dialog, Smtp *smtp, const BbView *view)
{
    if (!smtp->server.known)
        return BB_PARSE_BAD;
    end_reply_early(dialog, smtp);
    smtp->server.lost = smtp->server.missed = true;
    gsize next = bb_view_next_packet(view, 0);
    bb_dialog_pass_over(dialog, view, 0, next);
    return (gssize)next;
}

static gssize parse_server(BbDialog *dialog, Smtp *smtp, const BbView *view)
{
    Server *server = &smtp->server;
    if (server->lost) {
        gssize passed = find_reply(dialog, server, view);
        if (passed || server->lost)
            return passed;
    }
    if (!view->length)
        return 0;
    const guint8 *newline = memchr(view->data, '\n', view->length);
    gsize length = newline ? (gsize)(newline - view->data) + 1 : view->length;
    if (!server->in_line) {
        if (!newline && length < BB_SMTP_LINE_MAX && !view->closed)
            return 0;
        server->code = bb_smtp_reply(view->data, length, server->known, &server->more);
        if (!server->code)
            return not_a_reply(dialog, smtp, view);
    }
    bb_part_add(&server->part, view, 0, length);
    server->in_line = !newline;
    if (newline && !server->more)
        end_reply(dialog, smtp);
    return (gssize)length;
}

// ---- the decoder ------------------------------------------------------------------------------

static gssize parse(BbDialog *dialog, void *state, const BbView *view)
{
    return view->direction == BB_TO_SERVER ? parse_client(dialog, state, view)
                                           : parse_server(dialog, state, view);
}

// Mail goes on behind missing bytes: its end, or the reply to it, tells when it is over.
static void gap(BbDialog *dialog, void *state, BbDirection direction)
{
    Smtp *smtp = state;
    Client *client = &smtp->client;
    if (direction == BB_TO_CLIENT) {
        end_reply_early(dialog, smtp);
        smtp->server.lost = smtp->server.missed = true;
    } else if (client->phase == CLIENT_REST) {
        return;
    } else if (client->phase == CLIENT_BODY || client->data_asked) {
        client->dot = 0;
        client->phase = CLIENT_BODY;
    } else {
        end_command(dialog, client);
        client->in_line = false;
        client->lost = true;
    }
}

static void finish(BbDialog *dialog, void *state)
{
    Smtp *smtp = state;
    end_command(dialog, &smtp->client);
    end_reply_early(dialog, smtp);
}

const BbDecoder bb_decoder_smtp = {
    .name = "smtp",
    .about = "SMTP and LMTP (RFC 5321, 2033): in order of the commands",
    .tcp = true,
    .ports = {25, 587, 465, 24, 2525},
    .state_size = sizeof(Smtp),
    .probe = bb_smtp_probe,
    .parse = parse,
    .gap = gap,
    .finish = finish,
};
