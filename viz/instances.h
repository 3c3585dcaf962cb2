// SPDX-License-Identifier: Apache-2.0
// Path instances, in one of several forms (bbpaths(1), --instances). The rank of a pattern is known
// when all windows have been counted, so instances are put aside until then: 50 to 106 bytes a
// call, in memory at first, then in a temporary file.
#pragma once

#include "data/path.h"
#include "viz/instance_form.h"
#include "viz/view.h"

typedef struct BbInstances BbInstances;

// names is lent. last_byte: a call lasts until the last byte of its return.
BbInstances *bb_instances_new(const BbInstanceForm *form, const BbNames *names, bool last_byte);
void bb_instances_free(BbInstances *instances);

// Takes the instances of a window, once the census has counted them. Fails (G_FILE_ERROR) when
// there is no room for a temporary file.
bool bb_instances_add(BbInstances *instances, const BbPaths *paths, GError **error);

// Writes the instances of the selected patterns in the order in which they came; "pattern" is the
// rank that bb_view_write gives with the same options. BB_TOP_OF_FORMAT is all, BB_SHARE_OF_FORMAT
// too. Instances without pattern (the root never returned, unless by convolution, or the pattern
// was forgotten) have "pattern": null, and are left out as soon as options choose. Memory:
// viz/unique_ids.h. After it, only free.
bool bb_instances_write(BbInstances *instances, const BbPatterns *patterns,
                        const BbViewOptions *options, FILE *out, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbInstances, bb_instances_free)
