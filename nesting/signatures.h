// SPDX-License-Identifier: Apache-2.0
// How often a type of parent had exactly a multiset of children: what says "exactly one of the two"
// where counts of each alone cannot.
#pragma once

#include <glib.h>

typedef struct BbSignatures BbSignatures;

BbSignatures *bb_signatures_new(void);
void bb_signatures_free(BbSignatures *signatures);

void bb_signatures_reset(BbSignatures *signatures, guint n_parent_types);
void bb_signatures_count(BbSignatures *signatures, guint parent_type, guint64 signature,
                         double weight);

// Ends the count; may be done again. trust: that many imagined parents of each type, at least, are
// spread as single counts say; more where many parents have what no other one has, as the next one
// then will, too (Good and Turing's estimate); 0: single counts alone. A value below 0 stands for
// that share of the parents counted, and 1.
void bb_signatures_trust(BbSignatures *signatures, double trust);

// log P(signature), with `apart` the log probability by single counts. Before any count: apart.
// Leaves out so many of the parents counted, `same` of them with that signature; where many have it
// that plays no part.
double bb_signatures_log(const BbSignatures *signatures, guint parent_type, guint64 signature,
                         double apart, double left_out, double same);

// A multiset's number: a sum, so that it does not depend on the order. The first multiplication
// keeps the numbers of small x apart from sums of others.
static inline guint64 bb_signature_mix(guint64 x)
{
    x *= G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * G_GUINT64_CONSTANT(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * G_GUINT64_CONSTANT(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static inline guint64 bb_signature_start(guint parent_type)
{
    return bb_signature_mix(((guint64)parent_type + 1) << 32);
}

static inline guint64 bb_signature_with(guint64 signature, guint child_type)
{
    return signature + bb_signature_mix((guint64)child_type + 1);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbSignatures, bb_signatures_free)
