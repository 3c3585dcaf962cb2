// SPDX-License-Identifier: Apache-2.0
// The mark of what is ours: the cookie of a filter's action (tc-actions(8): up to 16 bytes, written
// in hexadecimal, which the kernel keeps and does not look at).
#pragma once

#define BB_MARK_WORD "626274726163652d6d6972726f72" // "bbtrace-mirror"
#define BB_MARK BB_MARK_WORD "2d"                   // "-": the qdisc is somebody else's
#define BB_MARK_WITH_QDISC BB_MARK_WORD "71"        // "q": the qdisc is ours, too
