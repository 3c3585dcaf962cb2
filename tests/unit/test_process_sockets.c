// SPDX-License-Identifier: Apache-2.0
// Sockets as the kernel lists them, by netlink and as text; the two are each other's twin.
#include "capture/processes/diag.h"
#include "capture/processes/proc_net.h"
#include "tests/unit/test.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static GArray *new_sockets(void)
{
    return g_array_new(FALSE, FALSE, sizeof(BbSocket));
}

static const char *text_of(const BbSocket *socket)
{
    static char text[256];
    char local[BB_ADDRESS_TEXT], peer[BB_ADDRESS_TEXT];
    bb_address_format_port(&socket->key.local, socket->key.port, local);
    bb_address_format_port(&socket->key.peer, socket->key.peer_port, peer);
    g_snprintf(text, sizeof text, "%u %s %s %" G_GUINT64_FORMAT, socket->key.protocol, local, peer,
               socket->inode);
    return text;
}

#define HEAD                                                                                      \
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout " \
    "inode\n"

// What this machine prints of bytes a b c d.
static char *word(guint8 a, guint8 b, guint8 c, guint8 d)
{
    const guint8 bytes[4] = {a, b, c, d};
    guint32 value;
    memcpy(&value, bytes, sizeof value);
    return g_strdup_printf("%08X", value);
}

static GArray *parse(const char *text, guint8 protocol)
{
    GArray *sockets = new_sockets();
    bb_proc_net_sockets(text, strlen(text), protocol, sockets, 100);
    return sockets;
}

START_TEST(lines_of_tcp_and_udp)
{
    g_autofree char *local = word(127, 0, 0, 1), *peer = word(10, 1, 2, 3);
    g_autofree char *text = g_strdup_printf(
        HEAD "   0: %s:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 "
             "12345 1 0000000000000000 100 0 0 10 0\n"
             "   1: %s:1F91 %s:01BB 01 00000000:00000000 02:000005B3 00000000  1000        0 "
             "777 2 0000000000000000 20 4 30 10 -1\n"
             "   2: %s:1F92 %s:01BB 06 00000000:00000000 03:000005B3 00000000     0        0 "
             "0 3 0000000000000000\n",
        local, local, peer, local, peer);
    g_autoptr(GArray) tcp = parse(text, BB_SOCKET_TCP);
    ck_assert_uint_eq(tcp->len, 2); // TIME_WAIT is nobody's
    ck_assert_str_eq(text_of(&g_array_index(tcp, BbSocket, 0)), "6 127.0.0.1:8080 [::]:0 12345");
    ck_assert_str_eq(text_of(&g_array_index(tcp, BbSocket, 1)),
                     "6 127.0.0.1:8081 10.1.2.3:443 777");
    g_autofree char *datagrams = g_strdup_printf(
        "   7: %s:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000 0 0 99 2 0\n",
        local);
    g_autoptr(GArray) udp = parse(datagrams, BB_SOCKET_UDP);
    ck_assert_uint_eq(udp->len, 1);
    ck_assert_str_eq(text_of(&g_array_index(udp, BbSocket, 0)), "17 127.0.0.1:53 [::]:0 99");
}
END_TEST

// The order of bytes is that of memory, in words of 32 bits (proc_net(5)).
START_TEST(lines_of_ipv6)
{
    g_autofree char *a = word(0x20, 0x01, 0x0d, 0xb8), *d = word(0, 0, 0, 1);
    g_autofree char *mapped = word(0, 0, 0xff, 0xff), *v4 = word(192, 0, 2, 7);
    g_autofree char *text = g_strdup_printf(
        HEAD
        "   0: %s0000000000000000%s:0050 00000000000000000000000000000000:0000 0A 0:0 0:0 0 0 0 "
        "5 1\n"
        "   1: 0000000000000000%s%s:0050 0000000000000000%s%s:C001 01 0:0 0:0 0 0 0 6 1\n",
        a, d, mapped, v4, mapped, v4);
    g_autoptr(GArray) tcp = parse(text, BB_SOCKET_TCP);
    ck_assert_uint_eq(tcp->len, 2);
    ck_assert_str_eq(text_of(&g_array_index(tcp, BbSocket, 0)), "6 [2001:db8::1]:80 [::]:0 5");
    ck_assert_str_eq(text_of(&g_array_index(tcp, BbSocket, 1)), "6 192.0.2.7:80 192.0.2.7:49153 6");
}
END_TEST

START_TEST(lines_that_are_none)
{
    static const char *const bad[] = {
        HEAD,
        "\n\n",
        "0: 0100007F:1F90",
        "0: 0100007F:1F90 00000000:0000",
        "0: 0100007G:1F90 00000000:0000 0A 0:0 0:0 0 0 0 5",
        "0: 0100007F:1F9 00000000:0000 0A 0:0 0:0 0 0 0 5",
        "0: 0100007F:1F900 00000000:0000 0A 0:0 0:0 0 0 0 5",
        "0: 0100007F01:1F90 00000000:0000 0A 0:0 0:0 0 0 0 5",
        "0: 0100007F:0000 00000000:0000 0A 0:0 0:0 0 0 0 5",
        "0: 0100007F:1F90 00000000:0000 Z 0:0 0:0 0 0 0 5",
        "0: 0100007F:1F90 00000000:0000 01 0:0 0:0 0 0 0 5", // connected, to nobody
    };
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GArray) sockets = parse(bad[i], BB_SOCKET_TCP);
        ck_assert_msg(sockets->len == 0, "%s", bad[i]);
    }
    g_autoptr(GArray) huge = parse(
        "0: 0100007F:1F90 00000000:0000 0A 0:0 0:0 0 0 0 99999999999999999999999", BB_SOCKET_TCP);
    ck_assert_uint_eq(g_array_index(huge, BbSocket, 0).inode, 0);
    g_autoptr(GArray) few = new_sockets();
    const char *line = "0: 0100007F:1F90 00000000:0000 0A 0:0 0:0 0 0 0 5\n";
    g_autofree char *many = g_strconcat(line, line, line, NULL);
    bb_proc_net_sockets(many, strlen(many), BB_SOCKET_TCP, few, 2);
    ck_assert_uint_eq(few->len, 2);
}
END_TEST

START_TEST(addresses_of_a_namespace)
{
    static const char trie[] =
        "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 0.0.0.0\n"
        "        /0 universe UNICAST\n     |-- 127.0.0.0\n"
        "        /8 host LOCAL\n     |-- 127.0.0.1\n"
        "        /32 host LOCAL\n     |-- 192.0.2.0\n"
        "        /24 link UNICAST\n     |-- 192.0.2.2\n"
        "        /32 host LOCAL\n     |-- 192.0.2.255\n"
        "        /32 link BROADCAST\nLocal:\n     |-- 192.0.2.2\n"
        "        /32 host LOCAL\n     |-- no.address\n        /32 host LOCAL\n";
    static const char inet6[] = "fd000000000000000000000000000002 04 40 00 82     eth0\n"
                                "00000000000000000000000000000001 01 80 10 80       lo\n"
                                "fd0000 04\nfd00000000000000000000000000000z 04 40 00 82 x\n";
    static const char *const want[] = {"127.0.0.1", "192.0.2.2", "fd00::2", "::1"};
    g_autoptr(GArray) addresses = g_array_new(FALSE, FALSE, sizeof(BbAddress));
    bb_proc_net_fib_trie(trie, strlen(trie), addresses, 100);
    bb_proc_net_if_inet6(inet6, strlen(inet6), addresses, 100);
    ck_assert_uint_eq(addresses->len, G_N_ELEMENTS(want));
    for (guint i = 0; i < addresses->len; i++) {
        char text[BB_ADDRESS_TEXT];
        bb_address_format(&g_array_index(addresses, BbAddress, i), text);
        ck_assert_str_eq(text, want[i]);
    }
    bb_proc_net_fib_trie(trie, strlen(trie), addresses, 1);
    ck_assert_uint_eq(addresses->len, G_N_ELEMENTS(want));
}
END_TEST

// ---- netlink ------------------------------------------------------------------------------------

static void append_message(GByteArray *out, guint16 type, guint32 number, const void *body,
                           guint size)
{
    struct nlmsghdr head = {
        .nlmsg_len = NLMSG_HDRLEN + size, .nlmsg_type = type, .nlmsg_seq = number};
    g_byte_array_append(out, (const guint8 *)&head, sizeof head);
    g_byte_array_append(out, body, size);
    g_byte_array_set_size(out, NLMSG_ALIGN(out->len));
}

static struct inet_diag_msg diag_message(guint8 state, guint16 port, guint16 peer_port)
{
    struct inet_diag_msg message = {.idiag_family = AF_INET, .idiag_state = state};
    message.id.idiag_sport = htons(port);
    message.id.idiag_dport = htons(peer_port);
    message.id.idiag_src[0] = htonl(0x7f000001);
    message.id.idiag_dst[0] = peer_port ? htonl(0x0a010203) : 0;
    message.idiag_inode = 4242;
    return message;
}

static GByteArray *make_datagram(void)
{
    enum { ESTABLISHED = 1, LISTENS = 10 };
    GByteArray *bytes = g_byte_array_new();
    struct inet_diag_msg one = diag_message(LISTENS, 8080, 0);
    struct inet_diag_msg two = diag_message(ESTABLISHED, 8081, 443);
    append_message(bytes, SOCK_DIAG_BY_FAMILY, 7, &one, sizeof one);
    append_message(bytes, SOCK_DIAG_BY_FAMILY, 6, &two, sizeof two); // of an older request
    append_message(bytes, SOCK_DIAG_BY_FAMILY, 7, &two, sizeof two);
    append_message(bytes, NLMSG_DONE, 7, "\0\0\0", 4);
    return bytes;
}

START_TEST(datagrams_of_the_kernel)
{
    g_autoptr(GByteArray) bytes = make_datagram();
    g_autoptr(GArray) sockets = new_sockets();
    ck_assert_int_eq(bb_diag_read(bytes->data, bytes->len, 7, BB_SOCKET_TCP, sockets, 100),
                     BB_DIAG_DONE);
    ck_assert_uint_eq(sockets->len, 2);
    ck_assert_str_eq(text_of(&g_array_index(sockets, BbSocket, 0)), "6 127.0.0.1:8080 [::]:0 4242");
    ck_assert_str_eq(text_of(&g_array_index(sockets, BbSocket, 1)),
                     "6 127.0.0.1:8081 10.1.2.3:443 4242");
    g_array_set_size(sockets, 0);
    ck_assert_int_eq(bb_diag_read(bytes->data, bytes->len, 9, BB_SOCKET_TCP, sockets, 100),
                     BB_DIAG_MORE);
    ck_assert_uint_eq(sockets->len, 0);
    g_autoptr(GByteArray) refusal = g_byte_array_new();
    append_message(refusal, NLMSG_ERROR, 7, "\xfe\xff\xff\xff", 4);
    ck_assert_int_eq(bb_diag_read(refusal->data, refusal->len, 7, BB_SOCKET_TCP, sockets, 100),
                     BB_DIAG_FAILED);
}
END_TEST

START_TEST(datagrams_cut_anywhere)
{
    g_autoptr(GByteArray) bytes = make_datagram();
    for (guint size = 0; size < bytes->len; size++) {
        g_autofree guint8 *exact = g_memdup2(bytes->data, size);
        g_autoptr(GArray) sockets = new_sockets();
        BbDiagStatus status = bb_diag_read(exact, size, 7, BB_SOCKET_TCP, sockets, 100);
        ck_assert(status != BB_DIAG_DONE && sockets->len <= 2);
    }
}
END_TEST

static GArray *ask_kernel(guint8 family, guint8 protocol, bool waiting)
{
    guint8 request[BB_DIAG_REQUEST], bytes[32768];
    g_autoptr(GArray) sockets = new_sockets();
    int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG);
    bb_diag_request(family, protocol, waiting, 11, request);
    BbDiagStatus status = BB_DIAG_FAILED;
    if (fd >= 0 && send(fd, request, sizeof request, 0) == (gssize)sizeof request)
        do {
            gssize size = recv(fd, bytes, sizeof bytes, 0);
            status = size <= 0 ? BB_DIAG_FAILED
                               : bb_diag_read(bytes, (gsize)size, 11, protocol, sockets, 100000);
        } while (status == BB_DIAG_MORE);
    if (fd >= 0)
        close(fd);
    return status == BB_DIAG_DONE ? g_steal_pointer(&sockets) : NULL;
}

static const BbSocket *find_inode(const GArray *sockets, guint64 inode)
{
    for (guint i = 0; i < sockets->len; i++)
        if (g_array_index(sockets, BbSocket, i).inode == inode)
            return &g_array_index(sockets, BbSocket, i);
    return NULL;
}

static GArray *read_kernel(const char *path, guint8 protocol)
{
    g_autofree char *text = NULL;
    gsize length = 0;
    GArray *sockets = new_sockets();
    if (g_file_get_contents(path, &text, &length, NULL))
        bb_proc_net_sockets(text, length, protocol, sockets, 100000);
    return sockets;
}

// A socket of this process is the same in both lists.
static void check_twins(int family, int type, guint8 protocol, const char *path)
{
    int fd = socket(family, type, 0);
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    const struct sockaddr *at = family == AF_INET ? (const void *)&v4 : (const void *)&v6;
    socklen_t size = family == AF_INET ? sizeof v4 : sizeof v6;
    if (fd < 0 || bind(fd, at, size) != 0 || (type == SOCK_STREAM && listen(fd, 1) != 0)) {
        g_printerr("skipped: no %s here\n", path);
        if (fd >= 0)
            close(fd);
        return;
    }
    struct stat about;
    ck_assert_int_eq(fstat(fd, &about), 0);
    g_autoptr(GArray) asked = ask_kernel((guint8)family, protocol, true);
    g_autoptr(GArray) others = ask_kernel((guint8)family, protocol, false);
    g_autoptr(GArray) read = read_kernel(path, protocol);
    if (asked && read->len) {
        const BbSocket *a = find_inode(asked, about.st_ino), *b = find_inode(read, about.st_ino);
        ck_assert(a && b);
        ck_assert(!others || !find_inode(others, about.st_ino)); // of those with a peer
        ck_assert_msg(memcmp(&a->key, &b->key, sizeof a->key) == 0, "%s", text_of(a));
        ck_assert(bb_socket_key_is_bound(&a->key) && bb_address_is_loopback(&a->key.local));
    } else {
        g_printerr("skipped: the kernel does not list %s\n", path);
    }
    close(fd);
}

START_TEST(netlink_and_text_agree)
{
    check_twins(AF_INET, SOCK_STREAM, BB_SOCKET_TCP, "/proc/self/net/tcp");
    check_twins(AF_INET6, SOCK_STREAM, BB_SOCKET_TCP, "/proc/self/net/tcp6");
    check_twins(AF_INET, SOCK_DGRAM, BB_SOCKET_UDP, "/proc/self/net/udp");
    check_twins(AF_INET6, SOCK_DGRAM, BB_SOCKET_UDP, "/proc/self/net/udp6");
}
END_TEST

TEST_MAIN("process_sockets", lines_of_tcp_and_udp, lines_of_ipv6, lines_that_are_none,
          addresses_of_a_namespace, datagrams_of_the_kernel, datagrams_cut_anywhere,
          netlink_and_text_agree)
