// SPDX-License-Identifier: Apache-2.0
// The names among which labels are taken when there are too many of them (BB_CONTEXT_LABELS): one
// thread tells them, once and for all, the others ask.
#pragma once

#include "data/names.h"

typedef struct BbKept BbKept;

BbKept *bb_kept_new(void);
void bb_kept_free(BbKept *kept);

// The first count of names; their texts are lent.
void bb_kept_tell(BbKept *kept, const BbNames *names, guint32 count);
// Whether they were told. From then on bb_kept_has can be asked, by any thread.
bool bb_kept_is_told(const BbKept *kept);
bool bb_kept_has(const BbKept *kept, const char *text);
