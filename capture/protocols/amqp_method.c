// SPDX-License-Identifier: Apache-2.0
// In: the payload of a method frame. Out: which method it is, its label, whether it is answered.
#include "capture/protocols/amqp_method.h"

#include "capture/cursor.h"
#include "capture/protocols/label.h"

#include <string.h>

#define SHORT_MAX 255u // AMQP 0-9-1, section 4.2.5.3: a short string
#define METHOD_HEAD 4u

#define CALL(class_id, id, reply, sender, no_wait, name, arguments)                   \
    {                                                                                 \
        class_id, id, reply, BB_AMQP_CALL, BB_AMQP_##sender, no_wait, name, arguments \
    }
#define REPLY(class_id, id, sender)                                  \
    {                                                                \
        class_id, id, id, BB_AMQP_REPLY, BB_AMQP_##sender, 0, "", "" \
    }
#define FREE(class_id, id, sender, name)                             \
    {                                                                \
        class_id, id, 0, BB_AMQP_FREE, BB_AMQP_##sender, 0, name, "" \
    }

// Arguments up to the last one of interest, a letter each: h 16 bits, l 64 bits, s a short string,
// n one that names what the method is about, x exchange, k routing key, b bits.
static const BbAmqpMethod methods[] = {
    CALL(10, 10, 11, SERVER, 0, "connection.start", ""),
    REPLY(10, 11, CLIENT),
    CALL(10, 20, 21, SERVER, 0, "connection.secure", ""),
    REPLY(10, 21, CLIENT),
    CALL(10, 30, 31, SERVER, 0, "connection.tune", ""),
    REPLY(10, 31, CLIENT),
    CALL(10, 40, 41, CLIENT, 0, "connection.open", ""),
    REPLY(10, 41, SERVER),
    {10, 50, 51, BB_AMQP_CLOSE, BB_AMQP_EITHER, 0, "connection.close", ""},
    {10, 51, 51, BB_AMQP_CLOSED, BB_AMQP_EITHER, 0, "", ""},
    FREE(10, 60, SERVER, "connection.blocked"),
    FREE(10, 61, SERVER, "connection.unblocked"),
    CALL(10, 70, 71, CLIENT, 0, "connection.update-secret", ""),
    REPLY(10, 71, SERVER),
    CALL(20, 10, 11, CLIENT, 0, "channel.open", ""),
    REPLY(20, 11, SERVER),
    CALL(20, 20, 21, EITHER, 0, "channel.flow", ""),
    REPLY(20, 21, EITHER),
    {20, 40, 41, BB_AMQP_CLOSE, BB_AMQP_EITHER, 0, "channel.close", ""},
    {20, 41, 41, BB_AMQP_CLOSED, BB_AMQP_EITHER, 0, "", ""},
    CALL(30, 10, 11, CLIENT, 0, "access.request", "n"), // 0-9 and older; RabbitMQ still answers it
    REPLY(30, 11, SERVER),
    CALL(40, 10, 11, CLIENT, 16, "exchange.declare", "hnsb"),
    REPLY(40, 11, SERVER),
    CALL(40, 20, 21, CLIENT, 2, "exchange.delete", "hnb"),
    REPLY(40, 21, SERVER),
    CALL(40, 30, 31, CLIENT, 1, "exchange.bind", "hnssb"),
    REPLY(40, 31, SERVER),
    CALL(40, 40, 51, CLIENT, 1, "exchange.unbind", "hnssb"),
    REPLY(40, 51, SERVER),
    CALL(50, 10, 11, CLIENT, 16, "queue.declare", "hnb"),
    REPLY(50, 11, SERVER),
    CALL(50, 20, 21, CLIENT, 1, "queue.bind", "hnssb"),
    REPLY(50, 21, SERVER),
    CALL(50, 30, 31, CLIENT, 1, "queue.purge", "hnb"),
    REPLY(50, 31, SERVER),
    CALL(50, 40, 41, CLIENT, 4, "queue.delete", "hnb"),
    REPLY(50, 41, SERVER),
    CALL(50, 50, 51, CLIENT, 0, "queue.unbind", "hn"),
    REPLY(50, 51, SERVER),
    CALL(60, 10, 11, CLIENT, 0, "basic.qos", ""),
    REPLY(60, 11, SERVER),
    CALL(60, 20, 21, CLIENT, 8, "basic.consume", "hnsb"),
    REPLY(60, 21, SERVER),
    CALL(60, 30, 31, EITHER, 1, "basic.cancel", "sb"),
    REPLY(60, 31, EITHER),
    {60, 40, 0, BB_AMQP_CONTENT, BB_AMQP_CLIENT, 0, "publish", "hxk"},
    {60, 50, 0, BB_AMQP_CONTENT, BB_AMQP_SERVER, 0, "return", "hsxk"},
    {60, 60, 0, BB_AMQP_CONTENT, BB_AMQP_SERVER, 0, "deliver", "slbxk"},
    CALL(60, 70, 71, CLIENT, 0, "basic.get", "hn"),
    {60, 71, 71, BB_AMQP_GET_OK, BB_AMQP_SERVER, 0, "", ""},
    {60, 72, 71, BB_AMQP_REPLY, BB_AMQP_SERVER, 0, "", ""}, // get-empty
    FREE(60, 80, EITHER, "ack"),
    FREE(60, 90, CLIENT, "reject"),
    FREE(60, 100, CLIENT, "basic.recover-async"),
    CALL(60, 110, 111, CLIENT, 0, "basic.recover", ""),
    REPLY(60, 111, SERVER),
    FREE(60, 120, EITHER, "nack"),
    CALL(85, 10, 11, CLIENT, 1, "confirm.select", "b"),
    REPLY(85, 11, SERVER),
    CALL(90, 10, 11, CLIENT, 0, "tx.select", ""),
    REPLY(90, 11, SERVER),
    CALL(90, 20, 21, CLIENT, 0, "tx.commit", ""),
    REPLY(90, 21, SERVER),
    CALL(90, 30, 31, CLIENT, 0, "tx.rollback", ""),
    REPLY(90, 31, SERVER),
};

// What 0-8 means by numbers that RabbitMQ gave to messages of the server.
static const BbAmqpMethod old_methods[] = {
    {10, 60, 61, BB_AMQP_CLOSE, BB_AMQP_EITHER, 0, "connection.close", ""},
    {10, 61, 61, BB_AMQP_CLOSED, BB_AMQP_EITHER, 0, "", ""},
};

static const BbAmqpMethod *find_method(const BbAmqpMethod *table, gsize count,
                                       const guint8 *payload, gsize length)
{
    BbCursor c = bb_cursor(payload, length);
    guint16 class_id = bb_cursor_be16(&c), method_id = bb_cursor_be16(&c);
    for (gsize i = 0; i < count && bb_cursor_ok(&c); i++)
        if (table[i].class_id == class_id && table[i].method_id == method_id)
            return &table[i];
    return NULL;
}

static const BbAmqpMethod *find_old(const guint8 *payload, gsize length)
{
    return find_method(old_methods, G_N_ELEMENTS(old_methods), payload, length);
}

const BbAmqpMethod *bb_amqp_method(const guint8 *payload, gsize length, bool old)
{
    const BbAmqpMethod *method = old ? find_old(payload, length) : NULL;
    return method ? method : find_method(methods, G_N_ELEMENTS(methods), payload, length);
}

bool bb_amqp_is_old(const guint8 *payload, gsize length)
{
    return find_old(payload, length) != NULL;
}

const BbAmqpMethod *bb_amqp_next_call(const BbAmqpMethod *previous)
{
    const BbAmqpMethod *next = previous ? previous + 1 : methods;
    for (; next < methods + G_N_ELEMENTS(methods); next++)
        if (next->kind == BB_AMQP_CALL)
            return next;
    return NULL;
}

// ---- arguments ----------------------------------------------------------------------------------

typedef struct Arguments {
    BbCursor name, exchange, key; // short strings
    guint8 bits;
} Arguments;

static Arguments read_arguments(const BbAmqpMethod *method, const guint8 *payload, gsize length)
{
    Arguments found = {0};
    BbCursor c = bb_cursor(payload, length), text;
    bb_cursor_skip(&c, METHOD_HEAD);
    for (const char *at = method->arguments; *at; at++) {
        switch (*at) {
        case 'h':
            bb_cursor_skip(&c, 2);
            break;
        case 'l':
            bb_cursor_skip(&c, 8);
            break;
        case 'b':
            found.bits = bb_cursor_u8(&c);
            break;
        default:
            text.left = bb_cursor_u8(&c);
            text = bb_cursor(bb_cursor_take(&c, text.left), text.left);
            if (!text.at)
                text.left = 0;
            if (*at != 's')
                *(*at == 'n' ? &found.name : *at == 'x' ? &found.exchange : &found.key) = text;
        }
    }
    return found;
}

bool bb_amqp_is_no_wait(const BbAmqpMethod *method, const guint8 *payload, gsize length)
{
    return method->no_wait && read_arguments(method, payload, length).bits & method->no_wait;
}

guint16 bb_amqp_close_code(const guint8 *payload, gsize length)
{
    BbCursor c = bb_cursor(payload, length);
    bb_cursor_skip(&c, METHOD_HEAD);
    return bb_cursor_be16(&c);
}

// ---- labels -------------------------------------------------------------------------------------

// Appends a name; one that the server made up is random behind its prefix.
static gsize append_name(guint8 *out, gsize at, BbCursor name)
{
    static const char *const made_up[] = {"amq.gen-", "amq.ctag-", "amq.rabbitmq.reply-to."};
    gsize length = MIN(name.left, SHORT_MAX);
    for (guint i = 0; i < G_N_ELEMENTS(made_up); i++) {
        gsize prefix = strlen(made_up[i]);
        if (length <= prefix || memcmp(name.at, made_up[i], prefix) != 0)
            continue;
        memcpy(out + at, name.at, prefix);
        out[at + prefix] = '*';
        return at + prefix + 1;
    }
    if (length)
        memcpy(out + at, name.at, length);
    return at + length;
}

gsize bb_amqp_label(char *out, const BbAmqpMethod *method, const guint8 *payload, gsize length)
{
    guint8 text[2 * SHORT_MAX + 2];
    Arguments arguments = read_arguments(method, payload, length);
    bool routed = method->kind == BB_AMQP_CONTENT;
    gsize size = append_name(text, 0, routed ? arguments.exchange : arguments.name);
    if (routed && size && arguments.key.left)
        text[size++] = '/';
    if (routed)
        size = append_name(text, size, arguments.key);
    return bb_label_topic(out, method->name, text, size, "./");
}
