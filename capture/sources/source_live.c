// SPDX-License-Identifier: Apache-2.0
// In: network interfaces. Out: their frames in the order of their stamps, what the kernel dropped,
// and sentences on interfaces that go away and come back.
#include "capture/sources/heads.h"
#include "capture/sources/source_kind.h"
#include "capture/sources/tap.h"

#include <poll.h>
#include <string.h>

#define POLL_MS BB_TAP_BLOCK_MS // how long next() waits

#define LOOK_US G_USEC_PER_SEC // how often interfaces are looked after, and opened again

typedef struct {
    const char *interface; // lent
    char *name;            // "interface eth1"
    BbTap *tap;            // NULL while there is none
    BbTap *dead;           // gone for good: its descriptor keeps its number (see lose_leg)
    BbFrame head;          // its frame at hand
    BbTapState state;      // as said
    BbLoss loss;           // what the kernel counted
    guint steps;
    bool over; // and never opened again
    bool wide; // the kernel cannot narrow what it lets through
} Leg;

typedef struct {
    BbSourceOptions options;
    BbLoss *loss;     // lent
    GQueue *warnings; // lent
    char *name;
    char *stamps;
    Leg *legs;
    guint count;
    BbHeads *heads;
    gint64 looked_us;  // when interfaces were looked after
    GArray *addresses; // of BbAddress: of bb_source_narrow; NULL where that was not asked
} LiveSource;

static void warn(const LiveSource *source, char *text)
{
    g_queue_push_tail(source->warnings, text);
}

static char *say_deaf(const Leg *leg)
{
    return g_strdup_printf("%s has no carrier: nothing comes until it has one (a cable, and an "
                           "other end that is up)",
                           leg->name);
}

// ---- opening and closing ------------------------------------------------------------------------

static bool live_is_meant(const BbSourceOptions *options)
{
    return options->interfaces && options->interfaces[0];
}

// An interface that is read twice would give each frame twice.
static bool check_interfaces(const char *const *interfaces, GError **error)
{
    guint count = g_strv_length((char **)interfaces);
    const char *twice = NULL;
    for (guint i = 1; i < count && !twice; i++)
        if (strcmp(interfaces[i], "any") == 0 || strcmp(interfaces[0], "any") == 0)
            twice = interfaces[i];
        else if (g_strv_contains(interfaces + i, interfaces[i - 1]))
            twice = interfaces[i - 1];
    if (!twice && count <= BB_SOURCE_INTERFACES)
        return true;
    if (twice)
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                    "with interface %s some frames would be read twice: give each interface once, "
                    "and any alone",
                    twice);
    else
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                    "%u interfaces are too many: at most %u can be read at once", count,
                    BB_SOURCE_INTERFACES);
    return false;
}

static void live_close(gpointer state)
{
    LiveSource *source = state;
    for (guint i = 0; i < source->count; i++) {
        bb_tap_free(source->legs[i].tap);
        bb_tap_free(source->legs[i].dead);
        g_free(source->legs[i].name);
    }
    bb_heads_free(source->heads);
    g_clear_pointer(&source->addresses, g_array_unref);
    g_free(source->legs);
    g_free(source->stamps);
    g_free(source->name);
    g_free(source);
}

// "interface eth1: ...; interface eth2: ..."
static char *join_stamps(const LiveSource *source)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < source->count; i++)
        g_string_append_printf(text, "%s%s: %s", i ? "; " : "", source->legs[i].name,
                               bb_tap_stamps(source->legs[i].tap));
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static gpointer live_open(const BbSourceOptions *options, BbLoss *loss, GQueue *warnings,
                          GError **error)
{
    if (!check_interfaces(options->interfaces, error))
        return NULL;
    LiveSource *source = g_new0(LiveSource, 1);
    source->options = *options;
    source->loss = loss;
    source->warnings = warnings;
    source->count = g_strv_length((char **)options->interfaces);
    source->legs = g_new0(Leg, source->count);
    source->heads = bb_heads_new(source->count);
    source->looked_us = g_get_monotonic_time();
    g_autofree char *names = g_strjoinv(", ", (char **)options->interfaces);
    source->name = g_strdup_printf("interface%s %s", source->count > 1 ? "s" : "", names);
    for (guint i = 0; i < source->count; i++) {
        Leg *leg = &source->legs[i];
        leg->interface = options->interfaces[i];
        leg->name = g_strdup_printf("interface %s", leg->interface);
        leg->tap = bb_tap_open(options, leg->interface, warnings, error);
        if (!leg->tap) {
            live_close(source);
            return NULL;
        }
        if (bb_tap_state(leg->tap) == BB_TAP_DEAF) {
            leg->state = BB_TAP_DEAF;
            warn(source, say_deaf(leg));
        }
    }
    source->stamps = join_stamps(source);
    return source;
}

// ---- counting -----------------------------------------------------------------------------------

static void count_leg(const LiveSource *source, Leg *leg)
{
    BbLoss more = {0};
    if (!leg->tap)
        return;
    bb_tap_count(leg->tap, &more);
    bb_loss_add(&leg->loss, &more);
    bb_loss_add(source->loss, &more);
}

static void live_update_loss(gpointer state)
{
    LiveSource *source = state;
    for (guint i = 0; i < source->count; i++)
        count_leg(source, &source->legs[i]);
}

static void live_end(gpointer state)
{
    LiveSource *source = state;
    live_update_loss(source);
    for (guint i = 0; i < source->count && source->count > 1; i++) {
        const Leg *leg = &source->legs[i];
        guint64 kernel = leg->loss.count[BB_KERNEL_DROPPED];
        guint64 adapter = leg->loss.count[BB_INTERFACE_DROPPED];
        if (kernel || adapter)
            warn(source, g_strdup_printf("%s: %" G_GUINT64_FORMAT
                                         " packets were dropped by the kernel for want of buffer, "
                                         "%" G_GUINT64_FORMAT " by the interface",
                                         leg->name, kernel, adapter));
    }
}

// ---- narrowing ----------------------------------------------------------------------------------

static void narrow_leg(LiveSource *source, Leg *leg)
{
    g_autoptr(GError) error = NULL;
    if (!source->addresses || !leg->tap || leg->wide)
        return;
    if (bb_tap_narrow(leg->tap, &source->options, source->addresses, &error))
        return;
    leg->wide = true;
    warn(source, g_strdup_printf("%s: the kernel cannot pick out what is followed (hosts: %u): %s; "
                                 "it hands over all that passes FILTER, of which the rest is left "
                                 "out here: that takes more of the processor",
                                 leg->name, source->addresses->len, error->message));
}

static void live_narrow(gpointer state, const BbAddress *addresses, guint count)
{
    LiveSource *source = state;
    g_clear_pointer(&source->addresses, g_array_unref);
    source->addresses = g_array_new(FALSE, FALSE, sizeof(BbAddress));
    g_array_append_vals(source->addresses, addresses, count);
    for (guint i = 0; i < source->count; i++)
        narrow_leg(source, &source->legs[i]);
}

// ---- interfaces that go and come ----------------------------------------------------------------

static guint count_open(const LiveSource *source)
{
    guint n = 0;
    for (guint i = 0; i < source->count; i++)
        n += source->legs[i].tap != NULL;
    return n;
}

static char *say_silent(const Leg *leg, BbTapState state)
{
    if (state == BB_TAP_DEAF)
        return say_deaf(leg);
    return g_strdup_printf("%s is down: nothing comes until it is up again (ip link set %s up)",
                           leg->name, leg->interface);
}

// Down is said once, and up again; likewise a carrier that is lost. failed: its socket has an error
// to tell, as it does once when the interface goes down.
static void look_after(LiveSource *source, Leg *leg, bool failed)
{
    BbTapState state = bb_tap_state(leg->tap);
    if (state == BB_TAP_REMOVED || state == BB_TAP_UNKNOWN)
        return; // nobody knows; or gone, which reading will tell
    if (state == BB_TAP_UP && leg->state == BB_TAP_UP && failed) {
        source->loss->count[BB_INTERFACE_OUTAGES]++;
        warn(source, g_strdup_printf("%s was down for a moment", leg->name));
    } else if (state != BB_TAP_UP && state != leg->state) {
        source->loss->count[BB_INTERFACE_OUTAGES] += leg->state == BB_TAP_UP;
        warn(source, say_silent(leg, state));
    } else if (state == BB_TAP_UP && leg->state != BB_TAP_UP) {
        warn(source,
             g_strdup_printf(leg->state == BB_TAP_DEAF ? "%s has a carrier" : "%s is up again",
                             leg->name));
    }
    leg->state = state;
}

// What cannot be waited for is over: rights that are gone do not come back.
static void open_again(LiveSource *source, guint index)
{
    Leg *leg = &source->legs[index];
    g_autoptr(GError) error = NULL;
    GQueue unsaid = G_QUEUE_INIT;
    leg->tap = bb_tap_open(&source->options, leg->interface, &unsaid, &error);
    g_queue_clear_full(&unsaid, g_free);
    if (leg->tap) {
        narrow_leg(source, leg);
        leg->state = BB_TAP_UP;
        bb_heads_join(source->heads, index);
        warn(source, g_strdup_printf("%s is back", leg->name));
    } else if (g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_PERM)) {
        leg->over = true;
        warn(source, g_strdup(error->message));
    }
}

static void look_after_all(LiveSource *source, gint64 now_us)
{
    if (now_us - source->looked_us < LOOK_US)
        return;
    source->looked_us = now_us;
    for (guint i = 0; i < source->count; i++) {
        Leg *leg = &source->legs[i];
        if (leg->tap)
            look_after(source, leg, false);
        else if (!leg->over)
            open_again(source, i);
    }
}

// Returns false with an error where it was the last one, and nothing is waited for. A tap that is
// not opened again stays until the end: a confined process may not write to the numbers of its
// packet sockets (cli/confine.h), and the next file to be opened would get one that was closed.
static bool lose_leg(LiveSource *source, guint index, GError **error)
{
    Leg *leg = &source->legs[index];
    g_autofree char *failure = g_strdup(bb_tap_failure(leg->tap));
    count_leg(source, leg);
    leg->over = !source->options.reopen;
    if (leg->over)
        leg->dead = g_steal_pointer(&leg->tap);
    g_clear_pointer(&leg->tap, bb_tap_free);
    bb_heads_leave(source->heads, index);
    if (leg->state == BB_TAP_UP) // else it was counted, or never heard anything
        source->loss->count[BB_INTERFACE_OUTAGES]++;
    leg->state = BB_TAP_REMOVED;
    if (!leg->over || count_open(source)) {
        warn(source, g_strdup_printf("%s: %s; %s", leg->name, failure,
                                     leg->over ? "what came before is kept, the others go on"
                                               : "it is waited for"));
        return true;
    }
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_IO,
                "%s: %s; what came before is kept, capture again when it is back", leg->name,
                failure);
    return false;
}

static bool is_over(const LiveSource *source)
{
    for (guint i = 0; i < source->count; i++)
        if (source->legs[i].tap || !source->legs[i].over)
            return false;
    return true;
}

// ---- frames -------------------------------------------------------------------------------------

static void take_step(const LiveSource *source, Leg *leg, gint64 step_ns)
{
    source->loss->count[BB_CLOCK_SET_BACK]++;
    if (leg->steps++ < BB_SOURCE_STEPS_SAID)
        warn(source,
             g_strdup_printf("%s: its time stamps stepped back by %.3f s: the clock was "
                             "set; times before and after do not compare%s",
                             leg->name, (double)step_ns / 1e9,
                             leg->steps == BB_SOURCE_STEPS_SAID ? "; further steps are only counted"
                                                                : ""));
}

// Reads the interfaces whose frame matters now. Returns false where the last one is lost.
static bool read_heads(LiveSource *source, BbHeadsNow now, GError **error)
{
    for (guint i = 0; i < source->count; i++) {
        Leg *leg = &source->legs[i];
        if (!bb_heads_wants(source->heads, i, now))
            continue;
        BbTapStatus status = bb_tap_next(leg->tap, &leg->head);
        if (G_LIKELY(status == BB_TAP_FRAME)) {
            gint64 step_ns = bb_heads_put(source->heads, i, leg->head.time_ns, now);
            leg->head.interface = i;
            if (G_UNLIKELY(step_ns))
                take_step(source, leg, step_ns);
            if (G_UNLIKELY(bb_tap_count_is_due(leg->tap)))
                count_leg(source, leg);
        } else if (status == BB_TAP_EMPTY) {
            bb_heads_none(source->heads, i, now);
        } else if (!lose_leg(source, i, error)) {
            return false;
        }
    }
    return true;
}

static bool give_head(const LiveSource *source, BbHeadsNow now, BbFrame *frame)
{
    bool crossed = false;
    int index = bb_heads_take(source->heads, now, &crossed);
    if (index < 0)
        return false;
    source->loss->count[BB_FRAMES_CROSSED] += crossed;
    *frame = source->legs[index].head;
    return true;
}

// Whether something came, or has waited long enough. An interface that has an error to tell is
// looked after at once.
static bool wait_for_more(LiveSource *source, BbHeadsNow now)
{
    struct pollfd waits[BB_SOURCE_INTERFACES];
    for (guint i = 0; i < source->count; i++) {
        const Leg *leg = &source->legs[i];
        bool wanted = leg->tap && bb_heads_wants(source->heads, i, now);
        waits[i] =
            (struct pollfd){.fd = wanted ? bb_tap_descriptor(leg->tap) : -1, .events = POLLIN};
    }
    gint64 rest_ns = bb_heads_wait(source->heads, now);
    int rest_ms = rest_ns == G_MAXINT64 ? POLL_MS : (int)MIN(rest_ns / 1000000 + 1, POLL_MS);
    int ready = poll(waits, source->count, rest_ms);
    for (guint i = 0; ready > 0 && i < source->count; i++)
        if (waits[i].revents & (POLLERR | POLLHUP))
            look_after(source, &source->legs[i], true);
    return ready > 0 || (ready == 0 && rest_ns != G_MAXINT64);
}

static BbHeadsNow tell_time(const LiveSource *source)
{
    if (source->count == 1)
        return (BbHeadsNow){0};
    return (BbHeadsNow){g_get_real_time() * 1000, g_get_monotonic_time()};
}

static BbSourceStatus live_next(gpointer state, BbFrame *frame, GError **error)
{
    LiveSource *source = state;
    BbHeadsNow now = tell_time(source);
    look_after_all(source, now.steady_us);
    if (!read_heads(source, now, error))
        return BB_SOURCE_ERROR;
    if (G_LIKELY(give_head(source, now, frame)))
        return BB_SOURCE_FRAME;
    if (is_over(source))
        return BB_SOURCE_END;
    look_after_all(source, g_get_monotonic_time());
    if (wait_for_more(source, now)) {
        now = tell_time(source);
        if (!read_heads(source, now, error))
            return BB_SOURCE_ERROR;
        if (give_head(source, now, frame))
            return BB_SOURCE_FRAME;
    }
    return BB_SOURCE_IDLE;
}

// ---- questions ----------------------------------------------------------------------------------

static guint live_descriptors(gpointer state, int *fds, guint max)
{
    const LiveSource *source = state;
    guint count = 0;
    for (guint i = 0; i < source->count; i++) {
        int fd = source->legs[i].tap ? bb_tap_descriptor(source->legs[i].tap) : -1;
        if (fd >= 0 && count++ < max)
            fds[count - 1] = fd;
    }
    return count;
}

static const char *live_stamps(gpointer state)
{
    const LiveSource *source = state;
    return source->stamps;
}

static const char *live_current(gpointer state)
{
    const LiveSource *source = state;
    return source->name;
}

static double live_progress(gpointer state)
{
    return -1;
}

const BbSourceKind bb_source_live = {
    .is_meant = live_is_meant,
    .open = live_open,
    .next = live_next,
    .update_loss = live_update_loss,
    .narrow = live_narrow,
    .end = live_end,
    .descriptors = live_descriptors,
    .stamps = live_stamps,
    .current = live_current,
    .progress = live_progress,
    .close = live_close,
};
