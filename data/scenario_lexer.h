// SPDX-License-Identifier: Apache-2.0
// The words of a scenario, with what was set put in for $names. Inside data/ only.
#pragma once

#include "data/scenario.h"

typedef enum {
    BB_TOKEN_NAME,   // text
    BB_TOKEN_STRING, // text, without its quotes
    BB_TOKEN_NUMBER, // value and text: its unit, as "ms", "%", "/s", ""
    BB_TOKEN_MARK,   // text: one of { } : = ~ + , ; .. -> ~>
    BB_TOKEN_END,
} BbTokenKind;

typedef struct BbToken {
    BbTokenKind kind;
    guint line;
    double value;
    const char *text; // lent by the tokens
} BbToken;

typedef struct BbTokens {
    GArray *list;        // of BbToken; the last one is the end
    GStringChunk *chunk; // texts
} BbTokens;

BbTokens *bb_tokens_new(const char *text, gsize size, const char *file, const char *const *settings,
                        GError **error);
void bb_tokens_free(BbTokens *tokens);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbTokens, bb_tokens_free)
