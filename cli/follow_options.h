// SPDX-License-Identifier: Apache-2.0
// What --follow, --follow-not and --hops say: whom a capture begins with, and how far it goes.
#pragma once

#include "capture/follow.h"

#define BB_FOLLOW_HOPS_NONE G_MININT

typedef struct BbFollowChoice {
    char **entrances, **others; // as given; NULL: nobody is followed, or nobody left out
    int hops;                   // BB_FOLLOW_HOPS_NONE: nobody said so
    GArray *entrance_ends;      // of BbFollowEnd
    GArray *other_ends;         // likewise
} BbFollowChoice;

// Returns an exit status where the words make no sense, which was said, or -1 to go on.
int bb_follow_choice_parse(BbFollowChoice *choice, const char *program);
void bb_follow_choice_clear(BbFollowChoice *choice);
