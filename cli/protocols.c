// SPDX-License-Identifier: Apache-2.0
// bbtrace protocols. In: the table of decoders. Out: what is built in, a line each.
#include "cli/command.h"

#include "capture/decoder.h"

#include <stdio.h>

static const char summary[] =
    "Lists the protocols that bbtrace capture reads: name (of proto= in a trace, and of "
    "--decode),\n"
    "transports, usual ports, and how returns find their calls. A protocol is found by what is "
    "said;\n"
    "where that looks like several, the port decides, and --decode PORT=PROTOCOL overrides.";

static void append_ports(GString *out, const BbDecoder *decoder)
{
    for (guint i = 0; i < G_N_ELEMENTS(decoder->ports) && decoder->ports[i]; i++)
        g_string_append_printf(out, "%s%u", i ? "," : "", decoder->ports[i]);
    if (!decoder->ports[0])
        g_string_append_c(out, '-');
}

static void print_decoder(const BbDecoder *decoder)
{
    g_autoptr(GString) ports = g_string_new(NULL);
    append_ports(ports, decoder);
    printf("%-10s  %-7s  %-30s  %s\n", decoder->name,
           decoder->tcp && decoder->udp ? "tcp,udp"
           : decoder->tcp               ? "tcp"
                                        : "udp",
           ports->str, decoder->about);
}

static int by_name(const void *a, const void *b)
{
    const BbDecoder *const *x = a, *const *y = b;
    return g_strcmp0((*x)->name, (*y)->name);
}

static int run(int argc, char **argv)
{
    const GOptionEntry entries[] = {{NULL, 0, 0, 0, NULL, NULL, NULL}};
    int status = BB_EXIT_DONE;
    if (!bb_options_parse("bbtrace protocols", "", summary, NULL, entries, &argc, &argv, &status))
        return status;
    if (argc > 1)
        return bb_say_usage("bbtrace protocols", "what is '%s'? It takes no arguments", argv[1]);
    g_autoptr(GPtrArray) decoders = g_ptr_array_new();
    for (guint i = 0; bb_decoders[i]; i++)
        g_ptr_array_add(decoders, (gpointer)bb_decoders[i]);
    g_ptr_array_sort(decoders, by_name);
    for (guint i = 0; i < decoders->len; i++)
        print_decoder(decoders->pdata[i]);
    print_decoder(&bb_decoder_turns);
    return bb_end_stdout(BB_EXIT_DONE);
}

const BbCommand bb_command_protocols = {
    .name = "protocols",
    .arguments = "",
    .summary = "what bbtrace capture reads, and how",
    .run = run,
};
