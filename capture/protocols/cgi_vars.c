// SPDX-License-Identifier: Apache-2.0
// In: names and values of meta-variables. Out: a label, the length of the body.
#include "capture/protocols/cgi_vars.h"

#include "capture/protocols/label.h"

#define LENGTH_MAX (G_GUINT64_CONSTANT(1) << 50) // longer bodies are not believed

// Later ones are better: the target is what the client asked for.
static const char *const targets[] = {"PATH_INFO", "SCRIPT_NAME", "REQUEST_URI"};

static bool is(const guint8 *name, gsize length, const char *variable)
{
    return length == strlen(variable) && memcmp(name, variable, length) == 0;
}

void bb_cgi_vars_name(BbCgiVars *vars, const guint8 *name, gsize length)
{
    vars->under_way = BB_CGI_NONE;
    if (is(name, length, "REQUEST_METHOD")) {
        vars->under_way = BB_CGI_METHOD;
        vars->method_length = 0;
    } else if (is(name, length, "CONTENT_LENGTH")) {
        vars->under_way = BB_CGI_LENGTH;
        vars->has_length = true;
        vars->length = 0;
    }
    for (guint8 i = 0; i < G_N_ELEMENTS(targets); i++) {
        if (!is(name, length, targets[i]) || i + 1 <= vars->rank)
            continue;
        vars->under_way = BB_CGI_TARGET;
        vars->rank = (guint8)(i + 1);
        vars->path_length = 0;
        vars->query = false;
    }
}

static void add_target(BbCgiVars *vars, guint8 byte)
{
    vars->query |= byte == '?';
    if (!vars->query && vars->path_length < BB_CGI_PATH)
        vars->path[vars->path_length++] = byte;
}

static void add_digit(BbCgiVars *vars, guint8 byte)
{
    if (g_ascii_isdigit(byte) && vars->length < LENGTH_MAX)
        vars->length = vars->length * 10 + (guint64)(byte - '0');
    else
        vars->has_length = false;
}

void bb_cgi_vars_value(BbCgiVars *vars, const guint8 *value, gsize length)
{
    for (gsize i = 0; i < length; i++) {
        if (vars->under_way == BB_CGI_METHOD && vars->method_length < sizeof vars->method)
            vars->method[vars->method_length++] = value[i];
        else if (vars->under_way == BB_CGI_TARGET)
            add_target(vars, value[i]);
        else if (vars->under_way == BB_CGI_LENGTH)
            add_digit(vars, value[i]);
    }
}

guint32 bb_cgi_vars_label(const BbCgiVars *vars, BbDialog *dialog)
{
    char text[BB_LABEL_MAX + 1], word[BB_LABEL_MAX + 1];
    gsize length = bb_label_word(word, vars->method, vars->method_length);
    if (!length)
        length = g_strlcpy(word, "?", sizeof word);
    if (vars->path_length)
        length = bb_label_http(text, (const guint8 *)word, length, vars->path, vars->path_length);
    else
        length = (gsize)g_snprintf(text, sizeof text, "%s ?", word);
    return bb_dialog_label(dialog, text, length);
}

bool bb_cgi_vars_is_name(const guint8 *name, gsize length)
{
    for (gsize i = 0; i < length; i++)
        if (!g_ascii_isupper(name[i]) && !g_ascii_isdigit(name[i]) && name[i] != '_')
            return false;
    return length > 0;
}
