// SPDX-License-Identifier: Apache-2.0
// A mirror on this host: commands for tc(8) and ip(8), and how what they made is known again.
//
// A copy is made by a filter on a clsact qdisc (tc(8), tc-mirred(8)) that ends in "continue", so
// that the filters of others see each frame as before. Its action carries a cookie, which says that
// the filter is ours and whether the qdisc is. Filters go when their qdisc goes, so where a filter
// says that the qdisc is ours, it is. Nothing is kept outside of the kernel.
#pragma once

#include "capture/mirror/host.h"
#include "capture/mirror/plan.h"

// Filters with a lower preference are asked first, so it is low, but none that others use by habit.
#define BB_MIRROR_PREF 37u
#define BB_MIRROR_PREFS 32u         // mirrors of one interface, at most; each direction is one
#define BB_MIRROR_DEVICE "bbmirror" // and a number: name of a tunnel that is ours
#define BB_MIRROR_ALIAS "bbtrace-mirror," // and kind, address, id, local: its alias

typedef enum { BB_CLASSIFIER_AUTO, BB_CLASSIFIER_MATCHALL, BB_CLASSIFIER_U32 } BbMirrorClassifier;

bool bb_mirror_owns_filter(const BbHostFilter *filter);
bool bb_mirror_owns_tunnel(const BbHostInterface *interface);
// Whether it is ours and copies to an interface that is no more: made again under the same name, it
// is another one for the kernel, and gets nothing.
bool bb_mirror_is_gone(const BbHostFilter *filter, const BbMirrorHost *host);
// Adds to the plan what removes that filter of ours.
void bb_mirror_plan_filter_del(BbMirrorPlan *plan, const BbHostFilter *filter,
                               const BbMirrorHost *host);
// "vxlan 10.0.0.1 id 7" of a tunnel that is ours; yours to free.
char *bb_mirror_describe_tunnel(const BbHostInterface *interface);

// Refuses what cannot be: interfaces that there are not, and loops. underlay is the interface over
// which the collector is reached; NULL where copies go into no tunnel.
bool bb_mirror_check_linux(const BbMirror *mirror, const BbMirrorHost *host, const char *underlay,
                           GError **error);

// What adds to the host that which is not there yet, and removes what stands there for it to an
// interface that is gone; no command where all is. Auto means matchall,
// and u32 where the kernel has none. An empty host makes the commands for any.
BbMirrorPlan *bb_mirror_plan_linux(const BbMirror *mirror, const BbMirrorHost *host,
                                   BbMirrorClassifier classifier, GError **error);

// Which mirrors to remove: those for which all that is said holds.
typedef struct BbMirrorSelection {
    const char *const *from; // names, or NULL for any
    BbMirrorDirection direction;
    bool any_target;
    BbMirrorTarget target;
    const char *to; // interface, or address in its usual form
    bool gone;      // only those whose copies go to an interface that is no more
} BbMirrorSelection;

// What removes them: filters that are ours, qdiscs that are ours and hold nothing else, tunnels
// that are ours and get no copies any more. No command where there are none.
BbMirrorPlan *bb_mirror_plan_linux_del(const BbMirrorSelection *selection,
                                       const BbMirrorHost *host);
