// SPDX-License-Identifier: Apache-2.0
// In: rules, and names of nodes. Out: the names that these nodes are to have.
#include "merge/node_rules.h"

#include "data/address.h"
#include "data/glob.h"
#include "data/input.h"
#include "data/percent.h"

#include <string.h>

#define FILE_MAX ((gsize)16 << 20)

typedef struct Rule {
    guint32 node;
    char *text; // the pattern, or the prefix
    bool is_prefix, is_address;
    bool used;         // fitted a name
    BbAddress address; // of a prefix, or of a pattern that is an address
    guint bits;        // of 128
} Rule;

struct BbNodeRules {
    BbNames *names;
    GArray *rules;
    GArray *known; // by name: node + 1, or 0 where it was not asked for yet
};

static void rule_clear(gpointer data)
{
    Rule *rule = data;
    g_free(rule->text);
}

BbNodeRules *bb_node_rules_new(BbNames *names)
{
    BbNodeRules *rules = g_new(BbNodeRules, 1);
    rules->names = names;
    rules->rules = g_array_new(FALSE, TRUE, sizeof(Rule));
    g_array_set_clear_func(rules->rules, rule_clear);
    rules->known = g_array_new(FALSE, TRUE, sizeof(guint32));
    return rules;
}

void bb_node_rules_free(BbNodeRules *rules)
{
    if (!rules)
        return;
    g_array_unref(rules->rules);
    g_array_unref(rules->known);
    g_free(rules);
}

// ---- reading ------------------------------------------------------------------------------------

static bool parse_prefix(const char *text, const char *slash, Rule *rule)
{
    g_autofree char *address = g_strndup(text, (gsize)(slash - text));
    guint base = strchr(address, ':') ? 0 : 96;
    guint64 bits = 0;
    if (!bb_address_parse(address, &rule->address) ||
        !g_ascii_string_to_unsigned(slash + 1, 10, 0, 128 - base, &bits, NULL))
        return false;
    rule->bits = base + (guint)bits;
    bb_address_mask(&rule->address, rule->bits);
    return true;
}

static bool is_prefix_like(const char *text)
{
    return strspn(text, "0123456789abcdefABCDEF.:") == strcspn(text, "/");
}

// Returns NULL, or the reason why the word makes no rule; it is yours.
static char *add_rule(BbNodeRules *rules, guint32 node, char *word)
{
    Rule rule = {.node = node};
    const char *slash = strchr(word, '/');
    if (slash && is_prefix_like(word)) {
        if (!parse_prefix(word, slash, &rule))
            return g_strdup_printf("\"%s\" is no prefix such as 10.0.0.0/8", word);
        rule.is_prefix = true;
    } else {
        const char *reason = bb_percent_decode(word);
        if (reason)
            return g_strdup(reason);
        rule.is_address = bb_address_parse(word, &rule.address);
    }
    rule.text = g_strdup(word);
    g_array_append_val(rules->rules, rule);
    return NULL;
}

// Returns NULL, or the reason why the line makes no sense; it is yours.
static char *add_line(BbNodeRules *rules, char *line)
{
    char *hash = strchr(line, '#');
    while (hash && hash > line && !g_ascii_isspace(hash[-1]))
        hash = strchr(hash + 1, '#');
    if (hash)
        *hash = '\0';
    g_auto(GStrv) words = g_strsplit_set(g_strstrip(line), " \t", -1);
    if (!words[0])
        return NULL;
    gsize length = strlen(words[0]);
    if (length < 2 || words[0][length - 1] != ':')
        return g_strdup_printf("\"%s\" is not a node's new name with a colon behind it", words[0]);
    words[0][length - 1] = '\0';
    const char *reason = bb_percent_decode(words[0]);
    if (reason)
        return g_strdup(reason);
    guint32 node = bb_names_intern(rules->names, words[0]);
    guint count = 0;
    for (char **word = words + 1; *word; word++) {
        if (!**word)
            continue;
        char *refusal = add_rule(rules, node, *word);
        if (refusal)
            return refusal;
        count++;
    }
    return count ? NULL : g_strdup("there is no other name behind the colon");
}

static char *read_file(const char *path, GError **error)
{
    g_autoptr(BbInput) input = bb_input_open(path, error);
    gsize size = 0;
    g_autofree char *text = input ? bb_input_read_all(input, FILE_MAX, &size, error) : NULL;
    if (text && size > FILE_MAX) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED,
                    "%s: longer than 16 MiB: no file of rules for names of nodes", path);
        return NULL;
    }
    return g_steal_pointer(&text);
}

bool bb_node_rules_load(BbNodeRules *rules, const char *path, GError **error)
{
    g_autofree char *text = read_file(path, error);
    if (!text)
        return false;
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (guint i = 0; lines[i]; i++) {
        g_autofree char *reason = add_line(rules, lines[i]);
        if (!reason)
            continue;
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED,
                    "%s:%u: %s: a line is NEW: OLD ..., where OLD is a name, an address, a prefix "
                    "or a pattern",
                    path, i + 1, reason);
        return false;
    }
    g_array_set_size(rules->known, 0);
    return true;
}

// ---- asking -------------------------------------------------------------------------------------

// IPv4 addresses are in the IPv4 part (96 bits and more) only: ::/0 is not meant to hold them.
static bool lies_in(const BbAddress *address, const Rule *rule)
{
    BbAddress masked = *address;
    if (rule->bits < 96 && bb_address_is_v4(address))
        return false;
    bb_address_mask(&masked, rule->bits);
    return bb_address_equal(&masked, &rule->address);
}

// address is NULL where text is none.
static bool fits(const Rule *rule, const char *text, const BbAddress *address)
{
    if (rule->is_prefix)
        return address && lies_in(address, rule);
    if (rule->is_address && address)
        return bb_address_equal(address, &rule->address);
    return bb_glob_match(rule->text, text);
}

static guint32 find_node(const BbNodeRules *rules, guint32 name)
{
    const char *text = bb_names_text(rules->names, name);
    BbAddress parsed;
    const BbAddress *address = bb_address_parse(text, &parsed) ? &parsed : NULL;
    for (guint i = 0; i < rules->rules->len; i++) {
        Rule *rule = &g_array_index(rules->rules, Rule, i);
        if (!fits(rule, text, address))
            continue;
        rule->used = true;
        return rule->node;
    }
    return name;
}

guint32 bb_node_rules_apply(BbNodeRules *rules, guint32 name)
{
    if (!rules->rules->len || name == BB_NAME_NONE)
        return name;
    if (name >= rules->known->len)
        g_array_set_size(rules->known, name + 1);
    guint32 *known = &g_array_index(rules->known, guint32, name);
    if (!*known)
        *known = find_node(rules, name) + 1;
    return *known - 1;
}

const char *bb_node_rules_next_unused(const BbNodeRules *rules, guint *at)
{
    while (*at < rules->rules->len) {
        const Rule *rule = &g_array_index(rules->rules, Rule, (*at)++);
        if (!rule->used)
            return rule->text;
    }
    return NULL;
}
