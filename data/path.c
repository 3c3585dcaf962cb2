// SPDX-License-Identifier: Apache-2.0
// In: nothing. Out: an empty result of an inference, to be filled by its stage.
#include "data/path.h"

BbPaths *bb_paths_new(void)
{
    BbPaths *paths = g_new0(BbPaths, 1);
    paths->facts = BB_FACTS_EMPTY;
    paths->from_ns = paths->to_ns = BB_TIME_NONE;
    return paths;
}

void bb_paths_free(BbPaths *paths)
{
    if (!paths)
        return;
    g_free(paths->calls);
    g_free(paths->parent);
    g_free(paths->confidence);
    g_free(paths->level);
    g_free(paths->shape);
    g_free(paths->self_ns);
    g_free(paths->order);
    g_free(paths->instances);
    g_free(paths);
}
