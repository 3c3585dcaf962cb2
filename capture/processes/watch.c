// SPDX-License-Identifier: Apache-2.0
// In: what a look finds, nudges. Out: datagrams of records.
#include "capture/processes/watch.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

typedef struct Watch {
    int fd;
    GByteArray *out;
    guint32 nudges; // that came
    bool over;      // nobody is there
} Watch;

static void flush(Watch *watch)
{
    if (watch->out->len && !watch->over)
        watch->over = send(watch->fd, watch->out->data, watch->out->len, MSG_NOSIGNAL) < 0;
    g_byte_array_set_size(watch->out, 0);
}

static void tell(const BbRecord *record, gpointer user)
{
    Watch *watch = user;
    if (watch->out->len + BB_RECORD_BYTES > BB_RECORD_DATAGRAM)
        flush(watch);
    bb_record_append(watch->out, record);
}

// Waits until due, or for the end; for nudges, unless there are some.
static void wait_until(Watch *watch, gint64 due_us)
{
    gint64 rest_us = due_us - g_get_monotonic_time();
    struct pollfd wait = {.fd = watch->fd, .events = POLLIN};
    if (poll(&wait, 1, rest_us > 0 ? (int)(rest_us / 1000 + 1) : 0) <= 0)
        return;
    guint8 nudges[256];
    gssize size = recv(watch->fd, nudges, sizeof nudges, MSG_DONTWAIT);
    if (size > 0)
        watch->nudges++;
    else if (size == 0 || errno != EAGAIN)
        watch->over = true;
}

void bb_watch_run(int fd, int proc, int netlink)
{
    Watch watch = {.fd = fd, .out = g_byte_array_new()};
    g_autoptr(BbLook) look = bb_look_new(proc, netlink, tell, &watch);
    while (!watch.over) {
        guint32 nudges = watch.nudges;
        bb_look_run(look, g_get_monotonic_time());
        tell(&(BbRecord){.kind = BB_RECORD_LOOKED, .number = nudges}, &watch);
        flush(&watch);
        bool nudged = false;
        while (!watch.over && g_get_monotonic_time() < bb_look_due_us(look, nudged)) {
            wait_until(&watch, bb_look_due_us(look, nudged));
            nudged = watch.nudges != nudges;
        }
    }
    g_byte_array_unref(watch.out);
}
