// SPDX-License-Identifier: Apache-2.0
// Ids of calls in a merged trace. Captures number their calls from 1 on, each its own: those ids
// are given anew, so that every call has its own. A call that was seen several times has one id,
// whoever of its observers saw the return.
//
// An id lives from the first sighting of its call to its return. At most BB_CALL_IDS_OPEN calls are
// remembered; the oldest is forgotten, and its return gets an id of its own. Inside of merge/ only.
#pragma once

#include "data/message.h"

#define BB_CALL_IDS_OPEN 1048576u // about 140 bytes for each observer of each

typedef struct BbCallIds BbCallIds;

// A call of the merged trace, from its first sighting to its return.
typedef struct BbOpenCall BbOpenCall;

BbCallIds *bb_call_ids_new(guint open_max);
void bb_call_ids_free(BbCallIds *ids);

// Whether the id was made up by who wrote the trace, and is no ground truth.
bool bb_call_id_is_made_up(const BbMessage *message);

// A call with an id was seen in an input. The result is lent until bb_call_ids_close.
BbOpenCall *bb_call_ids_open(BbCallIds *ids, const BbMessage *call, guint input);

// Two sightings are one call: what was other becomes part of call. other is gone afterwards.
void bb_call_ids_unite(BbCallIds *ids, BbOpenCall *call, BbOpenCall *other);

// The call is written, at its times: its id.
BbId bb_call_ids_write(BbCallIds *ids, BbOpenCall *call, const BbMessage *message);
// Another sighting has changed the time of a call that is not written yet.
void bb_open_call_move(BbOpenCall *call, gint64 time_ns);
// Whether it is written, and its time.
bool bb_open_call_is_written(const BbOpenCall *call, gint64 *time_ns);
// When it arrived, on its callee's clock, once it is written; BB_TIME_NONE where nobody saw it.
gint64 bb_open_call_arrived(const BbOpenCall *call);

// The call that a return answers, as far as its id says it; NULL if there is none. A call that is
// written goes before one that is not, the older before the younger.
BbOpenCall *bb_call_ids_find(const BbCallIds *ids, const BbMessage *answer, guint input);

// Fetch into the processor's cache what bb_call_ids_open, or bb_call_ids_find, will look at. The
// latter has more to fetch a while later.
void bb_call_ids_fetch_call(const BbCallIds *ids, const BbMessage *call);
void bb_call_ids_fetch_answer(const BbCallIds *ids, const BbMessage *answer, bool again);

// Its id, for the return; it has one from now on.
BbId bb_call_ids_of(BbCallIds *ids, BbOpenCall *call);
// The return is written.
void bb_call_ids_close(BbCallIds *ids, BbOpenCall *call);

// An id for a message whose call is not known.
BbId bb_call_ids_fresh(BbCallIds *ids);

guint64 bb_call_ids_forgotten(const BbCallIds *ids);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbCallIds, bb_call_ids_free)
