// SPDX-License-Identifier: Apache-2.0
// Whether two samples of times are of one distribution (Kolmogorov and Smirnov).
#pragma once

#include <glib.h>
#include <stdbool.h>

// Both of gint64, in ascending order: whether the largest difference of the shares below a value is
// at most `most` beyond what chance explains in all but one of a thousand pairs. Two empty samples
// are alike, an empty one is like no other.
bool bb_kolmogorov_alike(const GArray *u, const GArray *v, double most);
