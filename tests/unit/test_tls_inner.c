// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/test.h"
TEST_MAIN("tls_inner", NULL)
