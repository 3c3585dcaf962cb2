// SPDX-License-Identifier: Apache-2.0
// In: signs of pressure, and the time. Out: how much is to be left out.
#include "capture/shed.h"

// Shares of a window, in eighths, that reading waited.
#define WAITED_PRESSED 7
#define WAITED_STRAINED 4
#define WAITED_CALM 2

// Drops that are pressure: more than so many a window, and than one in so many packets; fewer are
// where they come window after window.
#define DROPS_MOST 7
#define DROPS_ONE_IN 1000

#define NEVER G_MININT64

typedef struct Window {
    gint64 begun_ns;
    guint64 received, dropped; // as of its beginning
    gint64 waited_ns;
    gint64 lag_ns; // the least that was seen in it, or BB_SHED_LAG_UNKNOWN
} Window;

// Strained: decoding is slower than reading by now, but nothing need be lost yet.
typedef enum { CALM, NEITHER, STRAINED, PRESSED } Mood;

struct BbShed {
    guint level, first; // first: above 0
    Window window;
    gint64 before_lag_ns; // of the window before
    bool before_dropped;  // likewise
    gint64 looked_ns;     // NEVER: not yet
    gint64 calm_since_ns; // NEVER: it is not calm
    gint64 calm_ns;       // that is waited for
    gint64 changed_ns;    // when there was pressure, or a level was lowered, last
    gint64 lowered_ns;    // when a level was lowered last; NEVER
    guint64 raises;
    gint64 spent_ns[BB_SHED_MOST + 1];
};

BbShed *bb_shed_new(bool can_trim)
{
    BbShed *shed = g_new0(BbShed, 1);
    shed->first = can_trim ? BB_SHED_TRIMS : BB_SHED_TRIMS + 1;
    shed->looked_ns = shed->calm_since_ns = shed->lowered_ns = NEVER;
    shed->calm_ns = BB_SHED_CALM_NS;
    shed->before_lag_ns = shed->window.lag_ns = BB_SHED_LAG_UNKNOWN;
    return shed;
}

void bb_shed_free(BbShed *shed)
{
    g_free(shed);
}

static void begin_window(BbShed *shed, gint64 now_ns, const BbShedSigns *signs)
{
    shed->before_lag_ns = shed->window.lag_ns;
    shed->before_dropped = signs->dropped > shed->window.dropped;
    shed->window = (Window){.begun_ns = now_ns,
                            .received = signs->received,
                            .dropped = signs->dropped,
                            .waited_ns = signs->waited_ns,
                            .lag_ns = BB_SHED_LAG_UNKNOWN};
}

// A ring that filled is read in time as soon as less is kept: it only has to be emptied.
static bool is_falling_behind(const BbShed *shed)
{
    gint64 lag_ns = shed->window.lag_ns, before_ns = shed->before_lag_ns;
    return lag_ns >= BB_SHED_LAG_NS && before_ns != BB_SHED_LAG_UNKNOWN &&
           lag_ns > before_ns - BB_SHED_WINDOW_NS / 8;
}

// One burst that just did not fit is over when it is seen.
static bool drops(const BbShed *shed, const BbShedSigns *signs)
{
    guint64 dropped = signs->dropped - shed->window.dropped;
    guint64 received = signs->received - shed->window.received;
    if (dropped == 0)
        return false;
    return shed->before_dropped || (dropped > DROPS_MOST && dropped > received / DROPS_ONE_IN);
}

static Mood judge(const BbShed *shed, gint64 length_ns, const BbShedSigns *signs)
{
    const Window *window = &shed->window;
    gint64 waited_ns = signs->waited_ns - window->waited_ns;
    bool lags = window->lag_ns >= BB_SHED_LAG_NS; // unknown is the least of all numbers
    if (drops(shed, signs) || waited_ns >= length_ns / 8 * WAITED_PRESSED ||
        is_falling_behind(shed))
        return PRESSED;
    if (lags || waited_ns >= length_ns / 8 * WAITED_STRAINED)
        return STRAINED;
    return waited_ns < length_ns / 8 * WAITED_CALM && window->lag_ns < BB_SHED_LAG_NS / 2 ? CALM
                                                                                          : NEITHER;
}

static void raise_level(BbShed *shed, gint64 now_ns)
{
    bool too_early = shed->lowered_ns != NEVER && now_ns - shed->lowered_ns <= 2 * shed->calm_ns;
    shed->level = MAX(shed->level + 1, shed->first);
    shed->raises++;
    if (too_early)
        shed->calm_ns = MIN(2 * shed->calm_ns, BB_SHED_CALM_MOST_NS);
    shed->lowered_ns = NEVER;
}

static void lower_level(BbShed *shed, gint64 now_ns)
{
    if (shed->level == 0) {
        shed->calm_ns = BB_SHED_CALM_NS;
        return;
    }
    if (shed->lowered_ns != NEVER) // the time before was not too early
        shed->calm_ns = MAX(shed->calm_ns / 2, BB_SHED_CALM_NS);
    shed->level = shed->level > shed->first ? shed->level - 1 : 0;
    shed->calm_since_ns = shed->lowered_ns = shed->changed_ns = now_ns;
}

static void end_window(BbShed *shed, gint64 now_ns, const BbShedSigns *signs)
{
    Mood mood = judge(shed, now_ns - shed->window.begun_ns, signs);
    if (mood != CALM)
        shed->calm_since_ns = NEVER;
    else if (shed->calm_since_ns == NEVER)
        shed->calm_since_ns = shed->window.begun_ns;
    if (mood == PRESSED)
        shed->changed_ns = now_ns;
    bool stays = shed->level > BB_SHED_TRIMS && now_ns - shed->changed_ns >= BB_SHED_CALM_MOST_NS;
    if (mood == PRESSED && shed->level < BB_SHED_MOST)
        raise_level(shed, now_ns);
    else if (mood == STRAINED && shed->level == 0 && shed->first == BB_SHED_TRIMS)
        raise_level(shed, now_ns);
    else if (stays || (mood == CALM && now_ns - shed->calm_since_ns >= shed->calm_ns))
        lower_level(shed, now_ns);
    begin_window(shed, now_ns, signs);
}

guint bb_shed_look(BbShed *shed, gint64 now_ns, const BbShedSigns *signs)
{
    Window *window = &shed->window;
    if (shed->looked_ns == NEVER) {
        begin_window(shed, now_ns, signs);
        shed->before_dropped = false;
    } else {
        shed->spent_ns[shed->level] += now_ns - shed->looked_ns;
    }
    shed->looked_ns = now_ns;
    if (signs->lag_ns != BB_SHED_LAG_UNKNOWN &&
        (window->lag_ns == BB_SHED_LAG_UNKNOWN || signs->lag_ns < window->lag_ns))
        window->lag_ns = signs->lag_ns;
    if (now_ns - window->begun_ns >= BB_SHED_WINDOW_NS)
        end_window(shed, now_ns, signs);
    return shed->level;
}

guint bb_shed_level(const BbShed *shed)
{
    return shed->level;
}

guint64 bb_shed_raises(const BbShed *shed)
{
    return shed->raises;
}

gint64 bb_shed_spent(const BbShed *shed, guint level)
{
    return shed->spent_ns[level];
}
