// SPDX-License-Identifier: Apache-2.0
// In: calls with a status. Out: whether they failed.
#include "data/failures.h"

#include "data/status.h"

void bb_failures_init(BbFailures *failures, const BbNames *names)
{
    failures->names = names;
    bb_tally_init(&failures->known);
}

void bb_failures_clear(BbFailures *failures)
{
    bb_tally_clear(&failures->known);
}

bool bb_failures_has(BbFailures *failures, const BbCall *call)
{
    if (call->status == BB_NAME_NONE)
        return false;
    guint64 *known = bb_tally_at(&failures->known, (BbTallyKey){call->proto, call->status, 0});
    if (*known == 0)
        *known = 1 + bb_status_is_error(bb_names_text(failures->names, call->proto),
                                        bb_names_text(failures->names, call->status));
    return *known == 2;
}
