// SPDX-License-Identifier: Apache-2.0
// In: words of --decode. Out: decoders and tunnels by port.
#include "cli/decode_as.h"

#include <gio/gio.h>
#include <string.h>

static bool parse_port(const char *word, const char *end, guint16 *port)
{
    guint64 number = 0;
    g_autofree char *text = g_strndup(word, (gsize)(end - word));
    if (!g_ascii_string_to_unsigned(text, 10, 1, G_MAXUINT16, &number, NULL))
        return false;
    *port = (guint16)number;
    return true;
}

static bool refuse_name(const char *name, GError **error)
{
    g_autoptr(GString) tunnels = g_string_new(NULL);
    bb_overlay_append_names(tunnels);
    g_set_error(
        error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
        "--decode: there is no protocol '%s'; `bbtrace protocols` lists them, and there are "
        "the tunnels %s",
        name, tunnels->str);
    return false;
}

static bool parse_word(BbDecodings *decodings, const char *word, GError **error)
{
    guint16 port;
    const char *equals = strchr(word, '=');
    if (!equals || !parse_port(word, equals, &port)) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                    "--decode takes PORT=PROTOCOL, such as 8000=http, not '%s'", word);
        return false;
    }
    const char *name = equals + 1;
    BbDecodeAs as = {.port = port, .decoder = bb_decoder_find(name)};
    BbTunnelAt tunnel = {.port = port, .name = name};
    if (as.decoder)
        g_array_append_val(decodings->protocols, as);
    else if (bb_overlay_exists(name))
        g_array_append_val(decodings->tunnels, tunnel);
    else
        return refuse_name(name, error);
    return true;
}

bool bb_decodings_parse(BbDecodings *decodings, const char *const *words, GError **error)
{
    decodings->protocols = g_array_new(FALSE, FALSE, sizeof(BbDecodeAs));
    decodings->tunnels = g_array_new(FALSE, FALSE, sizeof(BbTunnelAt));
    for (; words && *words; words++)
        if (!parse_word(decodings, *words, error))
            return false;
    return true;
}

void bb_decodings_clear(BbDecodings *decodings)
{
    g_clear_pointer(&decodings->protocols, g_array_unref);
    g_clear_pointer(&decodings->tunnels, g_array_unref);
}
