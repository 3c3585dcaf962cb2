// SPDX-License-Identifier: Apache-2.0
// Whether copies would come back to where they are made, and so be copied without end.
#pragma once

#include "capture/mirror/host.h"

// Follows a frame that is sent out at the interface first: over veth pairs, bridges, bonds, what
// lies on what, and all mirrors and redirections that there are. Returns how it comes to where
// mirror copies ("c -> d -> a"), yours; NULL where it does not. What leaves the host is not
// followed.
char *bb_mirror_find_loop(const BbMirror *mirror, const BbMirrorHost *host, const char *first);
