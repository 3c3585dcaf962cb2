// SPDX-License-Identifier: Apache-2.0
// In: words of a command line. Out: the description of a mirror, or what is wrong with them.
#include "capture/mirror/mirror.h"

#include <string.h>

static const struct {
    BbMirrorDirection direction;
    const char *name;
} directions[] = {
    {BB_MIRROR_INGRESS, "ingress"}, {BB_MIRROR_EGRESS, "egress"}, {BB_MIRROR_BOTH, "both"}};

// What a tunnel is called, and the ids that it can carry.
static const struct {
    const char *name;
    guint64 id_max;
} targets[] = {
    [BB_MIRROR_TO_INTERFACE] = {"interface", 0xffffff}, // of a cloud, whose mirrors are VXLAN
    [BB_MIRROR_TO_GRE] = {"gre", G_MAXUINT32},
    [BB_MIRROR_TO_ERSPAN] = {"erspan", 1023},
    [BB_MIRROR_TO_VXLAN] = {"vxlan", 0xffffff},
};

const char *bb_mirror_direction_name(BbMirrorDirection direction)
{
    for (gsize i = 0; i < G_N_ELEMENTS(directions); i++)
        if (directions[i].direction == direction)
            return directions[i].name;
    g_assert_not_reached();
}

const char *bb_mirror_target_name(BbMirrorTarget target)
{
    return targets[target].name;
}

bool bb_mirror_parse_direction(const char *word, BbMirrorDirection *direction, GError **error)
{
    *direction = BB_MIRROR_BOTH;
    for (gsize i = 0; word && i < G_N_ELEMENTS(directions); i++) {
        *direction = directions[i].direction;
        if (strcmp(directions[i].name, word) == 0)
            return true;
    }
    if (!word)
        return true;
    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                "--direction is ingress, egress or both, not '%s'", word);
    return false;
}

// Names go into command lines that people paste into a shell or a switch.
static bool is_name(const char *word)
{
    gsize length = strlen(word);
    return length > 0 && length <= BB_MIRROR_NAME_MAX && word[0] != '-' &&
           strspn(word, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "._:/@+-") == length;
}

static bool check_name(const char *option, const char *word, GError **error)
{
    if (is_name(word))
        return true;
    g_set_error(
        error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
        "%s: '%s' is no name of an interface: letters, digits and ._:/@+- but no - in front",
        option, word);
    return false;
}

static bool add_names(GPtrArray *names, const char *list, GError **error)
{
    g_auto(GStrv) words = g_strsplit(list, ",", BB_MIRROR_FROM_MAX + 1);
    for (guint i = 0; words[i]; i++) {
        if (!check_name("--from", words[i], error))
            return false;
        if (!g_ptr_array_find_with_equal_func(names, words[i], g_str_equal, NULL))
            g_ptr_array_add(names, g_strdup(words[i]));
    }
    if (names->len <= BB_MIRROR_FROM_MAX)
        return true;
    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                "--from: more than %d interfaces: make several mirrors of them",
                BB_MIRROR_FROM_MAX);
    return false;
}

char **bb_mirror_split(const char *const *lists, GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (; lists && *lists; lists++)
        if (!add_names(names, *lists, error))
            return NULL;
    g_ptr_array_add(names, NULL);
    return (char **)g_ptr_array_free(g_steal_pointer(&names), FALSE);
}

char *bb_mirror_parse_address(const char *option, const char *word, bool *is_ipv6, GError **error)
{
    g_autoptr(GInetAddress) address = g_inet_address_new_from_string(word);
    if (!address || g_inet_address_get_is_any(address) || g_inet_address_get_is_loopback(address)) {
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                    "%s: '%s' is no IPv4 or IPv6 address of another host", option, word);
        return NULL;
    }
    *is_ipv6 = g_inet_address_get_family(address) == G_SOCKET_FAMILY_IPV6;
    return g_inet_address_to_string(address);
}

static bool read_target(BbMirror *mirror, const BbMirrorWords *words, GError **error)
{
    const char *const said[] = {words->to, words->to_gre, words->to_erspan, words->to_vxlan};
    static const char *const options[] = {"--to", "--to-gre", "--to-erspan", "--to-vxlan"};
    guint count = 0;
    for (guint i = 0; i < G_N_ELEMENTS(said); i++) {
        if (said[i])
            mirror->target = (BbMirrorTarget)i;
        count += said[i] != NULL;
    }
    if (count != 1) {
        g_set_error_literal(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                            "where to? One of --to IF, --to-gre, --to-erspan and --to-vxlan "
                            "ADDRESS");
        return false;
    }
    const char *word = said[mirror->target], *option = options[mirror->target];
    if (mirror->target != BB_MIRROR_TO_INTERFACE)
        mirror->to = bb_mirror_parse_address(option, word, &mirror->is_ipv6, error);
    else if (check_name(option, word, error))
        mirror->to = g_strdup(word);
    return mirror->to != NULL;
}

static bool read_local(BbMirror *mirror, const char *word, GError **error)
{
    bool is_ipv6 = false;
    if (!word)
        return true;
    if (mirror->target == BB_MIRROR_TO_INTERFACE) {
        g_set_error_literal(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                            "--local is where a tunnel comes from: with --to there is none");
        return false;
    }
    mirror->local = bb_mirror_parse_address("--local", word, &is_ipv6, error);
    if (!mirror->local)
        return false;
    if (is_ipv6 == mirror->is_ipv6 && strcmp(mirror->local, mirror->to) != 0)
        return true;
    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                "--local: the tunnel cannot go from %s to %s: give two addresses of one family",
                mirror->local, mirror->to);
    return false;
}

static bool read_number(const char *option, const char *word, guint64 max, guint *value,
                        GError **error)
{
    guint64 number = 0;
    if (!g_ascii_string_to_unsigned(word, 10, 1, max, &number, NULL)) {
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                    "%s is a number from 1 to %" G_GUINT64_FORMAT ", not '%s'", option, max, word);
        return false;
    }
    *value = (guint)number;
    return true;
}

static bool read_numbers(BbMirror *mirror, const BbMirrorWords *words, GError **error)
{
    guint id = 1;
    mirror->session = 1;
    mirror->has_id = words->id != NULL;
    mirror->has_session = words->session != NULL;
    if (words->id && !read_number("--id", words->id, targets[mirror->target].id_max, &id, error))
        return false;
    mirror->id = id;
    return !words->session ||
           read_number("--session", words->session, 32766, &mirror->session, error);
}

static bool read_words(BbMirror *mirror, const BbMirrorWords *words, GError **error)
{
    mirror->from = bb_mirror_split(words->from, error);
    if (!mirror->from)
        return false;
    if (!mirror->from[0]) {
        g_set_error_literal(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                            "which interfaces? --from IF[,IF...]");
        return false;
    }
    return bb_mirror_parse_direction(words->direction, &mirror->direction, error) &&
           read_target(mirror, words, error) && read_local(mirror, words->local, error) &&
           read_numbers(mirror, words, error);
}

BbMirror *bb_mirror_new(const BbMirrorWords *words, GError **error)
{
    g_autoptr(BbMirror) mirror = g_new0(BbMirror, 1);
    if (!read_words(mirror, words, error))
        return NULL;
    if (mirror->target == BB_MIRROR_TO_INTERFACE &&
        g_strv_contains((const char *const *)mirror->from, mirror->to)) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                    "%s cannot be mirrored to itself: each copy would be copied again; give --to "
                    "an interface that is not mirrored",
                    mirror->to);
        return NULL;
    }
    return g_steal_pointer(&mirror);
}

void bb_mirror_free(BbMirror *mirror)
{
    g_strfreev(mirror->from);
    g_free(mirror->to);
    g_free(mirror->local);
    g_free(mirror);
}
