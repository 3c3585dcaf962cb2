// SPDX-License-Identifier: Apache-2.0
// In: any bytes as the text of a trigger. Checks that what is refused is told, that what is taken
// keeps its limits and says the same when read again, and that it takes messages.
#include "diagnose/trigger.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size);

static void try_rule(const BbTriggerRule *rule)
{
    bool window = rule->kind == BB_TRIGGER_LATENCY || rule->kind == BB_TRIGGER_ERRORS;
    gint64 time_ns = window ? rule->window_ns : rule->limit_ns;
    g_assert(time_ns >= BB_TRIGGER_TIME_MIN && time_ns <= BB_TRIGGER_TIME_MAX);
    g_assert(rule->limit_ns >= 0 && rule->limit_ns <= BB_TRIGGER_TIME_MAX);
    g_assert(rule->quantile >= 0 && rule->quantile <= 1 && rule->share >= 0 && rule->share < 1);
    g_assert(!window || rule->least >= 1);
    g_autoptr(BbTriggerRule) again = bb_trigger_rule_parse(rule->text, NULL);
    g_assert(again && again->kind == rule->kind && again->limit_ns == rule->limit_ns &&
             strcmp(again->text, rule->text) == 0);
}

static void try_messages(const char *text)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbTriggers) triggers = bb_triggers_new(names);
    g_assert(bb_triggers_add(triggers, text, NULL));
    for (guint i = 0; i < 40; i++) {
        BbMessage message = bb_message_empty();
        message.kind = i % 2 ? BB_RETURN : BB_CALL;
        message.id = bb_id_number(i / 3);
        message.time_ns = (gint64)i * i * 70000000;
        message.sender = bb_names_intern(names, i % 2 ? "db" : "app");
        message.receiver = bb_names_intern(names, i % 2 ? "app" : "db");
        message.op = bb_names_intern(names, text);
        bb_triggers_push(triggers, &message);
    }
    bb_triggers_tick(triggers, G_MAXINT64 / 2);
    BbTriggerFiring firing;
    while (bb_triggers_next(triggers, &firing)) {
        g_assert(g_utf8_validate(firing.what, -1, NULL));
        g_free(firing.what);
    }
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    g_autofree char *text = g_strndup((const char *)data, size);
    g_autoptr(GError) error = NULL;
    g_autoptr(BbTriggerRule) rule = bb_trigger_rule_parse(text, &error);
    g_assert(!rule == !!error);
    if (!rule)
        return 0;
    try_rule(rule);
    try_messages(rule->text);
    return 0;
}
