// SPDX-License-Identifier: Apache-2.0
// In: nothing. Out: an empty result of an inference, to be filled by its stage.
#include "data/path.h"

BbPaths *bb_paths_new(void)
{
    BbPaths *paths = g_new0(BbPaths, 1);
    paths->algorithm = "";
    paths->patterns = g_ptr_array_new_with_free_func((GDestroyNotify)bb_pattern_free);
    paths->start_ns = BB_TIME_NONE;
    paths->end_ns = BB_TIME_NONE;
    return paths;
}

void bb_paths_free(BbPaths *paths)
{
    if (!paths)
        return;
    g_free(paths->calls);
    g_free(paths->parent);
    g_free(paths->confidence);
    g_free(paths->order);
    g_free(paths->instances);
    g_ptr_array_unref(paths->patterns);
    g_free(paths);
}
