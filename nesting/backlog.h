// SPDX-License-Identifier: Apache-2.0
// Sightings of calls and returns, kept until all are there: in any order, some of them seen twice.
#pragma once

#include "nesting/matcher.h"

typedef struct BbBacklog BbBacklog;

BbBacklog *bb_backlog_new(void);
void bb_backlog_free(BbBacklog *backlog);

// Takes one more, at most 2^32 - 2. Memory: 56 bytes each.
void bb_backlog_push(BbBacklog *backlog, const BbSighting *sighting);

// Whether one was at_receiver, so that messages may come twice.
bool bb_backlog_is_two_sided(const BbBacklog *backlog);

// Feeds them all, in order of time, ties as they were pushed but calls before returns. After it,
// only free.
void bb_backlog_feed(BbBacklog *backlog, BbMatcher *matcher);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbBacklog, bb_backlog_free)
