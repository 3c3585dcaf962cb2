// SPDX-License-Identifier: Apache-2.0
// Live capture, on interfaces of a network namespace of our own: needs no root, but a kernel that
// lets users have namespaces. What it does not let us do is said and skipped.
#include "capture/sources/source.h"
#include "tests/unit/test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define TAP "tap7"
#define TAP_OTHER "tap8"
#define ETHERNET 1
#define ETHERTYPE_OURS 0x88b5 // for local experiments (IEEE 802): nobody else sends it
#define FILTER_OURS "ether proto 0x88b5"
#define FRAME_BYTES 1000

static bool skip(const char *what)
{
    printf("skipped: %s: %s\n", what, g_strerror(errno));
    return false;
}

static bool write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool written = fd >= 0 && write(fd, text, strlen(text)) > 0;
    if (fd >= 0)
        close(fd);
    return written;
}

// Who we are has to be known inside (user_namespaces(7)), or there is no second namespace.
static bool enter_namespace(void)
{
    g_autofree char *user = g_strdup_printf("0 %u 1", (guint)geteuid());
    g_autofree char *group = g_strdup_printf("0 %u 1", (guint)getegid());
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0 || !write_text("/proc/self/setgroups", "deny") ||
        !write_text("/proc/self/uid_map", user) || !write_text("/proc/self/gid_map", group))
        return skip("no user namespace");
    return true;
}

static bool set_up(const char *interface, bool up)
{
    struct ifreq request = {.ifr_flags = up ? IFF_UP : 0};
    g_strlcpy(request.ifr_name, interface, IFNAMSIZ);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool done = fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &request) == 0;
    if (fd >= 0)
        close(fd);
    return done;
}

// A tap interface that lives as long as the descriptor; what is written to it is received on it.
// Returns -1 after saying why it was skipped.
static int tap_named(const char *name)
{
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    g_strlcpy(request.ifr_name, name, IFNAMSIZ);
    int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
    if (fd < 0 || ioctl(fd, TUNSETIFF, &request) < 0 || !set_up(name, true)) {
        skip("no tap interface");
        return -1;
    }
    return fd;
}

static int tap_new(void)
{
    return enter_namespace() ? tap_named(TAP) : -1;
}

// Two of them: the legs of one line.
static bool taps_new(int taps[2])
{
    taps[0] = tap_new();
    taps[1] = taps[0] < 0 ? -1 : tap_named(TAP_OTHER);
    return taps[1] >= 0;
}

static void tap_send_numbered(int fd, guint number)
{
    guint8 frame[FRAME_BYTES] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0xb5};
    frame[14] = (guint8)(number >> 8);
    frame[15] = (guint8)number;
    ck_assert_int_eq(write(fd, frame, sizeof frame), sizeof frame);
}

static void tap_send(int fd, guint count)
{
    for (guint i = 0; i < count; i++)
        tap_send_numbered(fd, i);
}

static const char *const both[] = {TAP, TAP_OTHER, NULL};

// interfaces: kept until the next call.
static BbSourceOptions live_options(const char *interface)
{
    static const char *interfaces[2];
    interfaces[0] = interface;
    BbSourceOptions options = bb_source_options_default();
    options.interfaces = interfaces;
    options.filter = FILTER_OURS;
    options.buffer_bytes = 2 * 1024 * 1024;
    return options;
}

static BbSource *open_live(const BbSourceOptions *options, BbLoss *loss)
{
    g_autoptr(GError) error = NULL;
    BbSource *source = bb_source_open(options, loss, &error);
    ck_assert_msg(source != NULL, "%s", error ? error->message : "no reason");
    g_autofree char *warning = bb_source_take_warning(source);
    ck_assert_msg(!warning, "%s", warning);
    return source;
}

static char *open_error(const BbSourceOptions *options)
{
    BbLoss loss = {0};
    g_autoptr(GError) error = NULL;
    ck_assert_ptr_null(bb_source_open(options, &loss, &error));
    return g_strdup(error->message);
}

// Waits for a frame for at most 20 s.
static BbSourceStatus next_patiently(BbSource *source, BbFrame *frame, GError **error)
{
    BbSourceStatus status = BB_SOURCE_IDLE;
    for (int i = 0; i < 200 && status == BB_SOURCE_IDLE; i++)
        status = bb_source_next(source, frame, error);
    return status;
}

// All that comes until nothing did for three intervals.
static guint count_frames(BbSource *source)
{
    guint frames = 0, idle = 0;
    while (idle < 3) {
        BbFrame frame;
        BbSourceStatus status = bb_source_next(source, &frame, NULL);
        ck_assert(status == BB_SOURCE_FRAME || status == BB_SOURCE_IDLE);
        frames += status == BB_SOURCE_FRAME;
        idle = status == BB_SOURCE_IDLE ? idle + 1 : 0;
    }
    return frames;
}

START_TEST(frames_come_as_they_were)
{
    int tap = tap_new();
    if (tap < 0)
        return;
    BbLoss loss = {0};
    BbSourceOptions options = live_options(TAP);
    options.snaplen = 100;
    g_autoptr(BbSource) source = open_live(&options, &loss);
    ck_assert_str_eq(bb_source_name(source), "interface " TAP);
    ck_assert_double_lt(bb_source_progress(source), 0);
    gint64 before_ns = g_get_real_time() * 1000;
    tap_send(tap, 3);
    for (guint8 i = 0; i < 3; i++) {
        BbFrame frame;
        ck_assert_int_eq(next_patiently(source, &frame, NULL), BB_SOURCE_FRAME);
        ck_assert_int_eq(frame.link_type, ETHERNET);
        ck_assert_uint_eq(frame.captured, 100);
        ck_assert_uint_eq(frame.length, FRAME_BYTES);
        ck_assert_uint_eq(frame.data[15], i);
        ck_assert_int_ge(frame.time_ns, before_ns);
        ck_assert_int_le(frame.time_ns, g_get_real_time() * 1000 + 1000);
    }
    close(tap);
}
END_TEST

START_TEST(nothing_comes)
{
    int tap = tap_new();
    if (tap < 0)
        return;
    BbLoss loss = {0};
    BbSourceOptions options = live_options(TAP);
    g_autoptr(BbSource) source = open_live(&options, &loss);
    BbFrame frame;
    gint64 before = g_get_monotonic_time();
    ck_assert_int_eq(bb_source_next(source, &frame, NULL), BB_SOURCE_IDLE);
    ck_assert_int_ge(g_get_monotonic_time() - before, 90000);
    close(tap);
}
END_TEST

static void on_alarm(int signal_number)
{
}

// A signal ends the wait. Every 10 ms one comes: twenty waits take less than half their time.
START_TEST(a_signal_ends_the_wait)
{
    int tap = tap_new();
    if (tap < 0)
        return;
    BbLoss loss = {0};
    BbSourceOptions options = live_options(TAP);
    g_autoptr(BbSource) source = open_live(&options, &loss);
    struct sigaction action = {.sa_handler = on_alarm};
    sigaction(SIGALRM, &action, NULL);
    struct itimerval timer = {{0, 10000}, {0, 10000}};
    setitimer(ITIMER_REAL, &timer, NULL);
    gint64 before = g_get_monotonic_time();
    for (int i = 0; i < 20; i++) {
        BbFrame frame;
        ck_assert_int_eq(bb_source_next(source, &frame, NULL), BB_SOURCE_IDLE);
    }
    ck_assert_int_lt(g_get_monotonic_time() - before, 1000000);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
    close(tap);
}
END_TEST

// A reader that is too slow: what was sent is what was given plus what was dropped.
START_TEST(drops_add_up)
{
    int tap = tap_new();
    if (tap < 0)
        return;
    BbLoss loss = {0};
    BbSourceOptions options = live_options(TAP);
    g_autoptr(BbSource) source = open_live(&options, &loss);
    tap_send(tap, 10000);
    guint frames = count_frames(source);
    bb_source_update_loss(source);
    bb_source_update_loss(source);
    ck_assert_uint_gt(frames, 100);
    ck_assert_uint_gt(loss.count[BB_KERNEL_DROPPED], 100);
    ck_assert_uint_eq(loss.count[BB_KERNEL_RECEIVED], 10000);
    ck_assert_uint_eq(frames + loss.count[BB_KERNEL_DROPPED], 10000);

    tap_send(tap, 50);
    ck_assert_uint_eq(count_frames(source), 50);
    guint64 dropped = loss.count[BB_KERNEL_DROPPED];
    bb_source_update_loss(source);
    ck_assert_uint_eq(loss.count[BB_KERNEL_RECEIVED], 10050);
    ck_assert_uint_eq(loss.count[BB_KERNEL_DROPPED], dropped);
    close(tap);
}
END_TEST

START_TEST(the_filter_is_in_the_kernel)
{
    int tap = tap_new();
    if (tap < 0)
        return;
    BbLoss loss = {0};
    BbSourceOptions options = live_options(TAP);
    options.filter = FILTER_OURS " and ether[15] < 2";
    g_autoptr(BbSource) source = open_live(&options, &loss);
    tap_send(tap, 10);
    ck_assert_uint_eq(count_frames(source), 2);
    bb_source_update_loss(source);
    ck_assert_uint_eq(loss.count[BB_KERNEL_RECEIVED], 2);
    close(tap);
}
END_TEST

// What came before the interface went is given; then an error, once, and the end.
START_TEST(the_interface_vanishes)
{
    int tap = tap_new();
    if (tap < 0)
        return;
    BbLoss loss = {0};
    BbSourceOptions options = live_options(TAP);
    g_autoptr(BbSource) source = open_live(&options, &loss);
    tap_send(tap, 3);
    close(tap);
    BbFrame frame;
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(next_patiently(source, &frame, NULL), BB_SOURCE_FRAME);
    g_autoptr(GError) error = NULL;
    ck_assert_int_eq(next_patiently(source, &frame, &error), BB_SOURCE_ERROR);
    ck_assert_msg(g_str_has_prefix(error->message, "interface " TAP ": "), "%s", error->message);
    ck_assert_ptr_nonnull(strstr(error->message, "what came before is kept"));
    ck_assert_uint_eq(loss.count[BB_KERNEL_RECEIVED], 3);
    ck_assert_int_eq(bb_source_next(source, &frame, NULL), BB_SOURCE_END);
    bb_source_update_loss(source);
    ck_assert_uint_eq(loss.count[BB_KERNEL_RECEIVED], 3);
}
END_TEST

// An interface that is down is waited for.
START_TEST(down_and_up_again)
{
    int tap = tap_new();
    if (tap < 0)
        return;
    BbLoss loss = {0};
    BbSourceOptions options = live_options(TAP);
    g_autoptr(BbSource) source = open_live(&options, &loss);
    BbFrame frame;
    ck_assert(set_up(TAP, false));
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(bb_source_next(source, &frame, NULL), BB_SOURCE_IDLE);
    ck_assert(set_up(TAP, true));
    tap_send(tap, 1);
    ck_assert_int_eq(next_patiently(source, &frame, NULL), BB_SOURCE_FRAME);
    close(tap);
}
END_TEST

// The loopback interface shows each packet twice to the kernel's counter, once to us.
START_TEST(loopback)
{
    if (!enter_namespace())
        return;
    ck_assert(set_up("lo", true));
    BbLoss loss = {0};
    BbSourceOptions options = live_options("lo");
    options.filter = "udp dst port 9";
    g_autoptr(BbSource) source = open_live(&options, &loss);
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = g_htons(9), .sin_addr.s_addr = g_htonl(INADDR_LOOPBACK)};
    for (int i = 0; i < 5; i++) {
        int fd = socket(AF_INET, SOCK_DGRAM, 0);
        ck_assert_int_eq(sendto(fd, "x", 1, 0, (struct sockaddr *)&to, sizeof to), 1);
        close(fd);
    }
    ck_assert_uint_eq(count_frames(source), 5);
    bb_source_update_loss(source);
    ck_assert_uint_eq(loss.count[BB_KERNEL_RECEIVED], 5);
    ck_assert_uint_eq(loss.count[BB_KERNEL_DROPPED], 0);
}
END_TEST

// All interfaces at once: cooked frames, and no warning about a promiscuous mode there is not.
START_TEST(any_interface)
{
    int tap = tap_new();
    if (tap < 0)
        return;
    BbLoss loss = {0};
    BbSourceOptions options = live_options("any");
    g_autoptr(BbSource) source = open_live(&options, &loss);
    tap_send(tap, 2);
    BbFrame frame;
    ck_assert_int_eq(next_patiently(source, &frame, NULL), BB_SOURCE_FRAME);
    ck_assert_int_ne(frame.link_type, ETHERNET);
    close(tap);
}
END_TEST

START_TEST(no_such_interface)
{
    if (!enter_namespace())
        return;
    BbSourceOptions options = live_options("eth99");
    g_autofree char *text = open_error(&options);
    ck_assert_ptr_nonnull(strstr(text, "there is no interface eth99 to capture on; there are: lo"));
}
END_TEST

START_TEST(an_interface_that_is_down)
{
    if (!enter_namespace())
        return;
    BbSourceOptions options = live_options("lo");
    g_autofree char *text = open_error(&options);
    ck_assert_msg(strcmp(text, "interface lo is down: ip link set lo up") == 0, "%s", text);
}
END_TEST

// A second user namespace has no power over the network of the first.
START_TEST(no_permission)
{
    if (!enter_namespace())
        return;
    ck_assert(set_up("lo", true));
    if (unshare(CLONE_NEWUSER) < 0) {
        skip("no second user namespace");
        return;
    }
    BbSourceOptions options = live_options("lo");
    g_autofree char *text = open_error(&options);
    ck_assert_msg(strstr(text, "no permission to capture on interface lo") != NULL, "%s", text);
    ck_assert_ptr_nonnull(strstr(text, "CAP_NET_RAW"));
    ck_assert_ptr_nonnull(strstr(text, "sudo"));
    ck_assert_ptr_nonnull(strstr(text, "setcap cap_net_raw"));
    const char *const missing[] = {"eth99", NULL};
    options.interfaces = missing;
    g_autofree char *none = open_error(&options);
    ck_assert_ptr_nonnull(strstr(none, "there is no interface eth99"));
}
END_TEST

START_TEST(a_bad_filter)
{
    if (!enter_namespace())
        return;
    ck_assert(set_up("lo", true));
    BbSourceOptions options = live_options("lo");
    options.filter = "port";
    g_autofree char *text = open_error(&options);
    ck_assert_msg(g_str_has_prefix(text, "interface lo: the filter \"port\" cannot be used: "),
                  "%s", text);
}
END_TEST

// ---- two interfaces -----------------------------------------------------------------------------

static BbSource *open_both(BbLoss *loss, bool reopen)
{
    BbSourceOptions options = live_options(TAP);
    options.interfaces = both;
    options.reopen = reopen;
    return open_live(&options, loss);
}

// Goes on until a warning with these words comes, at most 20 s; frames of the other interface are
// sent meanwhile. Returns how many frames came.
static guint wait_for_warning(BbSource *source, const char *words, int other, guint *sent)
{
    gint64 begin_us = g_get_monotonic_time();
    guint frames = 0;
    while (true) {
        BbFrame frame;
        BbSourceStatus status = bb_source_next(source, &frame, NULL);
        ck_assert(status == BB_SOURCE_FRAME || status == BB_SOURCE_IDLE);
        frames += status == BB_SOURCE_FRAME;
        g_autofree char *warning = bb_source_take_warning(source);
        if (warning && strstr(warning, words))
            return frames;
        ck_assert_msg(!warning, "%s", warning);
        ck_assert_msg(g_get_monotonic_time() - begin_us < 20 * G_USEC_PER_SEC, "no '%s'", words);
        if (other >= 0 && *sent < 1000 && status == BB_SOURCE_IDLE)
            tap_send_numbered(other, (*sent)++);
    }
}

// What two interfaces get by turns comes in that order, whole, and accounted for.
START_TEST(two_interfaces_in_order)
{
    int taps[2];
    if (!taps_new(taps))
        return;
    BbLoss loss = {0};
    g_autoptr(BbSource) source = open_both(&loss, false);
    ck_assert_str_eq(bb_source_name(source), "interfaces " TAP ", " TAP_OTHER);
    int fds[2];
    ck_assert_uint_eq(bb_source_descriptors(source, fds, 2), 2);
    ck_assert_int_ne(fds[0], fds[1]);
    ck_assert_uint_eq(bb_source_descriptors(source, fds, 1), 2);
    for (guint i = 0; i < 600; i++)
        tap_send_numbered(taps[(i / 3) % 2], i);
    gint64 last_ns = 0;
    for (guint i = 0; i < 600; i++) {
        BbFrame frame;
        ck_assert_int_eq(next_patiently(source, &frame, NULL), BB_SOURCE_FRAME);
        ck_assert_uint_eq(frame.data[14] * 256u + frame.data[15], i);
        ck_assert_uint_eq(frame.interface, (i / 3) % 2);
        ck_assert_int_ge(frame.time_ns, last_ns);
        last_ns = frame.time_ns;
    }
    ck_assert_uint_eq(count_frames(source), 0);
    bb_source_end(source);
    ck_assert_uint_eq(loss.count[BB_KERNEL_RECEIVED], 600);
    ck_assert_uint_eq(loss.count[BB_KERNEL_DROPPED], 0);
    ck_assert_uint_eq(loss.count[BB_FRAMES_CROSSED], 0);
    ck_assert_ptr_null(bb_source_take_warning(source));
    close(taps[0]);
    close(taps[1]);
}
END_TEST

// Nothing on one leg: the other one's frames come all the same, and soon.
START_TEST(an_idle_leg)
{
    int taps[2];
    if (!taps_new(taps))
        return;
    BbLoss loss = {0};
    g_autoptr(BbSource) source = open_both(&loss, false);
    gint64 begin_us = g_get_monotonic_time();
    tap_send(taps[1], 300);
    ck_assert_uint_eq(count_frames(source), 300);
    ck_assert_int_lt(g_get_monotonic_time() - begin_us, 5 * G_USEC_PER_SEC);
    close(taps[0]);
    close(taps[1]);
}
END_TEST

// Sums of both, and at the end the name of the one that dropped.
START_TEST(drops_of_two_add_up)
{
    int taps[2];
    if (!taps_new(taps))
        return;
    BbLoss loss = {0};
    g_autoptr(BbSource) source = open_both(&loss, false);
    tap_send(taps[0], 100);
    tap_send(taps[1], 10000);
    guint frames = count_frames(source);
    bb_source_end(source);
    ck_assert_uint_gt(loss.count[BB_KERNEL_DROPPED], 100);
    ck_assert_uint_eq(loss.count[BB_KERNEL_RECEIVED], 10100);
    ck_assert_uint_eq(frames + loss.count[BB_KERNEL_DROPPED], 10100);
    g_autofree char *warning = bb_source_take_warning(source);
    g_autofree char *wanted =
        g_strdup_printf("interface " TAP_OTHER ": %" G_GUINT64_FORMAT " packets were dropped by "
                        "the kernel for want of buffer, 0 by the interface",
                        loss.count[BB_KERNEL_DROPPED]);
    ck_assert_pstr_eq(warning, wanted);
    ck_assert_ptr_null(bb_source_take_warning(source));
    close(taps[0]);
    close(taps[1]);
}
END_TEST

// One leg is down for a while: said twice, counted once, nothing lost of the other one.
START_TEST(one_of_two_down_and_up)
{
    int taps[2];
    if (!taps_new(taps))
        return;
    BbLoss loss = {0};
    g_autoptr(BbSource) source = open_both(&loss, false);
    guint sent = 0, frames = 0;
    ck_assert(set_up(TAP, false));
    frames += wait_for_warning(source, "interface " TAP " is down", taps[1], &sent);
    ck_assert_uint_eq(loss.count[BB_INTERFACE_OUTAGES], 1);
    ck_assert(set_up(TAP, true));
    frames += wait_for_warning(source, "interface " TAP " is up again", taps[1], &sent);
    tap_send(taps[0], 50);
    frames += count_frames(source);
    bb_source_end(source);
    ck_assert_uint_eq(frames, sent + 50);
    ck_assert_uint_eq(loss.count[BB_KERNEL_RECEIVED], sent + 50);
    ck_assert_uint_eq(loss.count[BB_INTERFACE_OUTAGES], 1);
    close(taps[0]);
    close(taps[1]);
}
END_TEST

// One leg is removed: a warning; the other goes on. With it the capture ends.
START_TEST(one_of_two_is_removed)
{
    int taps[2];
    if (!taps_new(taps))
        return;
    BbLoss loss = {0};
    g_autoptr(BbSource) source = open_both(&loss, false);
    guint sent = 0;
    tap_send(taps[0], 3);
    close(taps[0]);
    guint frames = wait_for_warning(source, "the others go on", taps[1], &sent);
    tap_send(taps[1], 20);
    frames += count_frames(source);
    ck_assert_uint_eq(frames, 3 + sent + 20);
    ck_assert_uint_eq(loss.count[BB_INTERFACE_OUTAGES], 1);
    int fds[2];
    ck_assert_uint_eq(bb_source_descriptors(source, fds, 2), 1);
    close(taps[1]);
    g_autoptr(GError) error = NULL;
    BbFrame frame;
    ck_assert_int_eq(next_patiently(source, &frame, &error), BB_SOURCE_ERROR);
    ck_assert_msg(g_str_has_prefix(error->message, "interface " TAP_OTHER ": "), "%s",
                  error->message);
    ck_assert_int_eq(bb_source_next(source, &frame, NULL), BB_SOURCE_END);
    bb_source_end(source);
    ck_assert_uint_eq(loss.count[BB_KERNEL_RECEIVED], 3 + sent + 20);
}
END_TEST

// Removed while it is down: the kernel tells no second error, and yet we notice.
START_TEST(down_and_then_removed)
{
    int tap = tap_new();
    if (tap < 0)
        return;
    BbLoss loss = {0};
    BbSourceOptions options = live_options(TAP);
    g_autoptr(BbSource) source = open_live(&options, &loss);
    guint none = 0;
    ck_assert(set_up(TAP, false));
    wait_for_warning(source, "is down", -1, &none);
    close(tap);
    BbFrame frame;
    g_autoptr(GError) error = NULL;
    ck_assert_int_eq(next_patiently(source, &frame, &error), BB_SOURCE_ERROR);
    ck_assert_uint_eq(loss.count[BB_INTERFACE_OUTAGES], 1);
}
END_TEST

// Removed and made anew: taken up again where that is wanted, by one interface and by one of two.
START_TEST(removed_and_back)
{
    int taps[2];
    if (!taps_new(taps))
        return;
    for (guint legs = 1; legs <= 2; legs++) {
        BbLoss loss = {0};
        BbSourceOptions options = live_options(TAP);
        options.reopen = true;
        if (legs == 2)
            options.interfaces = both;
        g_autoptr(BbSource) source = open_live(&options, &loss);
        int other = legs == 2 ? taps[1] : -1;
        guint sent = 0;
        tap_send(taps[0], 7);
        close(taps[0]);
        guint frames = wait_for_warning(source, "it is waited for", other, &sent);
        taps[0] = tap_named(TAP);
        frames += wait_for_warning(source, "interface " TAP " is back", other, &sent);
        tap_send(taps[0], 9);
        frames += count_frames(source);
        bb_source_end(source);
        ck_assert_uint_eq(frames, 7 + 9 + sent);
        ck_assert_uint_eq(loss.count[BB_KERNEL_RECEIVED], 7 + 9 + sent);
        ck_assert_uint_eq(loss.count[BB_INTERFACE_OUTAGES], 1);
    }
    close(taps[0]);
    close(taps[1]);
}
END_TEST

START_TEST(interfaces_given_twice)
{
    static const struct {
        const char *interfaces[4], *words;
    } cases[] = {{{"lo", "lo"}, "with interface lo some frames"},
                 {{"lo", "eth99", "lo"}, "with interface lo some frames"},
                 {{"lo", "any"}, "with interface any some frames"},
                 {{"any", "lo"}, "some frames would be read twice"}};
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        BbSourceOptions options = live_options("lo");
        options.interfaces = cases[i].interfaces;
        g_autofree char *text = open_error(&options);
        ck_assert_msg(strstr(text, cases[i].words) != NULL, "%s", text);
    }
    const char *many[BB_SOURCE_INTERFACES + 2] = {NULL};
    char names[BB_SOURCE_INTERFACES + 1][8];
    for (guint i = 0; i <= BB_SOURCE_INTERFACES; i++) {
        g_snprintf(names[i], sizeof names[i], "e%u", i);
        many[i] = names[i];
    }
    BbSourceOptions options = live_options("lo");
    options.interfaces = many;
    g_autofree char *text = open_error(&options);
    ck_assert_msg(g_str_has_prefix(text, "65 interfaces are too many"), "%s", text);
}
END_TEST

START_TEST(who_makes_the_stamps)
{
    int tap = tap_new();
    if (tap < 0)
        return;
    BbLoss loss = {0};
    BbSourceOptions options = live_options(TAP);
    for (guint i = 0; i < 2; i++) {
        options.stamp_type = i ? "host" : NULL;
        g_autoptr(BbSource) source = open_live(&options, &loss);
        ck_assert_str_eq(bb_source_stamps(source), "interface " TAP ": time stamps of the host "
                                                   "clock (host), in nanoseconds");
    }
    options.stamp_type = "sundial";
    g_autofree char *text = open_error(&options);
    ck_assert_msg(g_str_has_prefix(text, "interface " TAP " makes no time stamps of type sundial; "
                                         "those it makes: host"),
                  "%s", text);
    options.stamp_type = "adapter_unsynced"; // which a tap has not
    g_autofree char *adapter = open_error(&options);
    ck_assert_ptr_nonnull(strstr(adapter, "no time stamps of type adapter_unsynced"));
    close(tap);
}
END_TEST

TEST_MAIN("source_live", frames_come_as_they_were, nothing_comes, a_signal_ends_the_wait,
          drops_add_up, the_filter_is_in_the_kernel, the_interface_vanishes, down_and_up_again,
          loopback, any_interface, no_such_interface, an_interface_that_is_down, no_permission,
          a_bad_filter, two_interfaces_in_order, an_idle_leg, drops_of_two_add_up,
          one_of_two_down_and_up, one_of_two_is_removed, down_and_then_removed, removed_and_back,
          interfaces_given_twice, who_makes_the_stamps)
