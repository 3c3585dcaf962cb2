// SPDX-License-Identifier: Apache-2.0
// The texts of one block, each held once: connections. Inside data/ only.
#pragma once

#include <glib.h>

typedef struct BbBbtTexts BbBbtTexts;

// Room for at most that many texts.
BbBbtTexts *bb_bbt_texts_new(gsize most);
void bb_bbt_texts_free(BbBbtTexts *texts);

// Returns the place of text, from 1 in order of first use. text is copied.
guint64 bb_bbt_texts_add(BbBbtTexts *texts, const char *text, gsize size);

// All of them in order, each with a NUL behind it; lent until the next call.
const guint8 *bb_bbt_texts_bytes(const BbBbtTexts *texts, gsize *size);

void bb_bbt_texts_clear(BbBbtTexts *texts);
