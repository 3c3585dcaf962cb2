// SPDX-License-Identifier: Apache-2.0
// In: commands, one by one. Out: a plan, to be carried out or shown.
#include "capture/mirror/plan.h"

#include "data/shell_word.h"

static void command_free(gpointer data)
{
    BbMirrorCommand *command = data;
    g_strfreev(command->run);
    g_strfreev(command->instead);
    g_strfreev(command->undo);
    g_free(command);
}

BbMirrorPlan *bb_mirror_plan_new(void)
{
    BbMirrorPlan *plan = g_new0(BbMirrorPlan, 1);
    plan->commands = g_ptr_array_new_with_free_func(command_free);
    plan->notes = g_ptr_array_new_with_free_func(g_free);
    return plan;
}

void bb_mirror_plan_free(BbMirrorPlan *plan)
{
    g_ptr_array_unref(plan->commands);
    g_ptr_array_unref(plan->notes);
    g_free(plan);
}

static char **argv_of(const char *format, va_list args) G_GNUC_PRINTF(1, 0);
static char **argv_of(const char *format, va_list args)
{
    g_autofree char *line = g_strdup_vprintf(format, args);
    return g_strsplit(line, " ", -1);
}

char **bb_mirror_argv(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char **argv = argv_of(format, args);
    va_end(args);
    return argv;
}

BbMirrorCommand *bb_mirror_plan_add(BbMirrorPlan *plan, const char *format, ...)
{
    BbMirrorCommand *command = g_new0(BbMirrorCommand, 1);
    va_list args;
    va_start(args, format);
    command->run = argv_of(format, args);
    va_end(args);
    g_ptr_array_add(plan->commands, command);
    return command;
}

void bb_mirror_plan_note(BbMirrorPlan *plan, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_ptr_array_add(plan->notes, g_strdup_vprintf(format, args));
    va_end(args);
}

void bb_mirror_append_command(GString *out, const char *const *argv)
{
    for (guint i = 0; argv[i]; i++) {
        g_autofree char *quoted = bb_shell_word(argv[i]);
        g_string_append_printf(out, "%s%s", i ? " " : "", quoted);
    }
}

void bb_mirror_append_plan(GString *out, const BbMirrorPlan *plan)
{
    for (guint i = 0; i < plan->commands->len; i++) {
        const BbMirrorCommand *command = plan->commands->pdata[i];
        bb_mirror_append_command(out, (const char *const *)command->run);
        g_string_append_c(out, '\n');
        if (!command->instead)
            continue;
        g_string_append(out, "#   or, without matchall in the kernel: ");
        bb_mirror_append_command(out, (const char *const *)command->instead);
        g_string_append_c(out, '\n');
    }
}
