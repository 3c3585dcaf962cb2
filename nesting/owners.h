// SPDX-License-Identifier: Apache-2.0
// Whose outgoing connections are, where a process or a thread serves one incoming connection at a
// time and has connections of its own: known before any assignment, as a request on the incoming
// one must be open whenever a call goes out. Where many requests are open at once this finds what
// assignments made by guess do not show.
#pragma once

#include "nesting/site.h"

// For each child the incoming connection that its own one serves, 0 where none stands out; NULL
// where that is so of half of the children or more, or few requests are open at once. The caller's.
// Cost: bounded by a sample of the calls of each connection.
BbSiteEnd *bb_owners_find(const BbSite *site);
