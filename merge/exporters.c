// SPDX-License-Identifier: Apache-2.0
// In: the name of a form. Out: what writes it.
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
