// SPDX-License-Identifier: Apache-2.0
// In: two sorted samples. Out: whether they are alike.
#include "nesting/kolmogorov.h"

#include <math.h>

static double distance(const GArray *u, const GArray *v)
{
    double largest = 0;
    for (guint i = 0, j = 0; i < u->len && j < v->len;) {
        gint64 value = MIN(g_array_index(u, gint64, i), g_array_index(v, gint64, j));
        while (i < u->len && g_array_index(u, gint64, i) == value)
            i++;
        while (j < v->len && g_array_index(v, gint64, j) == value)
            j++;
        largest = fmax(largest, fabs((double)i / u->len - (double)j / v->len));
    }
    return largest;
}

bool bb_kolmogorov_alike(const GArray *u, const GArray *v, double most)
{
    if (u->len == 0 || v->len == 0)
        return u->len == v->len;
    double a = u->len, b = v->len;
    return distance(u, v) <= most + 1.95 * sqrt((a + b) / (a * b));
}
