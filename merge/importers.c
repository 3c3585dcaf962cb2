// SPDX-License-Identifier: Apache-2.0
// In: the name of a format, or of a counter. Out: what reads it, or what it means.
#include "merge/importer.h"

#include <string.h>

static const BbImporter *const importers[] = {
    &bb_importer_text, &bb_importer_received, &bb_importer_jaeger, &bb_importer_zipkin,
    &bb_importer_otlp, &bb_importer_jsonl,    &bb_importer_csv,    &bb_importer_chrome,
    &bb_importer_zeek, &bb_importer_events,
};

const BbImporter *bb_importer_at(gsize index)
{
    return index < G_N_ELEMENTS(importers) ? importers[index] : NULL;
}

const BbImporter *bb_importer_find(const char *name)
{
    for (gsize i = 0; i < G_N_ELEMENTS(importers); i++)
        if (strcmp(importers[i]->name, name) == 0)
            return importers[i];
    return NULL;
}

bool bb_importer_has_setting(const BbImporter *importer, const char *name)
{
    return importer->settings && g_strv_contains(importer->settings, name);
}

const char *bb_import_setting(const BbImport *import, const char *name)
{
    gsize length = strlen(name);
    for (const char *const *setting = import->settings; setting && *setting; setting++)
        if (strncmp(*setting, name, length) == 0 && (*setting)[length] == '=')
            return *setting + length + 1;
    return NULL;
}

const char *bb_importer_meaning(const char *counter)
{
    for (gsize i = 0; i < G_N_ELEMENTS(importers); i++) {
        const BbImportCount *count = importers[i]->counts;
        for (; count && count->name; count++)
            if (strcmp(count->name, counter) == 0)
                return count->meaning;
    }
    return NULL;
}
