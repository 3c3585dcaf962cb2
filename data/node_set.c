// SPDX-License-Identifier: Apache-2.0
// In: the nodes of a trace, and a pattern. Out: what to say where it matches none of them.
#include "data/node_set.h"

#include <string.h>

#include "data/caption.h"
#include "data/glob.h"
#include "data/quantity.h"

#define NEAR_MAX 3      // names in a sentence that are near,
#define NAMES_MAX 8     // and that are not
#define DISTANCE_MAX 64 // bytes of a name that are compared

struct BbNodeSet {
    const BbNames *names;
    const char *noun;
    GByteArray *is_node; // by name
};

BbNodeSet *bb_node_set_new(const BbNames *names)
{
    return bb_node_set_new_of(names, "node");
}

BbNodeSet *bb_node_set_new_of(const BbNames *names, const char *noun)
{
    BbNodeSet *set = g_new0(BbNodeSet, 1);
    set->names = names;
    set->noun = noun;
    set->is_node = g_byte_array_new();
    return set;
}

void bb_node_set_free(BbNodeSet *set)
{
    if (!set)
        return;
    g_byte_array_unref(set->is_node);
    g_free(set);
}

void bb_node_set_add(BbNodeSet *set, guint32 node)
{
    guint before = set->is_node->len;
    if (node >= before) {
        guint count = bb_names_count(set->names);
        g_byte_array_set_size(set->is_node, count);
        memset(set->is_node->data + before, 0, count - before);
    }
    set->is_node->data[node] = 1;
}

// ---- names that are near -----------------------------------------------------------------------

// Letters to insert, delete or replace, whatever their case (Levenshtein), of the names' heads.
static guint distance(const char *a, const char *b)
{
    guint row[DISTANCE_MAX + 1];
    gsize a_length = strnlen(a, DISTANCE_MAX), b_length = strnlen(b, DISTANCE_MAX);
    for (guint j = 0; j <= b_length; j++)
        row[j] = j;
    for (guint i = 1; i <= a_length; i++) {
        guint diagonal = row[0];
        row[0] = i;
        for (guint j = 1; j <= b_length; j++) {
            bool equal = g_ascii_tolower(a[i - 1]) == g_ascii_tolower(b[j - 1]);
            guint replaced = diagonal + !equal;
            diagonal = row[j];
            row[j] = MIN(replaced, MIN(row[j], row[j - 1]) + 1);
        }
    }
    return row[b_length];
}

// What one would have to change; a name that begins like the other is near however long it is.
static guint farness(const char *wanted, const char *name)
{
    gsize length = strcspn(wanted, "*?");
    if (length > 0 && g_ascii_strncasecmp(wanted, name, length) == 0)
        return 0;
    return distance(wanted, name);
}

typedef struct {
    const char *text;
    guint far;
} Name;

static gint by_farness(gconstpointer a, gconstpointer b)
{
    const Name *x = a, *y = b;
    return x->far != y->far ? (x->far > y->far) - (x->far < y->far) : strcmp(x->text, y->text);
}

// Nodes at most so far from a pattern, the nearest first; of equals by name.
static GArray *list_names(const BbNodeSet *set, const char *pattern, guint most)
{
    GArray *found = g_array_new(FALSE, FALSE, sizeof(Name));
    for (guint32 node = 1; node < set->is_node->len; node++) {
        if (!set->is_node->data[node])
            continue;
        Name name = {bb_names_text(set->names, node), 0};
        name.far = most < G_MAXUINT ? farness(pattern, name.text) : 0;
        if (name.far <= most)
            g_array_append_val(found, name);
    }
    g_array_sort(found, by_farness);
    return found;
}

// ---- the sentence ------------------------------------------------------------------------------

bool bb_node_set_has(const BbNodeSet *set, guint32 node)
{
    return node < set->is_node->len && set->is_node->data[node];
}

bool bb_node_set_matches(const BbNodeSet *set, const char *pattern)
{
    for (guint32 node = 1; node < set->is_node->len; node++)
        if (set->is_node->data[node] && bb_glob_match(pattern, bb_names_text(set->names, node)))
            return true;
    return false;
}

static void append_names(GString *out, const GArray *names, guint most)
{
    for (guint i = 0; i < MIN(names->len, most); i++) {
        g_string_append(out, i > 0 ? ", " : " ");
        bb_caption_append(out, g_array_index(names, Name, i).text, "");
    }
}

char *bb_node_set_miss(const BbNodeSet *set, const char *pattern)
{
    if (bb_node_set_matches(set, pattern))
        return NULL;
    guint near_most = (guint)MAX(1, strnlen(pattern, DISTANCE_MAX) / 3);
    g_autoptr(GArray) near = list_names(set, pattern, near_most);
    g_autoptr(GArray) all = list_names(set, pattern, G_MAXUINT);
    const char *plural = g_str_has_suffix(set->noun, "s") ? "es" : "s";
    GString *out = g_string_new(NULL);
    g_string_append_printf(out, "no %s matches '", set->noun);
    bb_caption_append(out, pattern, "");
    g_string_append(out, "': ");
    if (near->len > 0) {
        g_string_append(out, near->len == 1 ? "near that is" : "near that are");
        append_names(out, near, NEAR_MAX);
    } else if (all->len > 0) {
        if (all->len == 1)
            g_string_append_printf(out, "the only %s is", set->noun);
        else
            g_string_append_printf(out, "%s%s are", set->noun, plural);
        append_names(out, all, NAMES_MAX);
    } else {
        g_string_append_printf(out, "there are no %s%s", set->noun, plural);
    }
    if (near->len == 0 && all->len > NAMES_MAX) {
        g_string_append(out, " and ");
        bb_quantity_append_count(out, all->len - NAMES_MAX);
        g_string_append(out, " more");
    }
    if (strchr(pattern, ','))
        g_string_append(out, "; a comma is part of a name: give the option once for each");
    return g_string_free(out, FALSE);
}
