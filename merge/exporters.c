// SPDX-License-Identifier: Apache-2.0
// In: the name of a form, or of a file. Out: what writes it.
#include "merge/exporter.h"

#include <string.h>

static const BbExporter *const exporters[] = {
    &bb_exporter_text,
    &bb_exporter_jsonl,
    &bb_exporter_csv,
    &bb_exporter_sqlite,
};

const BbExporter *bb_exporter_at(gsize index)
{
    return index < G_N_ELEMENTS(exporters) ? exporters[index] : NULL;
}

const BbExporter *bb_exporter_find(const char *name)
{
    for (gsize i = 0; i < G_N_ELEMENTS(exporters); i++)
        if (strcmp(exporters[i]->name, name) == 0)
            return exporters[i];
    return NULL;
}

static bool has_ending(const BbExporter *exporter, const char *ending)
{
    for (gsize i = 0; i < G_N_ELEMENTS(exporter->endings); i++)
        if (exporter->endings[i] && g_ascii_strcasecmp(exporter->endings[i], ending) == 0)
            return true;
    return false;
}

const BbExporter *bb_exporter_of_file(const char *path)
{
    g_autofree char *name = g_path_get_basename(path);
    const char *dot = strrchr(name, '.');
    for (gsize i = 0; dot && i < G_N_ELEMENTS(exporters); i++)
        if (has_ending(exporters[i], dot + 1))
            return exporters[i];
    return NULL;
}
