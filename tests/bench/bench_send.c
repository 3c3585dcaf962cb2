// SPDX-License-Identifier: Apache-2.0
// In: a small capture, an interface, packets a second (0: as fast as can be), seconds. Sends it
// again and again, each time as other connections, so that there is always something to decode.
// Out: one line of JSON: packets sent, seconds, packets that the kernel refused.
//   bench_send SAMPLE INTERFACE RATE SECONDS
#include "tests/bench/repeat.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BATCH 32u
#define LATE_NS 100000000.0 // what was missed by more is not caught up with: no bursts

typedef struct Send {
    int fd;
    double start_ns, between_ns;  // between two packets, 0: as fast as can be
    guint64 sent, refused, paced; // paced: since start_ns
    struct mmsghdr messages[BATCH];
    struct iovec frames[BATCH];
    guint waiting;
} Send;

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int open_socket(const char *interface)
{
    int on = 1, fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    struct sockaddr_ll address = {.sll_family = AF_PACKET,
                                  .sll_ifindex = (int)if_nametoindex(interface)};
    (void)setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof on);
    if (fd < 0 || address.sll_ifindex == 0 ||
        bind(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        fprintf(stderr, "bench_send: %s: %s\n", interface, strerror(errno));
        exit(EXIT_FAILURE);
    }
    return fd;
}

// Until it is time for the next packets.
static void pace(Send *out)
{
    double due = out->start_ns + (double)out->paced * out->between_ns, wait = due - now_ns();
    if (out->between_ns == 0)
        return;
    if (wait < -LATE_NS) {
        out->start_ns = now_ns();
        out->paced = 0;
    } else if (wait > 0) {
        struct timespec rest = {(time_t)(wait / 1e9), (long)wait % 1000000000};
        (void)nanosleep(&rest, NULL);
    }
}

static void flush(Send *out)
{
    guint done = 0;
    pace(out);
    while (done < out->waiting) {
        int count = sendmmsg(out->fd, out->messages + done, out->waiting - done, 0);
        if (count < 0 && errno == EINTR)
            continue;
        out->sent += count > 0 ? (guint)count : 0;
        out->refused += count <= 0;
        done += count > 0 ? (guint)count : 1;
    }
    out->paced += out->waiting;
    out->waiting = 0;
}

static void add(Send *out, guint8 *frame, guint32 length)
{
    guint i = out->waiting++;
    out->frames[i] = (struct iovec){frame, length};
    out->messages[i] = (struct mmsghdr){.msg_hdr = {.msg_iov = &out->frames[i], .msg_iovlen = 1}};
    if (out->waiting == BATCH)
        flush(out);
}

static void send_copy(Send *out, const Repeat *repeat, guint32 copy)
{
    gsize at = 0, size = repeat->bytes->len;
    guint32 length = 0;
    g_autofree guint8 *bytes = g_memdup2(repeat->bytes->data, size);
    for (guint8 *record; (record = repeat_next(bytes, size, &at, &length));) {
        repeat_move(record + 16, length, copy);
        add(out, record + 16, length);
    }
    flush(out);
}

int main(int argc, char **argv)
{
    Repeat repeat = {0};
    g_autoptr(GError) error = NULL;
    if (argc != 5) {
        fputs("usage: bench_send SAMPLE INTERFACE RATE SECONDS\n", stderr);
        return 2;
    }
    if (!repeat_load(argv[1], &repeat, &error))
        g_error("%s: %s", argv[1], error ? error->message : "too short");
    double rate = atof(argv[3]), seconds = atof(argv[4]), began = now_ns();
    Send *out = g_new0(Send, 1);
    out->fd = open_socket(argv[2]);
    out->start_ns = began;
    out->between_ns = rate > 0 ? 1e9 / rate : 0;
    for (guint32 copy = 0; now_ns() - began < seconds * 1e9; copy++)
        send_copy(out, &repeat, copy);
    printf("{\"sent\": %" G_GUINT64_FORMAT ", \"seconds\": %.3f, \"refused\": %" G_GUINT64_FORMAT
           "}\n",
           out->sent, (now_ns() - began) / 1e9, out->refused);
    close(out->fd);
    g_byte_array_unref(repeat.bytes);
    g_free(out);
    return EXIT_SUCCESS;
}
