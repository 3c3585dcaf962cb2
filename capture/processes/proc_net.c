// SPDX-License-Identifier: Apache-2.0
// In: text of /proc/PID/net. Out: sockets, addresses.
#include "capture/processes/proc_net.h"

// What is left of a line.
typedef struct Line {
    const char *at, *end;
    bool broken;
} Line;

// NULL may be an empty text.
static Line lines_of(const char *text, gsize length)
{
    return (Line){.at = text, .end = length ? text + length : text};
}

// The next line of text; false at its end.
static bool next_line(Line *rest, Line *line)
{
    if (rest->at == rest->end)
        return false;
    const char *end = memchr(rest->at, '\n', (gsize)(rest->end - rest->at));
    *line = (Line){.at = rest->at, .end = end ? end : rest->end};
    rest->at = end ? end + 1 : rest->end;
    return true;
}

static void skip_blanks(Line *line)
{
    while (line->at < line->end && *line->at == ' ')
        line->at++;
}

// A field, up to a blank.
static Line take_field(Line *line)
{
    skip_blanks(line);
    const char *from = line->at;
    while (line->at < line->end && *line->at != ' ')
        line->at++;
    return (Line){.at = from, .end = line->at};
}

static guint32 take_hex(Line *line, guint digits)
{
    guint32 value = 0;
    for (guint i = 0; i < digits; i++) {
        int digit = line->at < line->end ? g_ascii_xdigit_value(*line->at) : -1;
        if (digit < 0) {
            line->broken = true;
            return 0;
        }
        value = value << 4 | (guint32)digit;
        line->at++;
    }
    return value;
}

// "0100007F:1F90": words of 32 bits as this machine has them in memory, and the port.
static bool read_end(Line field, BbAddress *address, guint16 *port)
{
    gsize digits = 0;
    while (field.at + digits < field.end && field.at[digits] != ':')
        digits++;
    if (digits != 8 && digits != 32)
        return false;
    guint32 words[4] = {0};
    for (guint i = 0; i < digits / 8; i++)
        words[i] = take_hex(&field, 8);
    *address =
        digits == 8 ? bb_address_v4((const guint8 *)words) : bb_address_v6((const guint8 *)words);
    if (field.at == field.end || *field.at++ != ':')
        return false;
    *port = (guint16)take_hex(&field, 4);
    return !field.broken && field.at == field.end;
}

static guint64 read_decimal(Line field)
{
    guint64 value = 0;
    for (; field.at < field.end && g_ascii_isdigit(*field.at); field.at++) {
        if (value > G_MAXUINT32)
            return 0; // inodes of sockets are of 32 bits
        value = value * 10 + (guint64)(*field.at - '0');
    }
    return field.at == field.end ? value : 0;
}

// "sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout inode ..."
static bool read_socket(Line line, guint8 protocol, BbSocket *socket)
{
    enum { LISTENS = 10, CLOSED = 7, TIME_WAIT = 6 };
    *socket = (BbSocket){.key.protocol = protocol};
    BbSocketKey *key = &socket->key;
    (void)take_field(&line);
    if (!read_end(take_field(&line), &key->local, &key->port) ||
        !read_end(take_field(&line), &key->peer, &key->peer_port) || key->port == 0)
        return false;
    Line state_field = take_field(&line);
    guint32 state = take_hex(&state_field, 2);
    for (guint i = 0; i < 5; i++)
        (void)take_field(&line);
    socket->inode = read_decimal(take_field(&line));
    bool waits = protocol == BB_SOCKET_TCP ? state == LISTENS : state == CLOSED;
    if (waits)
        *key = bb_socket_key_bound(key);
    return !state_field.broken && state != TIME_WAIT && (waits || key->peer_port != 0);
}

void bb_proc_net_sockets(const char *text, gsize length, guint8 protocol, GArray *sockets,
                         guint max)
{
    Line rest = lines_of(text, length), line;
    BbSocket socket;
    while (sockets->len < max && next_line(&rest, &line))
        if (read_socket(line, protocol, &socket))
            g_array_append_val(sockets, socket);
}

static void add_address(GArray *addresses, const BbAddress *address, guint max)
{
    for (guint i = 0; i < addresses->len; i++)
        if (bb_address_equal(&g_array_index(addresses, BbAddress, i), address))
            return;
    if (addresses->len < max)
        g_array_append_val(addresses, *address);
}

// "|-- 10.0.0.1", and below it "/32 host LOCAL".
void bb_proc_net_fib_trie(const char *text, gsize length, GArray *addresses, guint max)
{
    Line rest = lines_of(text, length), line;
    BbAddress address;
    bool known = false;
    while (next_line(&rest, &line)) {
        Line mark = take_field(&line), word = take_field(&line), last = take_field(&line);
        gsize size = (gsize)(mark.end - mark.at), rest_size = (gsize)(word.end - word.at);
        char copy[BB_ADDRESS_TEXT];
        if (size == 3 && memcmp(mark.at, "|--", 3) == 0 && rest_size < sizeof copy) {
            memcpy(copy, word.at, rest_size);
            copy[rest_size] = '\0';
            known = bb_address_parse(copy, &address) && bb_address_is_v4(&address);
        } else if (known && size == 3 && memcmp(mark.at, "/32", 3) == 0 &&
                   last.end - last.at == 5 && memcmp(last.at, "LOCAL", 5) == 0) {
            add_address(addresses, &address, max);
        }
    }
}

// "fe8000000000000000fc00fffe000001 04 40 20 80 eth0"
void bb_proc_net_if_inet6(const char *text, gsize length, GArray *addresses, guint max)
{
    Line rest = lines_of(text, length), line;
    while (next_line(&rest, &line)) {
        Line field = take_field(&line);
        guint32 words[4];
        for (guint i = 0; i < G_N_ELEMENTS(words); i++)
            words[i] = GUINT32_TO_BE(take_hex(&field, 8));
        BbAddress address = bb_address_v6((const guint8 *)words);
        if (!field.broken && field.at == field.end)
            add_address(addresses, &address, max);
    }
}
