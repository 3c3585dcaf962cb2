// SPDX-License-Identifier: Apache-2.0
// In: bytes of JSON. Out: its values, parsed, one at a time.
//
// Where a value ends, and how deep it nests, is found before it is parsed. This must see what the
// parser sees: of what may stand outside of strings, all that could begin a comment or a string of
// another kind is refused.
#include "merge/json_values.h"

#include <string.h>

#define BUFFER_BYTES ((gsize)64 * 1024)
#define KEY_MAX 32      // of a list
#define WRAPPINGS_MAX 3 // object, list of it; or two arrays

struct BbJsonValues {
    BbInput *input;
    const char *const *lists;
    JsonParser *parser;
    GString *value;
    guint8 *buffer;
    gsize at, left;
    GError *failure; // of reading the input
    char *damage;
    guint64 line, value_line; // from 1
    bool good;                // some value or wrapping was
    bool failed;              // nothing follows
    bool lacks_brackets;      // it ended between values, within what wraps them
    // What is open around the values: '[' or '{' each.
    char wrapping[WRAPPINGS_MAX];
    guint wrappings;
    guint64 wrapping_line; // of the first
    // The value in hand.
    guint depth;
    bool in_string, escaped, too_long;
    bool passing;      // it is what is left of an object whose list was taken apart
    char last;         // byte of it that was not white space, outside of strings; '"' for a string
    char key[KEY_MAX]; // the last string at depth 1
    gsize key_length;
};

BbJsonValues *bb_json_values_take(BbInput *input, const char *const *lists)
{
    BbJsonValues *values = g_new0(BbJsonValues, 1);
    values->input = input;
    values->lists = lists;
    values->parser = json_parser_new();
    values->value = g_string_new(NULL);
    values->buffer = g_malloc(BUFFER_BYTES);
    values->line = 1;
    return values;
}

BbJsonValues *bb_json_values_open(const char *path, const char *const *lists, GError **error)
{
    BbInput *input = bb_input_open_text(path, error);
    return input ? bb_json_values_take(input, lists) : NULL;
}

void bb_json_values_free(BbJsonValues *values)
{
    if (!values)
        return;
    bb_input_free(values->input);
    g_object_unref(values->parser);
    g_string_free(values->value, TRUE);
    g_free(values->buffer);
    g_free(values->damage);
    g_clear_error(&values->failure);
    g_free(values);
}

const char *bb_json_values_damage(const BbJsonValues *values)
{
    return values->damage;
}

bool bb_json_values_lacks_brackets(const BbJsonValues *values)
{
    return values->lacks_brackets;
}

bool bb_json_values_may_go_on(const BbJsonValues *values)
{
    return !values->failed;
}

static void set_error(const BbJsonValues *values, guint64 line, const char *why, GError **error)
{
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "%s:%" G_GUINT64_FORMAT ": %s",
                bb_input_name(values->input), line, why);
}

void bb_json_values_refuse(const BbJsonValues *values, const char *why, GError **error)
{
    set_error(values, values->value_line, why, error);
}

// ---- bytes ------------------------------------------------------------------------------------

// Returns the next byte, -1 at the end.
static int next_byte(BbJsonValues *values)
{
    if (values->left == 0) {
        gssize got = values->failure ? 0
                                     : bb_input_some(values->input, values->buffer, BUFFER_BYTES,
                                                     &values->failure);
        values->at = 0;
        values->left = (gsize)MAX(got, 0);
        if (values->left == 0)
            return -1;
    }
    guint8 byte = values->buffer[values->at++];
    values->left--;
    values->line += byte == '\n';
    return byte;
}

static void pass_line(BbJsonValues *values)
{
    int byte = 0;
    while (byte != '\n' && byte >= 0)
        byte = next_byte(values);
}

static bool is_space(int byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

// ---- a value ----------------------------------------------------------------------------------

static void begin(BbJsonValues *values, char first)
{
    g_string_truncate(values->value, 0);
    g_string_append_c(values->value, first);
    values->value_line = values->line;
    values->depth = 1;
    values->in_string = values->escaped = values->too_long = values->passing = false;
    values->last = first;
}

// The rest of an object whose list has ended.
static void begin_passing(BbJsonValues *values)
{
    begin(values, '{');
    values->passing = true;
}

static void store(BbJsonValues *values, char byte)
{
    if (values->passing)
        return;
    if (values->value->len < BB_JSON_VALUE_MAX)
        g_string_append_c(values->value, byte);
    else
        values->too_long = true;
}

// Returns what is wrong, NULL if nothing.
static const char *take_in_string(BbJsonValues *values, char byte)
{
    if ((guint8)byte < ' ')
        return "not JSON: a line break or control character in a string";
    if (values->escaped) {
        values->escaped = false;
    } else if (byte == '\\') {
        values->escaped = true;
    } else if (byte == '"') {
        values->in_string = false;
        values->last = '"';
        return NULL;
    }
    if (values->depth == 1 && values->key_length < KEY_MAX)
        values->key[values->key_length++] = byte;
    return NULL;
}

static const char *take_outside(BbJsonValues *values, char byte)
{
    if (is_space(byte))
        return NULL;
    values->last = byte;
    switch (byte) {
    case '"':
        values->in_string = true;
        if (values->depth == 1)
            values->key_length = 0;
        return NULL;
    case '{':
    case '[':
        return ++values->depth > BB_JSON_NESTING_MAX
                   ? "arrays and objects nest more than 200 deep: this is no trace"
                   : NULL;
    case '}':
    case ']':
        values->depth--;
        return NULL;
    default:
        return byte == ':' || byte == ',' || byte == '-' || byte == '+' || byte == '.' ||
                       g_ascii_isalnum(byte)
                   ? NULL
                   : "not JSON: an unexpected character outside of strings";
    }
}

// Whether the bracket that comes opens a list whose elements are values.
static bool opens_list(const BbJsonValues *values, char byte)
{
    if (byte != '[' || values->in_string || values->depth != 1 || values->last != ':' ||
        values->value->str[0] != '{' || (values->wrappings > 0 && !values->passing))
        return false;
    for (const char *const *list = values->lists; *list; list++)
        if (strlen(*list) == values->key_length &&
            memcmp(*list, values->key, values->key_length) == 0)
            return true;
    return false;
}

typedef enum { PART_VALUE, PART_WRAPPING, PART_END, PART_BAD } Part;

// Behind a byte that no value can hold.
static Part fail(BbJsonValues *values, int byte, const char *why, GError **error)
{
    guint64 line = values->line - (byte == '\n');
    set_error(values, line, why, error);
    if (byte != '\n')
        pass_line(values);
    if (values->passing || values->wrapping_line == line)
        values->wrappings = 0;
    values->passing = false;
    return PART_BAD;
}

// Where the input broke off.
static Part break_off(BbJsonValues *values, GError **error)
{
    values->failed = true;
    if (values->failure) {
        g_propagate_error(error, g_steal_pointer(&values->failure));
        return PART_BAD;
    }
    const char *why = bb_input_damage(values->input);
    if (!values->good) {
        set_error(values, values->line, why ? why : "ends in its first value", error);
        return PART_BAD;
    }
    values->damage = why ? g_strdup(why)
                         : g_strdup_printf("%s ends in the value that begins in line "
                                           "%" G_GUINT64_FORMAT "; what is before it was read",
                                           bb_input_name(values->input), values->value_line);
    return PART_END;
}

// Reads on to the end of the value that was begun, or to its list.
static Part scan(BbJsonValues *values, GError **error)
{
    while (values->depth > 0) {
        int byte = next_byte(values);
        if (byte < 0)
            return break_off(values, error);
        if (opens_list(values, (char)byte)) {
            values->wrapping[0] = '{';
            values->wrapping[1] = '[';
            values->wrappings = 2;
            values->wrapping_line = values->value_line;
            values->good = true;
            return PART_WRAPPING;
        }
        store(values, (char)byte);
        const char *why = values->in_string ? take_in_string(values, (char)byte)
                                            : take_outside(values, (char)byte);
        if (why)
            return fail(values, byte, why, error);
    }
    if (values->passing)
        values->wrappings = 0;
    return values->passing ? PART_WRAPPING : PART_VALUE;
}

// ---- between values ---------------------------------------------------------------------------

static bool may_wrap(const BbJsonValues *values)
{
    return values->wrappings == 0 || (values->wrappings == 1 && values->wrapping[0] == '[');
}

// What stands between values, or begins one.
static Part take_between(BbJsonValues *values, int byte, GError **error)
{
    if (is_space(byte) || (byte == ',' && values->wrappings > 0))
        return PART_WRAPPING;
    if (byte == '[' && may_wrap(values)) {
        if (values->wrappings == 0)
            values->wrapping_line = values->line;
        values->wrapping[values->wrappings++] = '[';
        values->good = true;
        return PART_WRAPPING;
    }
    if (byte == ']' && values->wrappings > 0) {
        values->wrappings--;
        if (values->wrappings == 0 || values->wrapping[values->wrappings - 1] == '[')
            return PART_WRAPPING;
        begin_passing(values);
        return scan(values, error);
    }
    if (byte != '{' && byte != '[')
        return fail(values, byte, "not JSON: an object is expected here", error);
    begin(values, (char)byte);
    return scan(values, error);
}

static Part next_part(BbJsonValues *values, GError **error)
{
    Part part = PART_WRAPPING;
    while (part == PART_WRAPPING) {
        int byte = next_byte(values);
        if (byte >= 0) {
            part = take_between(values, byte, error);
            continue;
        }
        values->value_line = values->line;
        bool damaged = values->failure || bb_input_damage(values->input);
        values->lacks_brackets = values->wrappings > 0 && !damaged;
        if (values->wrappings > 0 || damaged)
            return break_off(values, error);
        values->failed = true;
        return PART_END;
    }
    return part;
}

JsonNode *bb_json_values_next(BbJsonValues *values, GError **error)
{
    g_autoptr(GError) failure = NULL;
    if (values->failed)
        return NULL;
    if (next_part(values, error) != PART_VALUE)
        return NULL;
    if (values->too_long) {
        bb_json_values_refuse(values,
                              "a JSON value of more than 32 MiB: export the traces one by one, or "
                              "one request a line",
                              error);
        return NULL;
    }
    if (json_parser_load_from_data(values->parser, values->value->str, (gssize)values->value->len,
                                   &failure)) {
        values->good = true;
        return json_parser_get_root(values->parser);
    }
    g_autofree char *why = g_strdup_printf("not JSON: %s", failure->message);
    bb_json_values_refuse(values, why, error);
    return NULL;
}
