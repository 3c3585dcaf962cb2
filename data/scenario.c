// SPDX-License-Identifier: Apache-2.0
// In: a file or a text. Out: a scenario that can be run, or a refusal.
#include "data/scenario.h"

#include "data/input.h"
#include "data/keys.h"
#include "data/scenario_parser.h"

#include <string.h>

G_DEFINE_QUARK(bb - scenario - error - quark, bb_scenario_error)

#define DURATION_NS (100 * G_GINT64_CONSTANT(1000000000)) // where nothing is said
#define REPLICAS_MAX 10000u
#define BODIES_MAX (1u << 20) // pairs of a call and a node that it may go to

static void target_free(gpointer data)
{
    BbTarget *target = data;
    g_free(target->nodes);
    g_free(target->shares);
    g_free(target);
}

static void step_free(gpointer data)
{
    BbStep *step = data;
    g_free(step->branches);
    g_free(step->shares);
    g_free(step);
}

static BbScenario *scenario_new(BbNames *names, const char *file)
{
    BbScenario *scenario = g_new0(BbScenario, 1);
    *scenario = (BbScenario){
        .names = names,
        .file = g_strdup(file),
        .duration_ns = DURATION_NS,
        .resolution_ns = 1,
        .targets = g_ptr_array_new_with_free_func(target_free),
        .steps = g_ptr_array_new_with_free_func(step_free),
        .bodies = g_ptr_array_new_with_free_func(g_free),
        .tracelets = g_ptr_array_new_with_free_func(g_free),
        .limits = g_array_new(FALSE, FALSE, sizeof(BbLimit)),
    };
    bb_tally_init(&scenario->limit);
    return scenario;
}

void bb_scenario_free(BbScenario *scenario)
{
    if (!scenario)
        return;
    bb_tally_clear(&scenario->limit);
    g_array_unref(scenario->limits);
    g_ptr_array_unref(scenario->tracelets);
    g_ptr_array_unref(scenario->bodies);
    g_ptr_array_unref(scenario->steps);
    g_ptr_array_unref(scenario->targets);
    g_free(scenario->file);
    g_free(scenario);
}

// ---- of the whole -------------------------------------------------------------------------------

static bool need_duration(BbParser *parser)
{
    return bb_parser_need_time(parser, &parser->scenario->duration_ns);
}

static bool need_messages(BbParser *parser)
{
    return bb_parser_need_count(parser, G_GUINT64_CONSTANT(1) << 53, &parser->scenario->messages);
}

static bool need_resolution(BbParser *parser)
{
    return bb_parser_need_time(parser, &parser->scenario->resolution_ns) &&
           (parser->scenario->resolution_ns > 0 ||
            bb_parser_refuse(parser, "resolution 0: the finest is 1ns"));
}

static bool need_network(BbParser *parser)
{
    return bb_parser_need_delay(parser, &parser->scenario->network);
}

static bool need_after(BbParser *parser, BbDelay *delay)
{
    return bb_parser_word(parser, "after") ? bb_parser_need_delay(parser, delay)
                                           : bb_parser_expect(parser, "after");
}

static bool need_calls(BbParser *parser)
{
    return need_after(parser, &parser->calls);
}

static bool need_returns(BbParser *parser)
{
    return need_after(parser, &parser->returns);
}

static bool need_sends(BbParser *parser)
{
    return need_after(parser, &parser->sends);
}

// ---- replicas -----------------------------------------------------------------------------------

// Returns the number at the end of a name and the length of what stands before it.
static bool split_numbered(const char *name, gsize *stem, guint64 *number)
{
    gsize length = strlen(name);
    *stem = length;
    while (*stem > 0 && g_ascii_isdigit(name[*stem - 1]))
        --*stem;
    *number = g_ascii_strtoull(name + *stem, NULL, 10);
    return *stem < length && length - *stem < 10;
}

// WS1..WS8: the names from the first to the last.
static bool need_range(BbParser *parser, const char *first, GArray *nodes)
{
    const char *last = parser->token->text;
    gsize stem = 0, last_stem = 0;
    guint64 from = 0, to = 0;
    if (parser->token->kind != BB_TOKEN_NAME)
        return bb_parser_expect(parser, "the last name of the range");
    if (!split_numbered(first, &stem, &from) || !split_numbered(last, &last_stem, &to) ||
        stem != last_stem || strncmp(first, last, stem) != 0 || from >= to ||
        to - from >= REPLICAS_MAX)
        return bb_parser_refuse(parser,
                                "no range from '%s' to '%s': both must be the same but for "
                                "a number at the end, which goes up",
                                first, last);
    for (guint64 i = from + 1; i <= to; i++) {
        g_autofree char *name = g_strdup_printf("%.*s%" G_GUINT64_FORMAT, (int)stem, first, i);
        guint32 node = bb_names_intern(parser->scenario->names, name);
        g_array_append_val(nodes, node);
    }
    parser->token++;
    return true;
}

// NODE [..NODE] [SHARE], ...
static bool need_replicas_nodes(BbParser *parser, GArray *nodes, GArray *weights)
{
    do {
        const char *first = parser->token->text;
        guint32 node = BB_NAME_NONE;
        double weight = 1;
        if (!bb_parser_need_node(parser, &node))
            return false;
        g_array_append_val(nodes, node);
        if (bb_parser_mark(parser, "..") && !need_range(parser, first, nodes))
            return false;
        if (bb_parser_is_unit(parser, "%"))
            weight = parser->token++->value / 100;
        while (weights->len < nodes->len)
            g_array_append_val(weights, weight);
        if (nodes->len > REPLICAS_MAX)
            return bb_parser_refuse(parser, "more than %u replicas: leave some out", REPLICAS_MAX);
    } while (bb_parser_mark(parser, ","));
    return true;
}

static bool set_shares(BbParser *parser, BbTarget *target, const GArray *weights)
{
    double sum = 0, total = 0;
    target->shares = g_new(double, weights->len);
    for (guint i = 0; i < weights->len; i++)
        total += g_array_index(weights, double, i);
    if (total <= 0)
        return bb_parser_refuse(parser, "the shares of the replicas are all 0: raise some");
    for (guint i = 0; i < weights->len; i++) {
        sum += g_array_index(weights, double, i);
        target->shares[i] = sum / total;
    }
    return true;
}

static bool need_replicas(BbParser *parser)
{
    guint32 name = BB_NAME_NONE;
    if (!bb_parser_need_node(parser, &name))
        return false;
    if (g_hash_table_contains(parser->targets, GUINT_TO_POINTER(name)))
        return bb_parser_refuse(parser,
                                "'%s' is known above: say once, before it is used, what "
                                "its replicas are",
                                bb_names_text(parser->scenario->names, name));
    BbTarget *target = bb_parser_target(parser, name);
    if (bb_parser_word(parser, "round-robin"))
        target->pick = BB_PICK_ROUND_ROBIN;
    else if (bb_parser_word(parser, "by-path"))
        target->pick = BB_PICK_BY_PATH;
    else
        (void)bb_parser_word(parser, "random");
    g_autoptr(GArray) nodes = g_array_new(FALSE, FALSE, sizeof(guint32));
    g_autoptr(GArray) weights = g_array_new(FALSE, FALSE, sizeof(double));
    if (!bb_parser_need_mark(parser, "=") || !need_replicas_nodes(parser, nodes, weights) ||
        !set_shares(parser, target, weights))
        return false;
    target->count = nodes->len;
    target->nodes = g_renew(guint32, target->nodes, nodes->len);
    memcpy(target->nodes, nodes->data, nodes->len * sizeof(guint32));
    return true;
}

// ---- services -----------------------------------------------------------------------------------

static guint service_hash(gconstpointer data)
{
    const BbService *service = data;
    return bb_keys_mix(service->name, service->op);
}

static gboolean service_equal(gconstpointer a, gconstpointer b)
{
    const BbService *x = a, *y = b;
    return x->name == y->name && x->op == y->op;
}

static bool need_service(BbParser *parser)
{
    BbService service = {0};
    if (!bb_parser_need_node(parser, &service.name))
        return false;
    bb_parser_label(parser, &service.op);
    if (g_hash_table_contains(parser->services, &service))
        return bb_parser_refuse(parser, "a second service of that name and label: remove one");
    if (!bb_parser_need_mark(parser, "{") || !bb_parser_need_block(parser, &service.steps))
        return false;
    service.steps = bb_parser_end_body(parser, service.steps);
    g_hash_table_add(parser->services, g_memdup2(&service, sizeof service));
    return true;
}

static BbStep *find_service(const BbParser *parser, guint32 name, guint32 op)
{
    const BbService key = {.name = name, .op = op};
    const BbService *service = g_hash_table_lookup(parser->services, &key);
    return service ? service->steps : NULL;
}

// The most special one counts; a node that none is for returns at once.
static BbStep *choose_service(const BbParser *parser, guint32 node, guint32 group, guint32 op,
                              BbStep *idle)
{
    BbStep *steps = find_service(parser, node, op);
    if (!steps)
        steps = find_service(parser, node, BB_NAME_NONE);
    if (!steps)
        steps = find_service(parser, group, op);
    if (!steps)
        steps = find_service(parser, group, BB_NAME_NONE);
    return steps ? steps : idle;
}

// Gives the calls that say nothing of what is done their services. They share what is the same.
static bool resolve_services(BbParser *parser)
{
    GPtrArray *steps = parser->scenario->steps;
    BbStep *idle = bb_parser_end_body(parser, NULL);
    g_autoptr(GHashTable) known = g_hash_table_new_full(service_hash, service_equal, g_free, NULL);
    gsize bodies = 0;
    for (guint i = 0; i < steps->len; i++) {
        BbStep *step = g_ptr_array_index(steps, i);
        if (!step->to || step->body || step->label != BB_NO_LABEL)
            continue;
        const BbTarget *to = step->to;
        const BbService key = {.name = to->name, .op = step->op};
        step->bodies = g_hash_table_lookup(known, &key);
        if (step->bodies)
            continue;
        if ((bodies += to->count) > BODIES_MAX)
            return bb_parser_refuse(parser, "more than %u replicas over all calls: use fewer",
                                    BODIES_MAX);
        step->bodies = g_new(BbStep *, to->count);
        g_ptr_array_add(parser->scenario->bodies, step->bodies);
        g_hash_table_insert(known, g_memdup2(&key, sizeof key), step->bodies);
        for (guint node = 0; node < to->count; node++)
            step->bodies[node] = choose_service(parser, to->nodes[node], to->name, step->op, idle);
    }
    return true;
}

// ---- the whole ----------------------------------------------------------------------------------

static bool need_statement(BbParser *parser)
{
    static const struct {
        const char *word;
        bool (*need)(BbParser *parser);
    } statements[] = {
        {"calls", need_calls},
        {"duration", need_duration},
        {"messages", need_messages},
        {"network", need_network},
        {"pool", bb_parser_need_pool},
        {"replicas", need_replicas},
        {"resolution", need_resolution},
        {"returns", need_returns},
        {"sends", need_sends},
        {"service", need_service},
        {"tracelet", bb_parser_need_tracelet},
        {"workers", bb_parser_need_workers},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(statements); i++)
        if (bb_parser_word(parser, statements[i].word))
            return statements[i].need(parser);
    return bb_parser_expect(parser, "a statement: set calls duration messages network pool "
                                    "replicas resolution returns sends service tracelet workers");
}

static bool parse(BbParser *parser)
{
    while (parser->token->kind != BB_TOKEN_END)
        if (!bb_parser_mark(parser, ";") &&
            (!need_statement(parser) || !bb_parser_need_end(parser)))
            return false;
    if (parser->scenario->tracelets->len == 0)
        return bb_parser_refuse(parser, "no tracelet: nothing would happen; write `tracelet NAME { "
                                        "rate 10/s; A -> B }`");
    return resolve_services(parser);
}

BbScenario *bb_scenario_parse(const char *text, gsize size, const char *file,
                              const char *const *settings, BbNames *names, GError **error)
{
    g_autoptr(BbTokens) tokens = bb_tokens_new(text, size, file, settings, error);
    if (!tokens)
        return NULL;
    g_autoptr(BbScenario) scenario = scenario_new(names, file);
    g_autoptr(GHashTable) targets = g_hash_table_new(NULL, NULL);
    g_autoptr(GHashTable) services =
        g_hash_table_new_full(service_hash, service_equal, g_free, NULL);
    BbParser parser = {
        .token = &g_array_index(tokens->list, BbToken, 0),
        .first = &g_array_index(tokens->list, BbToken, 0),
        .scenario = scenario,
        .targets = targets,
        .services = services,
        .error = error,
    };
    return parse(&parser) ? g_steal_pointer(&scenario) : NULL;
}

BbScenario *bb_scenario_read(const char *path, const char *const *settings, BbNames *names,
                             GError **error)
{
    g_autoptr(BbInput) input = bb_input_open_text(path, error);
    if (!input)
        return NULL;
    g_autofree char *text = g_malloc(BB_SCENARIO_BYTES_MAX + 1);
    gssize size = bb_input_read(input, text, BB_SCENARIO_BYTES_MAX + 1, error);
    if (size < 0)
        return NULL;
    if ((gsize)size > BB_SCENARIO_BYTES_MAX) {
        g_set_error(error, BB_SCENARIO_ERROR, BB_SCENARIO_ERROR_TEXT,
                    "%s: more than 1 MiB: no scenario, or one to be taken apart into several",
                    bb_input_name(input));
        return NULL;
    }
    return bb_scenario_parse(text, (gsize)size, bb_input_name(input), settings, names, error);
}

bool bb_scenario_parse_time(const char *text, gint64 *time_ns)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(BbTokens) tokens = bb_tokens_new(text, strlen(text), "", NULL, &error);
    if (!tokens)
        return false;
    BbScenario nothing = {.file = (char[]){""}};
    BbParser parser = {
        .token = &g_array_index(tokens->list, BbToken, 0),
        .first = &g_array_index(tokens->list, BbToken, 0),
        .scenario = &nothing,
        .error = &error,
    };
    return bb_parser_need_time(&parser, time_ns) && parser.token->kind == BB_TOKEN_END;
}

char *bb_scenario_title(const char *text)
{
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (*line != '#')
            return g_strdup("");
        gsize blanks = strspn(line, "# \t"), length = strcspn(line + blanks, "\r\n");
        if (length > 0 && !g_str_has_prefix(line + blanks, "SPDX-License-Identifier:"))
            return g_strndup(line + blanks, length);
        line += blanks;
    }
    return g_strdup("");
}
