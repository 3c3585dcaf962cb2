// SPDX-License-Identifier: Apache-2.0
// In: any bytes as JSON of this form. See fuzz_spans.h.
#define FORM "jaeger"
#include "tests/fuzz/fuzz_spans.h"
