// SPDX-License-Identifier: Apache-2.0
// In: bytes of both directions. Out: a call for each head, its reply as the return.
#include "capture/protocols/cgi_exchange.h"

#include "capture/protocols/lost.h"

static void end_request(BbCgiExchange *exchange, BbDialog *dialog)
{
    if (exchange->request.begun)
        bb_dialog_sent(dialog, exchange->call, &exchange->request);
    bb_part_reset(&exchange->request);
    exchange->sending = false;
}

static void end_reply(BbCgiExchange *exchange, BbDialog *dialog)
{
    if (!exchange->reply.begun)
        return;
    if (exchange->answers == exchange->call) // answered before it was complete
        end_request(exchange, dialog);
    bb_cgi_head_end(&exchange->head);
    bb_dialog_return(dialog, exchange->answers, &exchange->reply,
                     bb_cgi_head_status(&exchange->head, dialog));
    bb_part_reset(&exchange->reply);
    exchange->head = (BbCgiHead){0};
}

// ---- requests -----------------------------------------------------------------------------------

// A head is over, as far as it was seen. Where another comes on the same connection, the reply to
// the one before is over.
static gssize take_head(BbCgiExchange *exchange, const BbCgiForm *form, BbDialog *dialog,
                        const BbView *view, gsize head)
{
    BbCgiVars vars = {0};
    gsize seen = MIN(view->length, head);
    end_reply(exchange, dialog);
    bb_dialog_skip(dialog, BB_TO_CLIENT, 0, NULL); // not the next reply as well
    form->read(&vars, view->data, seen);
    bb_part_reset(&exchange->request);
    bb_part_add(&exchange->request, view, 0, seen);
    exchange->call =
        bb_dialog_open(dialog, &exchange->request, bb_cgi_vars_label(&vars, dialog), 0, 0);
    exchange->good = exchange->sending = true;
    exchange->passing = false;
    guint64 rest = head - seen + (vars.has_length ? vars.length : 0);
    bool known = vars.has_length || seen == head; // no CONTENT_LENGTH: no body
    if (rest || !known)
        bb_dialog_skip(dialog, BB_TO_SERVER, known ? rest : BB_SKIP_REST, &exchange->request);
    else
        end_request(exchange, dialog);
    return (gssize)seen;
}

static gssize parse_request(BbCgiExchange *exchange, const BbCgiForm *form, BbDialog *dialog,
                            const BbView *view)
{
    if (exchange->sending)
        end_request(exchange, dialog);
    if (exchange->lost) {
        gssize passed = bb_lost_find(&exchange->lost, dialog, view, form->probe, BB_MATCH_REQUEST);
        if (passed || exchange->lost)
            return passed;
    }
    if (!view->length)
        return 0;
    BbMatch match = form->probe(view->data, view->length);
    if (match == BB_MATCH_MORE && !view->closed)
        return 0;
    if (match == BB_MATCH_NO || match == BB_MATCH_MORE) {
        return exchange->good ? bb_lost_here(&exchange->lost, dialog, view) : BB_PARSE_BAD;
    }
    gsize head = form->measure(view->data, view->length);
    if (!view->closed && (head == 0 || view->length < MIN(head, BB_CGI_WANTED)))
        return 0;
    return take_head(exchange, form, dialog, view, head ? head : view->length);
}

// ---- replies ------------------------------------------------------------------------------------

static gssize parse_reply(BbCgiExchange *exchange, BbDialog *dialog, const BbView *view)
{
    if (exchange->passing)
        return (gssize)view->length;
    if (view->length && !exchange->reply.begun) {
        const BbOpenCall *open = bb_dialog_oldest_at(dialog, view, 0);
        exchange->answers = open ? open->call : 0;
    }
    bb_part_add(&exchange->reply, view, 0, view->length);
    bb_cgi_head_feed(&exchange->head, view->data, view->length);
    if (view->closed)
        end_reply(exchange, dialog);
    else if (exchange->head.done)
        bb_dialog_skip(dialog, BB_TO_CLIENT, BB_SKIP_REST, &exchange->reply);
    return (gssize)view->length;
}

// ---- the decoder --------------------------------------------------------------------------------

gssize bb_cgi_exchange_parse(BbCgiExchange *exchange, const BbCgiForm *form, BbDialog *dialog,
                             const BbView *view)
{
    return view->direction == BB_TO_SERVER ? parse_request(exchange, form, dialog, view)
                                           : parse_reply(exchange, dialog, view);
}

void bb_cgi_exchange_gap(BbCgiExchange *exchange, BbDialog *dialog, BbDirection direction)
{
    if (direction == BB_TO_SERVER) {
        end_request(exchange, dialog);
        exchange->lost = true;
        return;
    }
    bb_cgi_head_lose(&exchange->head);
    end_reply(exchange, dialog);
    exchange->passing = true;
}

void bb_cgi_exchange_finish(BbCgiExchange *exchange, BbDialog *dialog)
{
    end_request(exchange, dialog);
    end_reply(exchange, dialog);
}
