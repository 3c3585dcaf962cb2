// SPDX-License-Identifier: Apache-2.0
// In: nodes that are replicas of each other, found or from a file. Out: the role of each node.
#include "data/roles.h"

#include <string.h>

#include "data/glob.h"
#include "data/input.h"
#include "data/percent.h"

#define FILE_MAX (16u << 20) // bytes of a file of roles
#define UNKNOWN G_MAXUINT32

// A word of a line of the file: these nodes have that role.
typedef struct {
    char *nodes; // a pattern
    guint32 role;
} Rule;

struct BbRoles {
    BbNames *names;
    GArray *role;  // of guint32, by name; UNKNOWN where nobody asked
    GArray *rules; // of Rule
    GArray *named; // of guint32: the roles
};

static void clear_rule(gpointer rule)
{
    g_free(((Rule *)rule)->nodes);
}

BbRoles *bb_roles_new(BbNames *names)
{
    BbRoles *roles = g_new0(BbRoles, 1);
    roles->names = names;
    roles->role = g_array_new(FALSE, FALSE, sizeof(guint32));
    roles->named = g_array_new(FALSE, FALSE, sizeof(guint32));
    roles->rules = g_array_new(FALSE, FALSE, sizeof(Rule));
    g_array_set_clear_func(roles->rules, clear_rule);
    return roles;
}

void bb_roles_free(BbRoles *roles)
{
    if (!roles)
        return;
    g_array_unref(roles->role);
    g_array_unref(roles->rules);
    g_array_unref(roles->named);
    g_free(roles);
}

guint bb_roles_count(const BbRoles *roles)
{
    return roles->named->len;
}

bool bb_roles_is_role(const BbRoles *roles, guint32 name)
{
    for (guint i = 0; i < roles->named->len; i++)
        if (g_array_index(roles->named, guint32, i) == name)
            return true;
    return false;
}

bool bb_roles_lists_itself(const BbRoles *roles, guint32 role)
{
    const char *text = bb_names_text(roles->names, role);
    for (guint i = 0; i < roles->rules->len; i++) {
        const Rule *rule = &g_array_index(roles->rules, Rule, i);
        if (rule->role == role && bb_glob_match(rule->nodes, text))
            return true;
    }
    return false;
}

guint32 bb_roles_name(const BbRoles *roles, guint index)
{
    return g_array_index(roles->named, guint32, index);
}

const char *bb_roles_pattern(const BbRoles *roles, guint index)
{
    return index < roles->rules->len ? g_array_index(roles->rules, Rule, index).nodes : NULL;
}

static guint32 *role_at(BbRoles *roles, guint32 node)
{
    guint32 unknown = UNKNOWN;
    while (roles->role->len <= node)
        g_array_append_val(roles->role, unknown);
    return &g_array_index(roles->role, guint32, node);
}

static guint32 find_rule(const BbRoles *roles, guint32 node)
{
    const char *text = bb_names_text(roles->names, node);
    for (guint i = 0; i < roles->rules->len; i++) {
        const Rule *rule = &g_array_index(roles->rules, Rule, i);
        if (rule->role == node || bb_glob_match(rule->nodes, text))
            return rule->role;
    }
    return node;
}

guint32 bb_roles_of(BbRoles *roles, guint32 node)
{
    guint32 *role = role_at(roles, node);
    if (*role == UNKNOWN)
        *role = find_rule(roles, node);
    return *role;
}

// ---- names of roles ----------------------------------------------------------------------------

// Numbers are compared as such, so that app10 comes after app9.
static gint compare_naturally(const char *a, const char *b)
{
    while (*a && *b) {
        if (g_ascii_isdigit(*a) && g_ascii_isdigit(*b)) {
            gsize a_digits = strspn(a, "0123456789"), b_digits = strspn(b, "0123456789");
            if (a_digits != b_digits)
                return a_digits < b_digits ? -1 : 1;
        }
        if (*a != *b)
            break;
        a++;
        b++;
    }
    return (guchar)*a - (guchar)*b;
}

static gint by_text(gconstpointer a, gconstpointer b)
{
    return compare_naturally(*(const char *const *)a, *(const char *const *)b);
}

static bool splits_letter(const char *text, gsize at)
{
    return ((guchar)text[at] & 0xc0) == 0x80 || // within a letter of UTF-8
           (at > 0 && g_ascii_isdigit(text[at - 1]) && g_ascii_isdigit(text[at]));
}

// Bytes at the start that all texts have, and do not cut a number or a letter of any.
static gsize common_start(const GPtrArray *texts)
{
    const char *first = g_ptr_array_index(texts, 0);
    gsize length = strlen(first);
    for (guint i = 1; i < texts->len; i++) {
        const char *text = g_ptr_array_index(texts, i);
        gsize same = 0;
        while (same < length && text[same] == first[same])
            same++;
        length = same;
    }
    for (guint i = 0; i < texts->len; i++)
        while (length > 0 && splits_letter(g_ptr_array_index(texts, i), length))
            length--;
    return length;
}

static bool end_splits(const GPtrArray *texts, gsize end)
{
    for (guint i = 0; i < texts->len; i++) {
        const char *text = g_ptr_array_index(texts, i);
        if (splits_letter(text, strlen(text) - end))
            return true;
    }
    return false;
}

// Likewise at the end, of what comes after the common start.
static gsize common_end(const GPtrArray *texts, gsize start)
{
    const char *first = g_ptr_array_index(texts, 0);
    gsize first_length = strlen(first), length = first_length - start;
    for (guint i = 1; i < texts->len; i++) {
        const char *text = g_ptr_array_index(texts, i);
        gsize own = strlen(text), same = 0;
        while (same < length && same < own - start &&
               text[own - 1 - same] == first[first_length - 1 - same])
            same++;
        length = same;
    }
    while (length > 0 && end_splits(texts, length))
        length--;
    return length;
}

// Whether the differences are numbers that count up by one; *from is the first.
static bool counts_up(const GPtrArray *texts, gsize start, gsize end, guint64 *from)
{
    for (guint i = 0; i < texts->len; i++) {
        const char *text = g_ptr_array_index(texts, i);
        gsize length = strlen(text) - start - end;
        g_autofree char *number = g_strndup(text + start, length);
        guint64 value = g_ascii_strtoull(number, NULL, 10);
        if (length == 0 || length > 9 || strspn(number, "0123456789") != length ||
            (length > 1 && number[0] == '0') || (i > 0 && value != *from + i))
            return false;
        *from = i == 0 ? value : *from;
    }
    return true;
}

static void append_difference(GString *out, const GPtrArray *texts, guint i, gsize start, gsize end)
{
    const char *text = g_ptr_array_index(texts, i);
    g_string_append_len(out, text + start, (gssize)(strlen(text) - start - end));
}

static void append_differences(GString *out, const GPtrArray *texts, gsize start, gsize end)
{
    guint64 from = 0;
    if (texts->len > BB_ROLES_LISTED && counts_up(texts, start, end, &from)) {
        g_string_append_printf(out, "{%" G_GUINT64_FORMAT "..%" G_GUINT64_FORMAT "}", from,
                               from + texts->len - 1);
        return;
    }
    guint listed = texts->len > BB_ROLES_LISTED ? BB_ROLES_LISTED - 1 : texts->len;
    for (guint i = 0; i < listed; i++) {
        g_string_append_c(out, i ? ',' : '{');
        append_difference(out, texts, i, start, end);
    }
    if (listed < texts->len) {
        g_string_append(out, ",...,");
        append_difference(out, texts, texts->len - 1, start, end);
    }
    g_string_append_c(out, '}');
}

char *bb_roles_text(const BbNames *names, const guint32 *nodes, guint count)
{
    g_autoptr(GPtrArray) texts = g_ptr_array_new();
    for (guint i = 0; i < count; i++)
        g_ptr_array_add(texts, (gpointer)bb_names_text(names, nodes[i]));
    if (count == 1)
        return g_strdup(g_ptr_array_index(texts, 0));
    g_ptr_array_sort(texts, by_text);
    gsize start = common_start(texts), end = common_end(texts, start);
    const char *first = g_ptr_array_index(texts, 0);
    GString *text = g_string_new_len(first, (gssize)start);
    append_differences(text, texts, start, end);
    g_string_append(text, first + strlen(first) - end);
    return g_string_free(text, FALSE);
}

void bb_roles_join(BbRoles *roles, const guint32 *nodes, guint count)
{
    g_return_if_fail(count >= 2);
    g_autofree char *text = bb_roles_text(roles->names, nodes, count);
    g_autoptr(GString) name = g_string_new(text);
    while (bb_names_find(roles->names, name->str) != BB_NAME_NONE) // something else of that name
        g_string_append_c(name, '~');
    guint32 role = bb_names_intern(roles->names, name->str);
    for (guint i = 0; i < count; i++)
        *role_at(roles, nodes[i]) = role;
    g_array_append_val(roles->named, role);
}

// ---- files -------------------------------------------------------------------------------------

static bool fail(GError **error, const char *path, guint line, const char *reason)
{
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                "%s:%u: %s: a line is `role node node ...`, where a node may be a pattern with * "
                "and ?",
                path, line, reason);
    return false;
}

static bool read_line(BbRoles *roles, char *text, const char *path, guint line, GError **error)
{
    char *rest = NULL;
    char *word = strtok_r(text, " \t\r", &rest);
    if (!word || *word == '#')
        return true;
    const char *reason = bb_percent_decode(word);
    if (reason)
        return fail(error, path, line, reason);
    guint32 role = bb_names_intern(roles->names, word);
    guint before = roles->rules->len;
    while ((word = strtok_r(NULL, " \t\r", &rest))) {
        reason = bb_percent_decode(word);
        if (reason)
            return fail(error, path, line, reason);
        Rule rule = {g_strdup(word), role};
        g_array_append_val(roles->rules, rule);
    }
    if (!bb_roles_is_role(roles, role))
        g_array_append_val(roles->named, role);
    return roles->rules->len > before || fail(error, path, line, "the role has no nodes");
}

BbRoles *bb_roles_parse(const char *bytes, gsize size, const char *path, BbNames *names,
                        GError **error)
{
    if (size > FILE_MAX || memchr(bytes, '\0', size)) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                    "%s: is no file of roles: it has %s; give one with lines `role node node ...`",
                    path, size > FILE_MAX ? "more than 16 MB" : "a NUL byte");
        return NULL;
    }
    g_autofree char *text = g_strndup(bytes, size);
    g_autoptr(BbRoles) roles = bb_roles_new(names);
    guint line = 0;
    for (char *at = text; at;) {
        char *end = strchr(at, '\n');
        if (end)
            *end++ = '\0';
        if (!read_line(roles, at, path, ++line, error))
            return NULL;
        at = end;
    }
    return g_steal_pointer(&roles);
}

BbRoles *bb_roles_read(const char *path, BbNames *names, GError **error)
{
    gsize size = 0;
    g_autoptr(BbInput) input = bb_input_open(path, error);
    g_autofree char *bytes = input ? bb_input_read_all(input, FILE_MAX, &size, error) : NULL;
    if (bytes)
        return bb_roles_parse(bytes, size, bb_input_name(input), names, error);
    g_prefix_error(error, "no roles: ");
    return NULL;
}
