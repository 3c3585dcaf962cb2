// SPDX-License-Identifier: Apache-2.0
// In: any bytes as a file of roles. Checks that what is refused is told, that roles stay as they
// are when asked again, and that every name of the file is a node of some role.
#include "data/roles.h"

#include <string.h>

#include "data/percent.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size);

static void try_node(BbRoles *roles, BbNames *names, const char *text)
{
    guint32 node = bb_names_intern(names, text);
    guint32 role = bb_roles_of(roles, node);
    g_assert(role < bb_names_count(names) && bb_roles_of(roles, node) == role);
    g_assert(role == node || bb_roles_is_role(roles, role));
    g_autofree char *name = bb_roles_text(names, (const guint32[]){node, role}, 2);
    g_assert(strlen(name) >= 3 && strchr(name, '{') && strchr(name, '}'));
}

// Every word of a line after the first, as a name: a pattern matches itself.
static void try_words(BbRoles *roles, BbNames *names, char *line)
{
    char *rest = NULL;
    char *word = strtok_r(line, " \t\r", &rest);
    if (!word || *word == '#')
        return;
    while ((word = strtok_r(NULL, " \t\r", &rest))) {
        g_assert(!bb_percent_decode(word));
        try_node(roles, names, word);
        g_assert(bb_roles_is_role(roles, bb_roles_of(roles, bb_names_intern(names, word))));
    }
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(GError) error = NULL;
    g_autoptr(BbRoles) roles = bb_roles_parse((const char *)data, size, "roles", names, &error);
    g_assert((roles == NULL) == (error != NULL));
    if (!roles)
        return 0;
    try_node(roles, names, "app1");
    try_node(roles, names, "\xe2\x82");
    g_autofree char *text = g_strndup((const char *)data, size);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++)
        try_words(roles, names, *line);
    return 0;
}
