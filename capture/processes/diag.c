// SPDX-License-Identifier: Apache-2.0
// In: datagrams of the kernel. Out: sockets.
#include "capture/processes/diag.h"

#include "capture/cursor.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <sys/socket.h>

// States of sockets (include/net/tcp_states.h of Linux).
enum {
    ESTABLISHED = 1,
    SYN_SENT,
    FIN_WAIT1 = 4,
    FIN_WAIT2,
    CLOSE = 7,
    CLOSE_WAIT,
    LAST_ACK,
    LISTEN
};
#define BIT(state) (1u << (state))
#define TCP_STATES                                                                          \
    (BIT(ESTABLISHED) | BIT(SYN_SENT) | BIT(FIN_WAIT1) | BIT(FIN_WAIT2) | BIT(CLOSE_WAIT) | \
     BIT(LAST_ACK))

static guint32 states_of(guint8 protocol, bool waiting)
{
    if (protocol == BB_SOCKET_TCP)
        return waiting ? BIT(LISTEN) : TCP_STATES;
    return waiting ? BIT(CLOSE) : BIT(ESTABLISHED);
}

void bb_diag_request(guint8 family, guint8 protocol, bool waiting, guint32 number,
                     guint8 out[BB_DIAG_REQUEST])
{
    struct {
        struct nlmsghdr head;
        struct inet_diag_req_v2 request;
    } message = {
        .head = {.nlmsg_len = sizeof message,
                 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
                 .nlmsg_seq = number},
        .request = {.sdiag_family = family,
                    .sdiag_protocol = protocol,
                    .idiag_states = states_of(protocol, waiting)},
    };
    G_STATIC_ASSERT(sizeof message == BB_DIAG_REQUEST);
    memcpy(out, &message, sizeof message);
}

// Netlink is in the order of this machine.
static guint32 own32(BbCursor *cursor)
{
    guint32 word = 0;
    const guint8 *at = bb_cursor_take(cursor, sizeof word);
    if (at)
        memcpy(&word, at, sizeof word);
    return word;
}

static guint16 own16(BbCursor *cursor)
{
    guint16 word = 0;
    const guint8 *at = bb_cursor_take(cursor, sizeof word);
    if (at)
        memcpy(&word, at, sizeof word);
    return word;
}

static BbAddress read_address(BbCursor *cursor, guint8 family)
{
    BbAddress address = {0};
    const guint8 *at = bb_cursor_take(cursor, sizeof address.bytes);
    if (at)
        address = family == AF_INET ? bb_address_v4(at) : bb_address_v6(at);
    return address;
}

// struct inet_diag_msg.
static bool read_socket(BbCursor cursor, guint8 protocol, BbSocket *socket)
{
    *socket = (BbSocket){.key.protocol = protocol};
    guint8 family = bb_cursor_u8(&cursor);
    guint8 state = bb_cursor_u8(&cursor);
    bb_cursor_skip(&cursor, 2); // timer, retrans
    guint16 port = bb_cursor_be16(&cursor), peer_port = bb_cursor_be16(&cursor);
    BbAddress local = read_address(&cursor, family), peer = read_address(&cursor, family);
    bb_cursor_skip(&cursor, 4 + 8 + 4 + 4 + 4 + 4); // interface, cookie, expires, queues, user
    socket->inode = own32(&cursor);
    if (!bb_cursor_ok(&cursor) || (family != AF_INET && family != AF_INET6) || port == 0)
        return false;
    socket->key.local = local;
    socket->key.port = port;
    bool waits = protocol == BB_SOCKET_TCP ? state == LISTEN : state == CLOSE;
    if (waits || peer_port == 0)
        return waits;
    socket->key.peer = peer;
    socket->key.peer_port = peer_port;
    return true;
}

BbDiagStatus bb_diag_read(gconstpointer data, gsize size, guint32 number, guint8 protocol,
                          GArray *sockets, guint max)
{
    BbCursor cursor = bb_cursor(data, size);
    while (cursor.left) {
        guint32 length = own32(&cursor);
        guint16 type = own16(&cursor);
        bb_cursor_skip(&cursor, 2); // flags
        guint32 answers = own32(&cursor);
        bb_cursor_skip(&cursor, 4); // port
        if (!bb_cursor_ok(&cursor) || length < NLMSG_HDRLEN)
            return BB_DIAG_FAILED;
        gsize body = length - NLMSG_HDRLEN;
        const guint8 *at = bb_cursor_take(&cursor, body);
        if (!at)
            return BB_DIAG_FAILED;
        bb_cursor_skip(&cursor, MIN(cursor.left, NLMSG_ALIGN(body) - body));
        if (answers != number)
            continue;
        if (type == NLMSG_DONE || type == NLMSG_ERROR)
            return type == NLMSG_DONE ? BB_DIAG_DONE : BB_DIAG_FAILED;
        BbSocket socket;
        if (type == SOCK_DIAG_BY_FAMILY && sockets->len < max &&
            read_socket(bb_cursor(at, body), protocol, &socket))
            g_array_append_val(sockets, socket);
    }
    return BB_DIAG_MORE;
}
