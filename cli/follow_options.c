// SPDX-License-Identifier: Apache-2.0
// In: words of --follow and --follow-not. Out: addresses and ports.
#include "cli/follow_options.h"

#include "cli/command.h"

#include <string.h>

static bool parse_port(const char *text, guint16 *port)
{
    guint64 number = 0;
    if (!g_ascii_string_to_unsigned(text, 10, 1, G_MAXUINT16, &number, NULL))
        return false;
    *port = (guint16)number;
    return true;
}

// ADDR, ADDR:PORT, [ADDR]:PORT; :PORT where a port alone will do.
static bool parse_end(const char *word, bool port_alone, BbFollowEnd *end)
{
    g_autofree char *text = g_strdup(word);
    char *address = NULL;
    *end = (BbFollowEnd){0};
    if (port_alone && *word == ':') {
        end->any_address = true;
        return parse_port(word + 1, &end->port);
    }
    const char *port = bb_address_split_port(text, &address);
    return (!port || parse_port(port, &end->port)) && bb_address_parse(address, &end->address);
}

static GArray *parse_all(char **words, bool port_alone, const char **wrong)
{
    GArray *ends = g_array_new(FALSE, FALSE, sizeof(BbFollowEnd));
    for (; words && *words && !*wrong; words++) {
        BbFollowEnd end;
        if (parse_end(*words, port_alone, &end))
            g_array_append_val(ends, end);
        else
            *wrong = *words;
    }
    return ends;
}

int bb_follow_choice_parse(BbFollowChoice *choice, const char *program)
{
    const char *wrong = NULL;
    bool hops_given = choice->hops != BB_FOLLOW_HOPS_NONE;
    if (!choice->entrances && (choice->others || hops_given))
        return bb_say_usage(program, "--hops and --follow-not say how far --follow goes: give "
                                     "--follow, too");
    if (hops_given && (choice->hops < 1 || choice->hops > (int)BB_FOLLOW_HOPS_MOST))
        return bb_say_usage(program, "--hops takes a number from 1 to %u", BB_FOLLOW_HOPS_MOST);
    if (!hops_given)
        choice->hops = (int)BB_FOLLOW_HOPS;
    choice->entrance_ends = parse_all(choice->entrances, false, &wrong);
    if (wrong)
        return bb_say_usage(program,
                            "--follow takes an address, such as 10.0.0.20, 10.0.0.20:443 or "
                            "[2001:db8::20]:443, not '%s'",
                            wrong);
    choice->other_ends = parse_all(choice->others, true, &wrong);
    if (wrong)
        return bb_say_usage(program,
                            "--follow-not takes an address, a port or both, such as 10.0.0.9, "
                            ":5044 or 10.0.0.9:5044, not '%s'",
                            wrong);
    if (choice->entrance_ends->len > BB_FOLLOW_NODES)
        return bb_say_usage(program, "--follow: at most %u entrances can be followed",
                            BB_FOLLOW_NODES);
    return -1;
}

void bb_follow_choice_clear(BbFollowChoice *choice)
{
    g_clear_pointer(&choice->entrances, g_strfreev);
    g_clear_pointer(&choice->others, g_strfreev);
    g_clear_pointer(&choice->entrance_ends, g_array_unref);
    g_clear_pointer(&choice->other_ends, g_array_unref);
}
