// SPDX-License-Identifier: Apache-2.0
// In: sightings, of any inputs. Out: observers of which several inputs have the same messages at
// other times.
#include "merge/repeats.h"

#include "data/call.h"

#include <string.h>

typedef struct Place {
    guint64 key;
    gint64 time_ns; // in the first input that had it
    guint input;
    bool twice; // another input has it at another time
} Place;

typedef struct Sample {
    guint64 added;
    guint n;
    Place places[BB_REPEATS_KEYS]; // by key
    BbRepeat repeat;               // the first that was found, but for how many
} Sample;

struct BbRepeats {
    GHashTable *samples; // observer -> Sample
};

G_STATIC_ASSERT(sizeof(Sample) <= 2048); // as the header says

BbRepeats *bb_repeats_new(void)
{
    BbRepeats *repeats = g_new0(BbRepeats, 1);
    repeats->samples = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    return repeats;
}

void bb_repeats_free(BbRepeats *repeats)
{
    if (!repeats)
        return;
    g_hash_table_destroy(repeats->samples);
    g_free(repeats);
}

static Sample *sample_of(BbRepeats *repeats, guint32 observer)
{
    Sample *sample = g_hash_table_lookup(repeats->samples, GUINT_TO_POINTER(observer));
    if (sample || g_hash_table_size(repeats->samples) == BB_REPEATS_OBSERVERS)
        return sample;
    sample = g_new0(Sample, 1);
    sample->repeat.observer = observer;
    g_hash_table_insert(repeats->samples, GUINT_TO_POINTER(observer), sample);
    return sample;
}

static void compare(Sample *sample, Place *known, const Place *place)
{
    if (known->input == place->input || known->time_ns == place->time_ns || known->twice)
        return;
    known->twice = true;
    if (sample->repeat.apart_ns)
        return;
    sample->repeat.input = known->input;
    sample->repeat.other = place->input;
    sample->repeat.apart_ns = bb_time_between(known->time_ns, place->time_ns);
}

// Keeps the place if its key is among the lowest.
static void note_place(Sample *sample, const Place *place)
{
    Place *places = sample->places;
    guint at = sample->n;
    if (at == BB_REPEATS_KEYS && place->key > places[at - 1].key)
        return;
    while (at > 0 && place->key < places[at - 1].key)
        at--;
    if (at > 0 && places[at - 1].key == place->key) {
        compare(sample, &places[at - 1], place);
        return;
    }
    sample->n = MIN(sample->n + 1, BB_REPEATS_KEYS);
    memmove(places + at + 1, places + at, (sample->n - at - 1) * sizeof *places);
    places[at] = *place;
}

void bb_repeats_add(BbRepeats *repeats, const BbMessage *message, const BbSightingKey *key,
                    guint input)
{
    if (key->by != BB_SIGHTING_BY_POSITION || bb_message_has_print(message) ||
        message->offset < BB_OFFSET_RELATIVE)
        return;
    Sample *sample = sample_of(repeats, message->observer);
    if (!sample)
        return;
    sample->added++;
    // The key of a position is one for both directions, and for both ends.
    guint64 way = (guint64)(message->kind == BB_RETURN) << 1 | message->at_receiver;
    note_place(sample, &(Place){key->hi ^ way, message->time_ns, input, false});
}

static int most_first(gconstpointer a, gconstpointer b, gpointer data)
{
    const BbRepeat *x = a, *y = b;
    const BbNames *names = data;
    if (x->twice != y->twice)
        return x->twice > y->twice ? -1 : 1;
    return strcmp(bb_names_text(names, x->observer), bb_names_text(names, y->observer));
}

GArray *bb_repeats_list(const BbRepeats *repeats, const BbNames *names)
{
    GArray *list = g_array_new(FALSE, FALSE, sizeof(BbRepeat));
    GHashTableIter iter;
    gpointer item = NULL;
    g_hash_table_iter_init(&iter, repeats->samples);
    while (g_hash_table_iter_next(&iter, NULL, &item)) {
        const Sample *sample = item;
        guint twice = 0;
        for (guint i = 0; i < sample->n; i++)
            twice += sample->places[i].twice;
        if (twice < BB_REPEATS_LEAST)
            continue;
        BbRepeat repeat = sample->repeat;
        repeat.twice = (guint64)((double)sample->added * twice / (sample->n + twice));
        g_array_append_val(list, repeat);
    }
    g_array_sort_with_data(list, most_first, (gpointer)names);
    return list;
}
