// SPDX-License-Identifier: Apache-2.0
// In: how many of how many, and where. Out: findings, by how bad they are.
#include "capture/doctor/finding.h"

#include "data/keys.h"
#include "data/quantity.h"

#include <string.h>

struct BbPlaces {
    GHashTable *counts; // text -> guint64, both owned
};

const char *bb_severity_name(BbSeverity severity)
{
    static const char *const names[] = {"note", "warning", "sick"};
    return names[severity];
}

const char *bb_sureness_name(BbSureness sure)
{
    static const char *const names[] = {"possible", "likely", "certain"};
    return names[sure];
}

char *bb_finding_by_up_to(gint64 ns)
{
    GString *text = g_string_new("by up to ");
    bb_quantity_append_duration(text, ns);
    return g_string_free(text, FALSE);
}

static void clear_finding(gpointer of)
{
    BbDoctorFinding *finding = of;
    g_free(finding->detail);
    for (guint i = 0; i < finding->n_places; i++)
        g_free(finding->place[i].text);
}

GArray *bb_findings_new(void)
{
    GArray *findings = g_array_new(FALSE, FALSE, sizeof(BbDoctorFinding));
    g_array_set_clear_func(findings, clear_finding);
    return findings;
}

BbDoctorFinding *bb_findings_add(GArray *findings, BbDoctorFinding finding)
{
    g_array_append_val(findings, finding);
    return &g_array_index(findings, BbDoctorFinding, findings->len - 1);
}

BbDoctorFinding *bb_findings_judge(GArray *findings, BbDoctorFinding finding, const BbLevel *level)
{
    double share = finding.whole ? (double)finding.part / (double)finding.whole : 0;
    if (finding.part == 0 || finding.part < level->least || share < level->warn) {
        clear_finding(&finding);
        return NULL;
    }
    finding.severity = share >= level->sick ? BB_FINDING_SICK : BB_FINDING_WARNING;
    return bb_findings_add(findings, finding);
}

BbPlaces *bb_places_new(void)
{
    BbPlaces *places = g_new0(BbPlaces, 1);
    places->counts = g_hash_table_new_full(bb_text_key_hash, g_str_equal, g_free, g_free);
    return places;
}

void bb_places_free(BbPlaces *places)
{
    if (!places)
        return;
    g_hash_table_unref(places->counts);
    g_free(places);
}

void bb_places_add(BbPlaces *places, char *text, guint64 count)
{
    guint64 *sum = g_hash_table_lookup(places->counts, text);
    if (sum) {
        *sum += count;
        g_free(text);
        return;
    }
    g_hash_table_insert(places->counts, text, g_memdup2(&count, sizeof count));
}

static gint by_count(gconstpointer a, gconstpointer b)
{
    const BbFindingPlace *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return strcmp(x->text, y->text);
}

void bb_places_name(BbPlaces *places, BbDoctorFinding *finding)
{
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(BbFindingPlace));
    GHashTableIter iter;
    gpointer text, count;
    g_hash_table_iter_init(&iter, places->counts);
    while (g_hash_table_iter_next(&iter, &text, &count)) {
        BbFindingPlace place = {text, *(const guint64 *)count};
        g_array_append_val(all, place);
    }
    g_array_sort(all, by_count);
    finding->n_places = MIN(all->len, BB_FINDING_PLACES);
    finding->n_more = all->len - finding->n_places;
    for (guint i = 0; i < finding->n_places; i++) {
        const BbFindingPlace *place = &g_array_index(all, BbFindingPlace, i);
        finding->place[i] = (BbFindingPlace){g_strdup(place->text), place->count};
    }
}
