// SPDX-License-Identifier: Apache-2.0
// Whose outgoing connections are, where a process or a thread serves one incoming connection at a
// time and has connections of its own: known before any assignment, as a request on the incoming
// one is open from before a call goes out until it is back. Where many requests are open at once
// this finds what assignments made by guess do not show.
#pragma once

#include "nesting/site.h"

// For each child the incoming connection that its own one serves, 0 where none stands out; NULL
// where that is so of more than half of the children, or few requests are open at once. The
// caller's. Cost: bounded by a sample of the calls of each connection, 200,000 in all: nothing
// stands out where a node has more than 33,000 connections with six calls each.
BbSiteEnd *bb_owners_find(const BbSite *site);
