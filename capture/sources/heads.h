// SPDX-License-Identifier: Apache-2.0
// The next frame of each of several interfaces: whose turn is it? In the order of the stamps, as
// far as that can be known without waiting long:
//
// - The earliest of the frames at hand is given when every other interface has a frame at hand,
// too,
//   or had none when the earliest was BB_HEADS_WAIT_NS old: what was stamped before has come by
//   then. So an idle interface holds the others back for that time at most, and costs no order.
// - A stamp that lies further in the future than that time is of a clock of its own, or of one that
//   was set back since: it is not waited for.
// - Frames of another interface pass one at hand for BB_HEADS_PASS_US at most. Then frames are
// given
//   in the order in which they were read, until stamps at hand are within a second of each other
//   again: the clock was set, or adapters have clocks of their own.
#pragma once

#include <glib.h>
#include <stdbool.h>

// Above the time that the kernel holds back packets (BB_TAP_BLOCK_MS), with room for its timer.
#define BB_HEADS_WAIT_NS G_GINT64_CONSTANT(120000000)
#define BB_HEADS_PASS_US G_GINT64_CONSTANT(2000000)
// Stamps of an interface that step back by more: the clock was set.
#define BB_HEADS_STEP_NS G_GINT64_CONSTANT(1000000000)
// An interface is looked at this often, whatever the stamps say.
#define BB_HEADS_LOOK_US G_GINT64_CONSTANT(10000)

typedef struct BbHeads BbHeads;

// The time: of the clock that stamps should be of, and of one that never steps. Where there is only
// one interface nobody looks at it.
typedef struct BbHeadsNow {
    gint64 real_ns;
    gint64 steady_us;
} BbHeadsNow;

BbHeads *bb_heads_new(guint interfaces);
void bb_heads_free(BbHeads *heads);

// Whether the interface is to be read now: it has no frame at hand, and that matters.
bool bb_heads_wants(const BbHeads *heads, guint interface, BbHeadsNow now);
// It has this one. Returns by how much its stamps stepped back (ns), 0 where they did not by more
// than BB_HEADS_STEP_NS.
gint64 bb_heads_put(BbHeads *heads, guint interface, gint64 time_ns, BbHeadsNow now);
// It had none.
void bb_heads_none(BbHeads *heads, guint interface, BbHeadsNow now);
// It takes no part from here on; and again.
void bb_heads_leave(BbHeads *heads, guint interface);
void bb_heads_join(BbHeads *heads, guint interface);

// Whose frame is given now; -1: nobody's yet. *crossed: its stamp is before that of a frame which
// another interface gave.
int bb_heads_take(BbHeads *heads, BbHeadsNow now, bool *crossed);
// How long until the earliest is given though others have none (ns, from 0 on); G_MAXINT64 where
// there is none.
gint64 bb_heads_wait(const BbHeads *heads, BbHeadsNow now);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbHeads, bb_heads_free)
