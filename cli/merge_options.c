// SPDX-License-Identifier: Apache-2.0
// In: the words of `bbtrace merge`. Out: what is wanted.
#include "cli/merge_options.h"

#include "cli/command.h"
#include "cli/host_names.h"

#include <string.h>

#define PROGRAM "bbtrace merge"
#define WINDOW_MAX_NS (G_GINT64_CONSTANT(3600) * 1000000000)

static const char *const clocks_words[] = {"correct", "report", "as-is", NULL};
static const char *const join_words[] = {
    [BB_JOIN_KEYS] = "keys", [BB_JOIN_ORDER] = "order", [BB_JOIN_NONE] = "none", NULL};

static const char *const nat_words[] = {
    [BB_MERGE_NAT_HINT] = "hint", [BB_MERGE_NAT_JOIN] = "join", [BB_MERGE_NAT_OFF] = "off", NULL};

static const char *const observers_words[] = {"file", "folder", NULL};

void bb_merge_options_clear(BbMergeOptions *o)
{
    g_free(o->out);
    g_free(o->clocks_word);
    g_free(o->window_word);
    g_free(o->join_word);
    g_free(o->observers_word);
    g_free(o->names_by);
    g_free(o->nat_word);
    g_strfreev(o->names_files);
    g_strfreev(o->alias_files);
}

// The place of text in words; NULL is the first. -1 if it is not there.
static int find_word(const char *const *words, const char *text)
{
    if (!text)
        return 0;
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], text) == 0)
            return i;
    return -1;
}

static const char *endangered(char **paths, const char *out)
{
    for (; paths && *paths; paths++)
        if (bb_is_same_file(*paths, out))
            return *paths;
    return NULL;
}

// Returns an exit status, or -1 to go on.
static int check_files(const BbMergeOptions *o)
{
    const char *lost = NULL;
    guint standard = 0;
    if (!o->out)
        return bb_say_usage(PROGRAM, "where to? Give -w FILE");
    if (!*o->paths)
        return bb_say_usage(PROGRAM, "which traces?");
    for (char **path = o->paths; *path; path++)
        standard += strcmp(*path, "-") == 0;
    if (standard > 1)
        return bb_say_usage(PROGRAM, "standard input (-) can be read only once");
    if (standard && o->clocks != BB_MERGE_CLOCKS_AS_IS)
        return bb_say_usage(PROGRAM, "clocks are estimated in a reading of their own, and standard "
                                     "input (-) can be read only once: give --clocks=as-is, or a "
                                     "file");
    if (!(lost = endangered(o->paths, o->out)) && !(lost = endangered(o->names_files, o->out)))
        lost = endangered(o->alias_files, o->out);
    if (standard && o->nat == BB_MERGE_NAT_JOIN)
        return bb_say_usage(PROGRAM, "--nat=join reads the traces twice, and standard input (-) "
                                     "can be read only once: give a file");
    if (lost)
        return bb_say_usage(PROGRAM, "-w would overwrite %s: give another file", lost);
    return -1;
}

// Words that stand for one of a few. Returns an exit status, or -1 to go on.
static int check_lesser_words(BbMergeOptions *o)
{
    int observers = find_word(observers_words, o->observers_word);
    int nat = find_word(nat_words, o->nat_word);
    if (observers < 0)
        return bb_say_usage(PROGRAM, "--observers is file or folder, not '%s'", o->observers_word);
    if (nat < 0)
        return bb_say_usage(PROGRAM, "--nat is hint, join or off, not '%s'", o->nat_word);
    if (!bb_parse_names_by(o->names_by, &o->by_service))
        return bb_say_usage(PROGRAM, "--names-by is instance or service, not '%s'", o->names_by);
    o->by_folder = observers == 1;
    o->nat = (BbMergeNat)nat;
    return -1;
}

static int check_words(BbMergeOptions *o)
{
    int clocks = find_word(clocks_words, o->clocks_word), by = find_word(join_words, o->join_word);
    if (clocks < 0)
        return bb_say_usage(PROGRAM, "--clocks is correct, report or as-is, not '%s'",
                            o->clocks_word);
    if (by < 0)
        return bb_say_usage(PROGRAM, "--join is keys, order or none, not '%s'", o->join_word);
    int lesser = check_lesser_words(o);
    if (lesser >= 0)
        return lesser;
    o->clocks = (BbMergeClocks)clocks;
    o->join = (BbJoinOptions){
        .window_ns = BB_JOIN_WINDOW_NS,
        .held_max = BB_JOIN_HELD,
        .by = (BbJoinBy)by,
        .repair = clocks == BB_MERGE_CLOCKS_CORRECT,
    };
    if (o->window_word && (!bb_parse_duration(o->window_word, &o->join.window_ns) ||
                           o->join.window_ns < 0 || o->join.window_ns > WINDOW_MAX_NS))
        return bb_say_usage(PROGRAM, "--window takes a time up to 1h, such as 1s, not '%s'",
                            o->window_word);
    return check_files(o);
}

int bb_merge_options_parse(BbMergeOptions *o, int argc, char **argv)
{
    const GOptionEntry entries[] = {
        {"write", 'w', 0, G_OPTION_ARG_FILENAME, &o->out, "Write the trace here, as .bbt", "FILE"},
        {"clocks", 0, 0, G_OPTION_ARG_STRING, &o->clocks_word,
         "Correct the observers' clocks to the first file's, or only report how wrong they are, or "
         "take them as they are (default: correct)",
         "correct|report|as-is"},
        {"window", 0, 0, G_OPTION_ARG_STRING, &o->window_word,
         "Sightings further apart are two messages (default: 1s)", "TIME"},
        {"join", 0, 0, G_OPTION_ARG_STRING, &o->join_word,
         "Recognise sightings of one message by keys, by order too, or not at all (default: keys)",
         "keys|order|none"},
        {"observers", 0, 0, G_OPTION_ARG_STRING, &o->observers_word,
         "Where a trace does not name its observer: each file is one, or each folder (default: "
         "file)",
         "file|folder"},
        {"names", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &o->names_files, BB_NAMES_ABOUT, "FILE"},
        {"names-by", 0, 0, G_OPTION_ARG_STRING, &o->names_by, BB_NAMES_BY_ABOUT,
         "instance|service"},
        {"alias", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &o->alias_files,
         "Nodes with several names: lines \"new: old 10.0.0.0/8 web-*\"; may be given again",
         "FILE"},
        {"nat", 0, 0, G_OPTION_ARG_STRING, &o->nat_word,
         "Connections whose addresses or ports were translated between two observers: say which, "
         "or make one of both sightings, or do not look (default: hint)",
         "hint|join|off"},
        {"skip-bad-lines", 0, 0, G_OPTION_ARG_NONE, &o->skip_bad_lines,
         "Count malformed lines of a text trace instead of stopping at them", NULL},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &o->quiet, "No progress and no summary", NULL},
        {NULL, 0, 0, 0, NULL, NULL, NULL},
    };
    int status = BB_EXIT_DONE;
    if (!bb_options_parse(
            PROGRAM, "TRACE...",
            "Makes one trace of several: in order of time, by one clock, and with one "
            "message where\nseveral observers saw the same one.",
            NULL, entries, &argc, &argv, &status))
        return status;
    o->paths = argv + 1;
    return check_words(o);
}
