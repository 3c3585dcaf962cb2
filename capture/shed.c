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

// What is read must grow by one part in so many of what could be.
#define GAIN_ONE_IN 4

#define NEVER G_MININT64
#define PAUSE_NS (10 * BB_SHED_WINDOW_NS) // without a look, nor waiting for the threads that decode

typedef struct Window {
    gint64 begun_ns;
    guint64 received, dropped, read; // as of its beginning
    gint64 waited_ns;
    gint64 lag_ns; // the least that was seen in it, or BB_SHED_LAG_UNKNOWN
} Window;

// Strained: decoding is slower than reading by now, but nothing need be lost yet.
typedef enum { CALM, NEITHER, STRAINED, PRESSED } Mood;

// Whether leaving out more helps.
typedef struct Trial {
    bool runs;
    guint base, turned; // level and first part before
    double rate;        // packets read a second with that, under pressure
    guint turns;        // parts that have had theirs
    gint64 from_ns;     // when what is left out was changed last
    gint64 pressed_ns;  // windows of pressure since then,
    guint64 read;       // and what was read in them
} Trial;

struct BbShed {
    guint level, first; // first: above 0
    BbShedDraw draw;
    gpointer user;
    bool drawn; // there is a seed
    BbShedding now;
    Trial trial;
    gint64 vain_ns; // until when no more is tried
    guint64 turns, vain;
    Window window;
    gint64 before_lag_ns; // of the window before
    bool before_dropped;  // likewise
    gint64 looked_ns;     // NEVER: not yet
    gint64 waited_ns;     // as of then
    gint64 calm_since_ns; // NEVER: it is not calm
    gint64 calm_ns;       // that is waited for
    gint64 changed_ns;    // when there was pressure, or a level was lowered, last
    gint64 lowered_ns;    // when a level was lowered last; NEVER
    guint64 raises;
    gint64 spent_ns[BB_SHED_MOST + 1];
};

BbShed *bb_shed_new(bool can_trim, BbShedDraw draw, gpointer user)
{
    BbShed *shed = g_new0(BbShed, 1);
    shed->draw = draw;
    shed->user = user;
    shed->vain_ns = NEVER;
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
                            .read = signs->read,
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
    bool fills = signs->room <= BB_SHED_ROOM;
    if (drops(shed, signs) ||
        (fills && (waited_ns >= length_ns / 8 * WAITED_PRESSED || is_falling_behind(shed))))
        return PRESSED;
    if (lags || waited_ns >= length_ns / 8 * WAITED_STRAINED)
        return STRAINED;
    return waited_ns < length_ns / 8 * WAITED_CALM && window->lag_ns < BB_SHED_LAG_NS / 2 ? CALM
                                                                                          : NEITHER;
}

static void set_level(BbShed *shed, guint level)
{
    shed->now.parts = (guint8)bb_shed_parts(level);
    shed->now.trims = level >= BB_SHED_TRIMS;
    shed->level = level;
}

static void raise_level(BbShed *shed, gint64 now_ns)
{
    bool too_early = shed->lowered_ns != NEVER && now_ns - shed->lowered_ns <= 2 * shed->calm_ns;
    bool kept_all = !shed->now.parts;
    set_level(shed, MAX(shed->level + 1, shed->first));
    if (kept_all && shed->now.parts && (!too_early || !shed->drawn)) {
        shed->now.seed = shed->draw(shed->user);
        shed->now.first = 0;
        shed->drawn = true;
    }
    shed->raises++;
    if (too_early)
        shed->calm_ns = MIN(2 * shed->calm_ns, BB_SHED_CALM_MOST_NS);
    shed->lowered_ns = NEVER;
}

static void lower_level(BbShed *shed, gint64 now_ns)
{
    shed->trial.runs = false; // it has helped
    if (shed->level == 0) {
        shed->calm_ns = BB_SHED_CALM_NS;
        return;
    }
    if (shed->lowered_ns != NEVER) // the time before was not too early
        shed->calm_ns = MAX(shed->calm_ns / 2, BB_SHED_CALM_NS);
    set_level(shed, shed->level > shed->first ? shed->level - 1 : 0);
    shed->calm_since_ns = shed->lowered_ns = shed->changed_ns = now_ns;
}

// ---- whether it helps ---------------------------------------------------------------------------

static void begin_trial(BbShed *shed, gint64 now_ns, double rate)
{
    shed->trial = (Trial){.runs = true,
                          .base = shed->level,
                          .turned = shed->now.first,
                          .rate = rate,
                          .from_ns = now_ns};
}

// Decoding takes as much longer as less of it is kept.
static bool has_helped(const BbShed *shed, guint64 read, double rate)
{
    double before = BB_SHED_PARTS - bb_shed_parts(shed->trial.base);
    double now = BB_SHED_PARTS - shed->now.parts;
    return read > 0 && rate >= shed->trial.rate * (1 + (before / now - 1) / GAIN_ONE_IN);
}

static void give_up(BbShed *shed, gint64 now_ns)
{
    set_level(shed, shed->trial.base);
    shed->now.first = (guint8)shed->trial.turned;
    shed->vain_ns = now_ns + BB_SHED_CALM_MOST_NS;
    shed->changed_ns = now_ns;
    shed->trial.runs = false;
    shed->vain++;
}

static void turn(BbShed *shed, gint64 now_ns)
{
    Trial *trial = &shed->trial;
    trial->turns += shed->now.parts;
    trial->from_ns = now_ns;
    trial->pressed_ns = 0;
    trial->read = 0;
    if (trial->turns >= BB_SHED_PARTS) {
        give_up(shed, now_ns);
        return;
    }
    shed->now.first = (guint8)((shed->now.first + shed->now.parts) % BB_SHED_PARTS);
    shed->turns++;
}

// All that is on trial is left out, and there is pressure: windows without it tell how much came,
// not how fast it can be read.
static void judge_trial(BbShed *shed, gint64 now_ns, const BbShedSigns *signs)
{
    Trial *trial = &shed->trial;
    if (shed->window.begun_ns < trial->from_ns + BB_SHED_WINDOW_NS) // in part it is of before
        return;
    trial->pressed_ns += now_ns - shed->window.begun_ns;
    trial->read += signs->read - shed->window.read;
    if (trial->pressed_ns < BB_SHED_TRIAL_NS)
        return;
    double rate = (double)trial->read * 1e9 / (double)trial->pressed_ns;
    if (has_helped(shed, trial->read, rate))
        begin_trial(shed, now_ns, rate);
    else
        turn(shed, now_ns);
}

static void press(BbShed *shed, gint64 now_ns, const BbShedSigns *signs)
{
    const Window *window = &shed->window;
    double rate = (double)(signs->read - window->read) * 1e9 / (double)(now_ns - window->begun_ns);
    if (shed->level < BB_SHED_TRIMS && shed->first == BB_SHED_TRIMS) {
        raise_level(shed, now_ns);
        return;
    }
    if (now_ns < shed->vain_ns)
        return;
    if (!shed->trial.runs)
        begin_trial(shed, now_ns, rate);
    guint most = MIN(bb_shed_parts(shed->trial.base) + BB_SHED_TRIAL_PARTS, BB_SHED_PARTS - 1);
    if (shed->now.parts < most) {
        shed->trial.rate = MIN(shed->trial.rate, rate); // it may have become slow just now
        shed->trial.from_ns = now_ns;
        raise_level(shed, now_ns);
    } else if (shed->level > shed->trial.base) {
        judge_trial(shed, now_ns, signs);
    }
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
    if (mood == PRESSED)
        press(shed, now_ns, signs);
    else if (mood == STRAINED && shed->level == 0 && shed->first == BB_SHED_TRIMS)
        raise_level(shed, now_ns);
    else if (stays || (mood == CALM && now_ns - shed->calm_since_ns >= shed->calm_ns))
        lower_level(shed, now_ns);
    begin_window(shed, now_ns, signs);
}

// Who was stopped (SIGSTOP, a host that slept) has not been too slow: what waits meanwhile is read
// fast, and whether that is so the next windows tell. Drops count as ever.
static void forget_lag(BbShed *shed, const BbShedSigns *signs)
{
    shed->window.lag_ns = shed->before_lag_ns = BB_SHED_LAG_UNKNOWN;
    shed->window.waited_ns = signs->waited_ns;
}

void bb_shed_look(BbShed *shed, gint64 now_ns, const BbShedSigns *signs)
{
    Window *window = &shed->window;
    if (shed->looked_ns == NEVER) {
        begin_window(shed, now_ns, signs);
        shed->before_dropped = false;
    } else {
        shed->spent_ns[shed->level] += now_ns - shed->looked_ns;
    }
    gint64 waited_ns = signs->waited_ns - shed->waited_ns;
    if (shed->looked_ns != NEVER && now_ns - shed->looked_ns - waited_ns >= PAUSE_NS)
        forget_lag(shed, signs);
    shed->looked_ns = now_ns;
    shed->waited_ns = signs->waited_ns;
    if (signs->lag_ns != BB_SHED_LAG_UNKNOWN &&
        (window->lag_ns == BB_SHED_LAG_UNKNOWN || signs->lag_ns < window->lag_ns))
        window->lag_ns = signs->lag_ns;
    if (now_ns - window->begun_ns >= BB_SHED_WINDOW_NS)
        end_window(shed, now_ns, signs);
}

guint bb_shed_level(const BbShed *shed)
{
    return shed->level;
}

BbShedding bb_shed_now(const BbShed *shed)
{
    return shed->now;
}

guint64 bb_shed_turns(const BbShed *shed)
{
    return shed->turns;
}

guint64 bb_shed_vain(const BbShed *shed)
{
    return shed->vain;
}

guint64 bb_shed_raises(const BbShed *shed)
{
    return shed->raises;
}

gint64 bb_shed_spent(const BbShed *shed, guint level)
{
    return shed->spent_ns[level];
}
