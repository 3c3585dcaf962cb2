// SPDX-License-Identifier: Apache-2.0
// Pseudonyms of addresses that keep prefixes: two addresses whose first n bits are the same become
// two whose first n bits are the same, and no more than these. Bit n of an address is turned by one
// bit of HMAC-SHA-256 of the n bits before it (the construction of Xu, Fan, Ammar and Moon, ICNP
// 2002, with another keyed function). Different addresses stay different.
//
// Who knows some addresses and their pseudonyms knows the prefixes of others, too: that is the
// price. One digest a bit: 32 an IPv4 address, 128 an IPv6 one.
#pragma once

#include <glib.h>
#include <stdbool.h>

// Appends the pseudonym of the IPv4 or IPv6 address that text is, in its usual form (RFC 5952).
// keyed is an HMAC under the key, fed with what tells addresses from other names; it is copied.
// Returns false, and appends nothing, where text is no address.
bool bb_pseudonym_address_append(GHmac *keyed, const char *text, gsize length, GString *out);
