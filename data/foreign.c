// SPDX-License-Identifier: Apache-2.0
// In: the first bytes of a file. Out: what it is, and the command that makes something of it.
#include "data/foreign.h"

#include "data/shell_word.h"
#include "data/trace_form.h"

#include <string.h>

// First bytes of other formats, and what to do with them. The remedy's %s is the path.
typedef struct {
    const char *bytes;
    gsize size;
    bool binary;
    const char *what, *remedy;
} Foreign;

#define CAPTURE "run `bbtrace capture -r %s -w TRACE.bbt` first"
#define PCAP true, "a packet capture (pcap)", CAPTURE
#define MAIL false, "mail", "`bbtrace import --from received -w TRACE.bbt %s` reads its path"
#define CSV false, "CSV", "`bbtrace import --from csv -w TRACE.bbt %s` reads it"
#define JSON \
    false, "JSON", "`bbtrace import --from jaeger -w TRACE.bbt %s` reads spans (or zipkin, otlp)"

static const Foreign foreigns[] = {
    {"\xd4\xc3\xb2\xa1", 4, PCAP},
    {"\xa1\xb2\xc3\xd4", 4, PCAP},
    {"\x4d\x3c\xb2\xa1", 4, PCAP},
    {"\xa1\xb2\x3c\x4d", 4, PCAP},
    {"\x0a\x0d\x0d\x0a", 4, true, "a packet capture (pcapng)", CAPTURE},
    {BB_TRACE_BBT_MAGIC, BB_TRACE_BBT_MAGIC_SIZE, true, "a trace (.bbt)",
     "`bbtrace info %s` tells what is in it"},
    {BB_TRACE_RING_MAGIC, BB_TRACE_RING_MAGIC_SIZE, true, "a ring of a flight recorder",
     "`bbtrace info %s` tells what is in it"},
    {"\x89"
     "BBT",
     4, true, "a .bbt whose first bytes were changed on the way, as by a transfer as text",
     "get %s again, as a binary file"},
    {"SQLite format 3", 16, true, "a SQLite database",
     "`bbtrace export --to sqlite` writes such ones, but none are read: give the trace that %s was "
     "made from"},
    {"time,", 5, CSV},
    {"time_", 5, CSV},
    {"{\"time", 6, false, "JSON Lines",
     "`bbtrace import --from jsonl -w TRACE.bbt %s` reads messages"},
    {"{", 1, JSON},
    {"[", 1, JSON},
    {"From ", 5, MAIL},
    {"Received: ", 10, MAIL},
    {"Return-Path: ", 13, MAIL},
    {"Delivered-To: ", 14, MAIL},
};

char *bb_foreign_tell(const char *path, const char *head, gsize size, bool binary)
{
    for (gsize i = 0; i < G_N_ELEMENTS(foreigns); i++) {
        const Foreign *foreign = &foreigns[i];
        if (size < foreign->size || memcmp(head, foreign->bytes, foreign->size) != 0 ||
            (binary && !foreign->binary))
            continue;
        g_autofree char *word = bb_shell_file(path);
        g_auto(GStrv) parts = g_strsplit(foreign->remedy, "%s", 2);
        return g_strdup_printf("it is %s: %s%s%s", foreign->what, parts[0], word, parts[1]);
    }
    return NULL;
}
