// SPDX-License-Identifier: Apache-2.0
// Runs tc(8) and ip(8) of iproute2, with an argument vector and no shell between.
#pragma once

#include "capture/mirror/host.h"
#include "capture/mirror/plan.h"

// Asks the host what it has. It needs no rights. Fails where iproute2 is not there or too old.
BbMirrorHost *bb_mirror_read_host(GError **error);

// The interface over which packets to the address leave; NULL with an error where there is no
// route. Yours.
char *bb_mirror_find_route(const char *address, GError **error);

// Carries out the commands in order. At the first that fails, what was done is undone, and the
// error says which it was, why, and what to do.
bool bb_mirror_run_plan(const BbMirrorPlan *plan, GError **error);
// The same for what removes: goes on behind a failure; the error is the first one.
bool bb_mirror_run_removal(const BbMirrorPlan *plan, GError **error);
