// SPDX-License-Identifier: Apache-2.0
// Calling contexts: a call with the chain of calls that led to it, as small integers. A context is
// a node and an operation below another context; contexts count up in order of first use, so each
// comes after the one above it.
#pragma once

#include <glib.h>
#include <stdbool.h>

#define BB_CONTEXT_NONE G_MAXUINT32 // above the first of a chain

typedef struct BbContext {
    guint32 above; // BB_CONTEXT_NONE or a smaller context
    guint32 node, op;
    bool unanswered; // calls without return, which stand apart from those with one
} BbContext;

typedef struct BbContexts BbContexts;

BbContexts *bb_contexts_new(void);
void bb_contexts_free(BbContexts *contexts);

// The number of the context, made when new.
guint32 bb_contexts_intern(BbContexts *contexts, BbContext context);

// The same, or BB_CONTEXT_NONE where it is new.
guint32 bb_contexts_find(const BbContexts *contexts, BbContext context);

guint32 bb_contexts_count(const BbContexts *contexts);
// context < bb_contexts_count(). Lent until the next one is interned.
const BbContext *bb_contexts_at(const BbContexts *contexts, guint32 context);

// Keeps those contexts whose flag is set, and all that are above them; the others are forgotten,
// and what stays gets new numbers in the same order. Returns the new number of each old one,
// BB_CONTEXT_NONE for a forgotten one; the caller frees.
guint32 *bb_contexts_keep(BbContexts *contexts, const bool *keep);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbContexts, bb_contexts_free)
