// SPDX-License-Identifier: Apache-2.0
// What the doctor found at a mirror: how much of it, how sure that is, what it means for a trace
// and what to do about it. And the places where it was found, most first.
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef enum {
    BB_FINDING_NOTE,    // good to know; a trace does not suffer
    BB_FINDING_WARNING, // a trace suffers in what `meaning` says
    BB_FINDING_SICK,    // a trace of it misleads, or there is none
} BbSeverity;

typedef enum { BB_SURE_POSSIBLE, BB_SURE_LIKELY, BB_SURE_CERTAIN } BbSureness;

#define BB_FINDING_PLACES 3u // named of each

typedef struct BbFindingPlace {
    char *text;    // "10.0.0.1 -> 10.0.0.2:80"
    guint64 count; // in `unit` of the finding
} BbFindingPlace;

typedef struct BbDoctorFinding {
    const char *name;  // one word, for scripts; never changes. Lent, as the next four
    const char *title; // what it is
    const char *meaning, *remedy;
    const char *unit;    // what part and whole are: "packets"
    guint64 part, whole; // how many of how many
    BbSeverity severity;
    BbSureness sure;
    char *detail; // figures of this finding alone, or NULL
    BbFindingPlace place[BB_FINDING_PLACES];
    guint n_places, n_more; // named, and further ones
} BbDoctorFinding;

const char *bb_severity_name(BbSeverity severity); // note, warning, sick
const char *bb_sureness_name(BbSureness sure);     // possible, likely, certain

// "by up to 5.0 ms", yours: a detail.
char *bb_finding_by_up_to(gint64 ns);

// An array of BbDoctorFinding that frees what they own.
GArray *bb_findings_new(void);

// From which shares of the whole on something is worth a word, and worth alarm.
typedef struct BbLevel {
    double warn, sick; // shares; sick above 1: never
    guint64 least;     // fewer than so many are chance
} BbLevel;

// Adds finding, and sets its severity by level, if there is enough of it; else clears it (the
// places, the detail). Returns the one added, lent until the next one is, or NULL.
BbDoctorFinding *bb_findings_judge(GArray *findings, BbDoctorFinding finding, const BbLevel *level);
// Adds it as it is.
BbDoctorFinding *bb_findings_add(GArray *findings, BbDoctorFinding finding);

// Counts by name of the place.
typedef struct BbPlaces BbPlaces;

BbPlaces *bb_places_new(void);
void bb_places_free(BbPlaces *places);
void bb_places_add(BbPlaces *places, char *text, guint64 count); // takes text
// The ones with the highest counts, at a tie by text, into finding.
void bb_places_name(BbPlaces *places, BbDoctorFinding *finding);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbPlaces, bb_places_free)
