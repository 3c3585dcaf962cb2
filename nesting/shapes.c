// SPDX-License-Identifier: Apache-2.0
// In: a root and the shapes below it. Out: the number of that shape.
#include "nesting/shapes.h"

#include "data/mix.h"

#include <stdbool.h>
#include <string.h>

#define NONE G_MAXUINT32
#define FEWEST_SLOTS 256

typedef struct {
    guint64 hash;
    gsize first; // into kids
    guint32 node, op, n_kids;
} Shape;

struct BbShapes {
    BbRoles *roles; // or NULL: each node its own
    GArray *shapes; // of Shape
    GArray *kids;   // of guint32
    guint32 *slots; // open addressing: index into shapes, NONE if free
    gsize mask;
    guint64 seed;   // of the hash: whoever wrote the trace chose the names
    guint32 before; // numbers given to shapes that were forgotten
};

static void clear_slots(BbShapes *shapes, gsize count)
{
    g_free(shapes->slots);
    shapes->mask = count - 1;
    shapes->slots = g_new(guint32, count);
    memset(shapes->slots, 0xff, count * sizeof *shapes->slots); // NONE
}

BbShapes *bb_shapes_new(void)
{
    BbShapes *shapes = g_new0(BbShapes, 1);
    shapes->shapes = g_array_new(FALSE, FALSE, sizeof(Shape));
    shapes->kids = g_array_new(FALSE, FALSE, sizeof(guint32));
    shapes->seed = bb_mix_seed();
    clear_slots(shapes, FEWEST_SLOTS);
    return shapes;
}

void bb_shapes_free(BbShapes *shapes)
{
    if (!shapes)
        return;
    g_array_unref(shapes->shapes);
    g_array_unref(shapes->kids);
    g_free(shapes->slots);
    g_free(shapes);
}

void bb_shapes_forget(BbShapes *shapes)
{
    guint32 known = shapes->shapes->len;
    if (known < BB_SHAPES_MAX || shapes->before > G_MAXUINT32 / 2) // rather grow than wrap around
        return;
    shapes->before += known;
    g_array_unref(shapes->shapes);
    g_array_unref(shapes->kids);
    shapes->shapes = g_array_new(FALSE, FALSE, sizeof(Shape));
    shapes->kids = g_array_new(FALSE, FALSE, sizeof(guint32));
    clear_slots(shapes, FEWEST_SLOTS);
}

static bool same(const BbShapes *shapes, const Shape *shape, const Shape *wanted,
                 const guint32 *kids)
{
    if (shape->hash != wanted->hash || shape->node != wanted->node || shape->op != wanted->op ||
        shape->n_kids != wanted->n_kids)
        return false;
    return shape->n_kids == 0 || memcmp(&g_array_index(shapes->kids, guint32, shape->first), kids,
                                        shape->n_kids * sizeof *kids) == 0;
}

static void grow(BbShapes *shapes)
{
    clear_slots(shapes, 2 * (shapes->mask + 1));
    for (guint32 i = 0; i < shapes->shapes->len; i++) {
        gsize at = g_array_index(shapes->shapes, Shape, i).hash & shapes->mask;
        while (shapes->slots[at] != NONE)
            at = (at + 1) & shapes->mask;
        shapes->slots[at] = i;
    }
}

void bb_shapes_use_roles(BbShapes *shapes, BbRoles *roles)
{
    shapes->roles = roles;
}

guint32 bb_shapes_intern(BbShapes *shapes, guint32 node, guint32 op, const guint32 *kids,
                         guint32 n_kids)
{
    if (shapes->roles)
        node = bb_roles_of(shapes->roles, node);
    Shape wanted = {bb_mix(bb_mix(shapes->seed, node), op), shapes->kids->len, node, op, n_kids};
    for (guint32 i = 0; i < n_kids; i++)
        wanted.hash = bb_mix(wanted.hash, kids[i]);
    gsize at = wanted.hash & shapes->mask;
    for (; shapes->slots[at] != NONE; at = (at + 1) & shapes->mask) {
        guint32 number = shapes->slots[at];
        if (same(shapes, &g_array_index(shapes->shapes, Shape, number), &wanted, kids))
            return shapes->before + number;
    }
    guint32 number = shapes->shapes->len;
    shapes->slots[at] = number;
    g_array_append_val(shapes->shapes, wanted);
    if (n_kids > 0)
        g_array_append_vals(shapes->kids, kids, n_kids);
    if (2 * (gsize)shapes->shapes->len > shapes->mask)
        grow(shapes);
    return shapes->before + number;
}
