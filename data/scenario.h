// SPDX-License-Identifier: Apache-2.0
// A scenario (bbtrace-scenario(5)): what the nodes of a distributed system do, as text, from which
// traces with ground truth are made. The paper's maketrace (section 7.1.1), and more.
//
//     g_autoptr(BbScenario) scenario = bb_scenario_read(path, settings, names, &error);
//     bb_scenario_run(scenario, &options, sink, user, &error);
#pragma once

#include "data/message.h"
#include "data/order.h"
#include "data/pools.h"

#define BB_SCENARIO_ERROR bb_scenario_error_quark()
GQuark bb_scenario_error_quark(void);
typedef enum {
    BB_SCENARIO_ERROR_TEXT,    // a line of the scenario makes no sense
    BB_SCENARIO_ERROR_SETTING, // a setting from outside that the scenario does not know
    BB_SCENARIO_ERROR_RUN,     // it makes sense, but asks for too much
} BbScenarioError;

// Limits: what a scenario may ask for.
#define BB_SCENARIO_BYTES_MAX ((gsize)1 << 20) // of its text
#define BB_SCENARIO_TOKENS_MAX (1u << 18)      // after parameters were put in
#define BB_SCENARIO_NESTING_MAX 64u            // braces and parallel, choose, repeat in each other
#define BB_SCENARIO_DEPTH_MAX 1000u            // messages that cause each other
#define BB_SCENARIO_UNDER_WAY_MAX (1u << 20)   // calls, and what they do at once
#define BB_SCENARIO_LINES_MAX (1u << 20)       // of workers and pools
#define BB_SCENARIO_SILENCE_MAX 1000000u       // steps in a row that send nothing

typedef struct BbScenario BbScenario;

// Takes a scenario apart. settings: "name=value" each, may be NULL; they go before what the
// scenario itself sets. file is its name for messages. names is lent, and receives nodes and
// labels. Errors say file, line, reason and remedy.
BbScenario *bb_scenario_parse(const char *text, gsize size, const char *file,
                              const char *const *settings, BbNames *names, GError **error);
// The same of a file; "-" is standard input.
BbScenario *bb_scenario_read(const char *path, const char *const *settings, BbNames *names,
                             GError **error);
void bb_scenario_free(BbScenario *scenario);

// "500s", "2h": the times of a scenario. Returns false if it is none.
bool bb_scenario_parse_time(const char *text, gint64 *time_ns);

// The first line of comment, without its #; empty if there is none. The result is yours.
char *bb_scenario_title(const char *text);

typedef struct BbScenarioOptions {
    guint64 seed;
    gint64 duration_ns; // nothing new begins later; BB_TIME_NONE: as the scenario says
    guint64 messages;   // nothing new begins after so many; 0: as the scenario says
    bool without_ids;   // messages have none; parent= counts calls and free messages in their order
    bool without_truth; // nor path= and parent=
    BbPools *pools;     // that give calls their connections; NULL: they have none. Lent
} BbScenarioOptions;

// Makes the trace: hands its messages to sink in order of time. What is under way at the end comes
// to its own end. The same seed gives the same messages. Memory: what is under way at once.
bool bb_scenario_run(const BbScenario *scenario, const BbScenarioOptions *options,
                     BbMessageSink sink, gpointer user, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbScenario, bb_scenario_free)
