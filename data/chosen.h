// SPDX-License-Identifier: Apache-2.0
// Which path instances of a trace a view is of, where that is not all of them.
#pragma once

#include "data/json.h"

#include <stdbool.h>

typedef struct BbChosen {
    const char *by;        // the conditions, as the options that made them; lent; NULL: all are
    guint64 instances, of; // if counted. Calls without return are none
    bool counted;
} BbChosen;

// "Chosen by --root=web1 --errors: 12 of 3,456 requests", where an instance is called request.
// chosen may be NULL here and below.
bool bb_chosen_append(GString *out, const BbChosen *chosen, const char *noun);
// The member "chosen" of an object; nothing where all are.
void bb_chosen_write(const BbChosen *chosen, BbJson *json);

// What a share is of: " of all paths", " of the chosen paths".
void bb_chosen_append_whole(GString *out, const BbChosen *chosen, const char *what);
