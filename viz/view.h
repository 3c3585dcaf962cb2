// SPDX-License-Identifier: Apache-2.0
// What people and programs look at: the patterns of an inference, ranked, in one of several
// formats.
#pragma once

#include "data/census.h"
#include "data/chosen.h"
#include "data/network.h"

#include <stdio.h>

// By falling sum, number of instances (of convolution: paths), or mean of the root call's latency.
// Ties: by sum, number, then the shape's text.
typedef enum {
    BB_SORT_OF_ALGORITHM, // what suits it: number with convolution, else sum
    BB_SORT_TOTAL,
    BB_SORT_COUNT,
    BB_SORT_MEAN,
} BbSortKey;

// By the name that options have for it; false where there is none.
bool bb_sort_key_find(const char *name, BbSortKey *key);
#define BB_SORT_KEYS "total, count, mean"

#define BB_TOP_ALL 0u
#define BB_TOP_OF_FORMAT G_MAXUINT // as many as the format shows when nobody asks

// What the format leaves out when nobody asks: of convolution, pictures and text leave out what
// makes less than BB_SHARE_OF_NOISE of all paths, unless top is BB_TOP_ALL or min_count is given;
// JSON, instances and phases nothing; of nesting, nothing.
#define BB_SHARE_OF_FORMAT (-1.0)
#define BB_SHARE_OF_NOISE 0.005

typedef struct BbViewOptions {
    guint top; // patterns to show, or one of BB_TOP_*
    BbSortKey sort;
    guint64 min_count; // patterns with fewer instances (paths) are left out
    double min_share;  // so are those with a smaller share, 0 to 1, of all instances (paths), or
                       // BB_SHARE_OF_FORMAT. Changes no rank: what is left out has its own
    const BbNetwork *network; // what is known of it, for pictures; lent; NULL: nothing
    const BbChosen *chosen;   // which instances the patterns are of; lent; NULL: all
    // Told before Graphviz lays out a picture, and about how long that takes; NULL: nobody asks.
    void (*laying)(guint nodes, double seconds, gpointer user);
    gpointer user;  // of laying
    double *shrunk; // gets the share of its size that a picture was drawn at, where its format
                    // takes none so large; NULL: nobody asks
} BbViewOptions;

#define BB_VIEW_OPTIONS_DEFAULT \
    ((BbViewOptions){.top = BB_TOP_OF_FORMAT, .min_share = BB_SHARE_OF_FORMAT})

// What a format is given to write. Everything is lent.
typedef struct BbRanking BbRanking;
typedef struct BbView {
    const BbPatterns *patterns;
    const BbNames *names;
    const BbRanking *ranking; // which patterns, in which order, and what was left out
    const BbNetwork *network; // NULL: nothing is known
} BbView;

// One format: a row of the table that --help and file endings go by.
typedef struct BbViewFormat {
    const char *name;
    const char *endings[2]; // of file names, without dot; NULL where there is no second one
    const char *about;      // one line for --help
    bool binary;            // do not write it to a terminal
    guint top;              // patterns shown when nobody asks; BB_TOP_ALL of those for programs
    bool (*write)(const BbView *view, FILE *out, GError **error);
} BbViewFormat;

// All formats, the default one first. Lent.
const BbViewFormat *bb_view_formats(gsize *count);
// By name, or by the ending of a file name ("out/a.svg"). NULL if there is none. Lent.
const BbViewFormat *bb_view_format_find(const char *name);
const BbViewFormat *bb_view_format_of_file(const char *path);

// Writes the patterns that options select. Fails (G_FILE_ERROR, G_IO_ERROR) when out takes no more,
// or when Graphviz cannot draw.
bool bb_view_write(const BbViewFormat *format, const BbPatterns *patterns, const BbNames *names,
                   const BbViewOptions *options, FILE *out, GError **error);
