// SPDX-License-Identifier: Apache-2.0
// One look at a child of an assignment: which changes would make it likelier, and by how much; and
// one of them, the best or one by chance.
#pragma once

#include "data/random.h"
#include "nesting/scores.h"

#define BB_LOOK_LONE 8u // children without parent that may come to one along with another
#define BB_LOOK_NO_TARGET (BB_SITE_NONE - 1)

typedef enum {
    BB_CHANGE_STAY,
    BB_CHANGE_LEAVE,
    BB_CHANGE_PAIR,
    BB_CHANGE_MOVE,
    BB_CHANGE_JOIN,
    BB_CHANGE_SWAP,
    BB_CHANGE_TAIL,
    BB_CHANGE_RUN,
} BbWay;

// A change: child x goes to parent `to`; swap: against y; tail: against all of to's children from
// place y on; run: all on x's connection against all on y's (trial.h). Or x leaves its parent;
// pair: with y. join: x and y, which have none, go to it.
typedef struct BbChange {
    BbWay way;
    guint32 to, y;
    double delta;
} BbChange;

// What a look at a child gathers.
typedef struct BbLook {
    BbChange best;
    double temperature;
    double weight;              // of all changes, staying included
    guint32 n;                  // candidates
    double each;                // other places for each that is looked at, but for the target
    double nearest;             // log likelihood ratio of the best change looked at
    guint32 lone[BB_LOOK_LONE]; // x has no parent: others after it that have none
    guint32 n_lone;
    guint32 target; // the share of changes that lead to this parent is asked for
    double share;
} BbLook;

// What is looked at; all is lent.
typedef struct BbLooks {
    BbSite *site;
    const BbModel *model;
    BbScores *scores;
    BbRandom *random;
    guint32 tried; // other places of a child looked at by a random change
} BbLooks;

// temperature: search.h.
BbLook bb_look_start(double temperature);

// Looks at child x: look->best is a change, or none.
void bb_look_at(BbLooks *looks, BbLook *look, guint32 x);

// Makes the change, and tells the scores.
void bb_look_carry_out(BbLooks *looks, guint32 x, const BbChange *change);
