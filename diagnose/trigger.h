// SPDX-License-Identifier: Apache-2.0
// Triggers: what is to be noticed in a flow of messages while it goes by (trigger_rule.h). Time is
// that of the messages, so that a replay fires the same.
//
// A window is cut into BB_TRIGGER_SLICES slices of equal length, that begin at multiples of it
// since 1970; its figure is looked at when a slice ends. So a firing comes up to a slice after the
// fact. A rule fires when its condition becomes true: once for a window that stays bad, once for
// each call that stays open and for each silence of a node.
//
// Limits: BB_TRIGGERS rules; BB_TRIGGERS_OPEN open calls, the one that began to be watched first is
// forgotten beyond (counted); BB_TRIGGERS_NODES nodes watched for silence, later ones are not
// (counted); a window has BB_TRIGGER_SLICES BbStats of up to 60 KB. 16 bytes a name on top.
#pragma once

#include "data/message.h"
#include "diagnose/trigger_rule.h"

typedef struct BbTriggers BbTriggers;

#define BB_TRIGGERS 16u
#define BB_TRIGGERS_OPEN 65536u
#define BB_TRIGGERS_NODES 4096u
#define BB_TRIGGER_SLICES 20
// A clock that goes back by more than this begins anew: windows, open calls and silences are
// forgotten (counted). By less, it is disorder.
#define BB_TRIGGERS_BACK_NS ((gint64)10000000000)

// names are lent.
BbTriggers *bb_triggers_new(const BbNames *names);
void bb_triggers_free(BbTriggers *triggers);

// Adds a rule. Fails where its text is wrong, or where there are BB_TRIGGERS already.
bool bb_triggers_add(BbTriggers *triggers, const char *text, GError **error);
guint bb_triggers_count(const BbTriggers *triggers);
const BbTriggerRule *bb_triggers_rule(const BbTriggers *triggers, guint index);

// Whether a call, a return or, of silent, a node came that the rule is about, fired or not.
bool bb_triggers_have_met(const BbTriggers *triggers, guint index);

// What firings say in place of a name: of an operation, or of a node. Without it, the name itself.
typedef guint32 (*BbTriggersShow)(gpointer user, guint32 name, bool is_op);
void bb_triggers_show(BbTriggers *triggers, BbTriggersShow show, gpointer user);

// Takes a message, nearly in order of time. Calls and returns are those of one id between a caller
// and a callee; second sightings do not count. A return counts at its own time, where the window
// still reaches back to it (others are counted as late).
void bb_triggers_push(BbTriggers *triggers, const BbMessage *message);
// That node has sent something of which there is no message, as it was left out: it is not silent.
void bb_triggers_hear(BbTriggers *triggers, guint32 node, gint64 time_ns);
// Whether some rule is about that.
bool bb_triggers_have_silence(const BbTriggers *triggers);
// Time has come to now_ns, even without a message.
void bb_triggers_tick(BbTriggers *triggers, gint64 now_ns);

typedef struct BbTriggerFiring {
    guint rule;
    gint64 time_ns; // end of the slice in which the condition was found true
    char *what;     // the figure, in printable UTF-8: "p99 612 ms of 128 calls"; the caller's
} BbTriggerFiring;

// The oldest firing that was not asked for yet. Returns false where there is none.
bool bb_triggers_next(BbTriggers *triggers, BbTriggerFiring *firing);

typedef struct BbTriggersCounts {
    guint64 late;      // returns that came after their window
    guint64 forgotten; // open calls beyond the limit
    guint64 unwatched; // nodes beyond the limit
    guint64 back;      // times that the clock was set back
} BbTriggersCounts;
BbTriggersCounts bb_triggers_counts(const BbTriggers *triggers);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbTriggers, bb_triggers_free)
