// SPDX-License-Identifier: Apache-2.0
// In: words of --flight-recorder, --trigger, --socket and --snap-*. Out: what they mean.
#include "cli/recorder_options.h"

#include "data/recorder.h"
#include "diagnose/trigger.h"

#include <string.h>

#define NS_PER_S G_GINT64_CONSTANT(1000000000)
#define AFTER_NS (5 * NS_PER_S)
#define AFTER_MAX_NS (3600 * NS_PER_S)
#define PAUSE_NS (600 * NS_PER_S)
#define PAUSE_MAX_NS (366 * 24 * 3600 * NS_PER_S)
#define KEEP_FILES 32u
#define KEEP_FILES_MAX 100000u

void bb_recorder_options_clear(BbRecorderOptions *options)
{
    g_free(options->size_word);
    g_free(options->after_word);
    g_free(options->pause_word);
    g_free(options->keep_word);
    g_free(options->socket);
    g_strfreev(options->triggers);
}

char *bb_recorder_ring_path(const char *folder)
{
    return g_build_filename(folder, "ring.bbr", NULL);
}

char *bb_recorder_socket_path(const char *folder)
{
    return g_build_filename(folder, "control.sock", NULL);
}

// Checks below return an exit status, or -1 to go on.
static int check_alone(const BbRecorderOptions *o, const char *program)
{
    if (o->after_word || o->pause_word || o->keep_word || o->socket || o->triggers)
        return bb_say_usage(program, "--trigger, --socket and --snap-... belong to a "
                                     "--flight-recorder: give its size, too");
    return -1;
}

static int check_times(BbRecorderOptions *o, const char *program)
{
    o->after_ns = AFTER_NS;
    o->pause_ns = PAUSE_NS;
    if (o->after_word &&
        (!bb_parse_duration(o->after_word, &o->after_ns) || o->after_ns > AFTER_MAX_NS))
        return bb_say_usage(program, "--snap-after '%s' is no duration up to 1h: 5s, for example",
                            o->after_word);
    if (o->pause_word &&
        (!bb_parse_duration(o->pause_word, &o->pause_ns) || o->pause_ns > PAUSE_MAX_NS))
        return bb_say_usage(program, "--snap-pause '%s' is no duration: 10min, for example",
                            o->pause_word);
    return -1;
}

// A bare number counts files, one with a unit bytes.
static int check_keep(BbRecorderOptions *o, const char *program)
{
    guint64 value = 0;
    o->keep_files = KEEP_FILES;
    if (!o->keep_word)
        return -1;
    bool bare = o->keep_word[strspn(o->keep_word, "0123456789")] == '\0';
    if (!bb_parse_size(o->keep_word, &value) || !value || (bare && value > KEEP_FILES_MAX))
        return bb_say_usage(program,
                            "--snap-keep '%s' is neither a number of files up to %u nor a size "
                            "like 2G",
                            o->keep_word, KEEP_FILES_MAX);
    o->keep_files = bare ? (guint)value : 0;
    o->keep_bytes = bare ? 0 : value;
    return -1;
}

static int check_triggers(const BbRecorderOptions *o, const char *program)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbTriggers) triggers = bb_triggers_new(names);
    for (char **text = o->triggers; text && *text; text++)
        if (!bb_triggers_add(triggers, *text, &error))
            return bb_say_usage(program, "%s", error->message);
    return -1;
}

int bb_recorder_options_parse(BbRecorderOptions *o, const char *program, const char *folder)
{
    if (!o->size_word)
        return check_alone(o, program);
    if (!bb_parse_size(o->size_word, &o->size) || o->size < BB_RECORDER_SIZE_MIN ||
        o->size > BB_RECORDER_SIZE_MAX)
        return bb_say_usage(program,
                            "--flight-recorder '%s' is no size from 1M to 1024G: 256M, for example",
                            o->size_word);
    if (!folder || strcmp(folder, "-") == 0)
        return bb_say_usage(program,
                            "where is the --flight-recorder to be? Give -w FOLDER, for the "
                            "ring, its snapshots and its socket");
    int status = check_times(o, program);
    if (status < 0)
        status = check_keep(o, program);
    return status < 0 ? check_triggers(o, program) : status;
}
