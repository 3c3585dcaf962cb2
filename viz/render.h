// SPDX-License-Identifier: Apache-2.0
// The drawn graph of viz/dot.h, laid out and rendered by Graphviz (formats of BbViewFormat).
#pragma once

#include "viz/view.h"

bool bb_render_svg(const BbView *view, FILE *out, GError **error);
bool bb_render_png(const BbView *view, FILE *out, GError **error);
bool bb_render_pdf(const BbView *view, FILE *out, GError **error);
