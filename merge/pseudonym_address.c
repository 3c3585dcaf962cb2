// SPDX-License-Identifier: Apache-2.0
// In: an address, a key. Out: another address with the prefixes that others of the key share.
#include "merge/pseudonym_address.h"

#include <arpa/inet.h>
#include <string.h>

#define BYTES_MAX 16u

// The bit for what follows the first n bits of an address, which are those of family.
static guint8 bit_behind(GHmac *keyed, guint8 family, const guint8 *address, guint n)
{
    guint8 asked[2 + BYTES_MAX] = {family, (guint8)n};
    guint8 digest[32];
    gsize size = sizeof digest;
    memcpy(asked + 2, address, n / 8);
    if (n % 8)
        asked[2 + n / 8] = (guint8)(address[n / 8] & (guint8)(0xff00u >> (n % 8)));
    GHmac *hmac = g_hmac_copy(keyed);
    g_hmac_update(hmac, asked, (gssize)(2 + (n + 7) / 8));
    g_hmac_get_digest(hmac, digest, &size);
    g_hmac_unref(hmac);
    return digest[0] >> 7;
}

static bool read_address(const char *text, gsize length, int *family, guint8 *address)
{
    char copy[INET6_ADDRSTRLEN];
    if (length == 0 || length >= sizeof copy || memchr(text, '\0', length))
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    *family = strchr(copy, ':') ? AF_INET6 : AF_INET;
    return inet_pton(*family, copy, address) == 1;
}

bool bb_pseudonym_address_append(GHmac *keyed, const char *text, gsize length, GString *out)
{
    guint8 address[BYTES_MAX] = {0}, turned[BYTES_MAX] = {0};
    char form[INET6_ADDRSTRLEN];
    int family = AF_INET;
    if (!read_address(text, length, &family, address))
        return false;
    guint bits = family == AF_INET ? 32 : 128;
    for (guint n = 0; n < bits; n++) {
        guint8 bit = (address[n / 8] >> (7 - n % 8)) & 1;
        bit ^= bit_behind(keyed, family == AF_INET ? 4 : 6, address, n);
        turned[n / 8] |= (guint8)(bit << (7 - n % 8));
    }
    if (!inet_ntop(family, turned, form, sizeof form))
        return false;
    g_string_append(out, form);
    return true;
}
