// SPDX-License-Identifier: Apache-2.0
// A page of HTML that needs nothing beside itself: no script, no file, no network. What is said is
// plain text; it may hold names from the network.
#pragma once

#include <glib.h>
#include <stdio.h>

typedef struct BbPage BbPage;

// The head, with a title. out is lent; the caller looks at ferror.
BbPage *bb_page_new(FILE *out, const char *title);
// The foot.
void bb_page_free(BbPage *page);

void bb_page_heading(BbPage *page, const char *text);
void bb_page_sentence(BbPage *page, const char *text);
// Text whose columns and lines count.
void bb_page_table(BbPage *page, const char *text);
// A picture as Graphviz writes SVG. Tooltips stay.
void bb_page_picture(BbPage *page, const char *svg);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbPage, bb_page_free)
