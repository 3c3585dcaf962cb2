// SPDX-License-Identifier: Apache-2.0
// In: any bytes as a scenario. Checks that a refusal says why, and that what is taken runs: in
// order of time, with ids that count up and causes that came before.
#include "data/scenario.h"

#include <string.h>

#define MESSAGES 2000u

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size);

typedef struct {
    gint64 last_ns;
    guint64 ids, messages;
} Seen;

static bool check(const BbMessage *message, gpointer user, GError **error)
{
    Seen *seen = user;
    g_assert(message->time_ns >= seen->last_ns);
    seen->last_ns = message->time_ns;
    if (message->kind != BB_RETURN)
        g_assert(message->id.number == ++seen->ids);
    g_assert(message->id.number > 0 && message->id.number <= seen->ids);
    g_assert(message->parent.form == BB_ID_DASH || message->parent.number < message->id.number);
    g_assert(bb_id_is_known(message->path));
    if (++seen->messages < MESSAGES)
        return true;
    g_set_error_literal(error, BB_SCENARIO_ERROR, BB_SCENARIO_ERROR_RUN, "enough");
    return false;
}

static void run(const BbScenario *scenario)
{
    g_autoptr(GError) error = NULL;
    Seen seen = {0};
    const BbScenarioOptions options = {
        .seed = 1,
        .duration_ns = BB_TIME_NONE,
        .messages = MESSAGES / 2,
    };
    bool good = bb_scenario_run(scenario, &options, check, &seen, &error);
    g_assert(good == (error == NULL));
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    const char *const settings[] = {"rate=5/s", NULL};
    g_autoptr(GError) error = NULL;
    g_autoptr(BbNames) names = bb_names_new();
    g_autofree char *text = g_strndup((const char *)data, size);
    g_autofree char *title = bb_scenario_title(text);
    g_assert(strlen(title) <= size);
    bool is_set = strstr(text, "set rate") != NULL;
    g_autoptr(BbScenario) scenario = bb_scenario_parse((const char *)data, size, "fuzz",
                                                       is_set ? settings : NULL, names, &error);
    g_assert((scenario != NULL) == (error == NULL));
    g_assert(!error || strlen(error->message) > strlen("fuzz:1: "));
    if (scenario)
        run(scenario);
    return 0;
}
