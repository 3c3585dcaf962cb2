// SPDX-License-Identifier: Apache-2.0
// In: address bytes or text. Out: one form for both families, and its canonical text.
#include "data/address.h"

#include <arpa/inet.h>

static const guint8 mapped[12] = {[10] = 0xff, [11] = 0xff};

BbAddress bb_address_v4(const guint8 bytes[4])
{
    BbAddress address;
    memcpy(address.bytes, mapped, sizeof mapped);
    memcpy(address.bytes + sizeof mapped, bytes, 4);
    return address;
}

BbAddress bb_address_v6(const guint8 bytes[16])
{
    BbAddress address;
    memcpy(address.bytes, bytes, sizeof address.bytes);
    return address;
}

bool bb_address_is_v4(const BbAddress *address)
{
    return memcmp(address->bytes, mapped, sizeof mapped) == 0;
}

gsize bb_address_format(const BbAddress *address, char *out)
{
    if (bb_address_is_v4(address))
        inet_ntop(AF_INET, address->bytes + sizeof mapped, out, BB_ADDRESS_TEXT);
    else
        inet_ntop(AF_INET6, address->bytes, out, BB_ADDRESS_TEXT);
    return strlen(out);
}

gsize bb_address_format_port(const BbAddress *address, guint16 port, char *out)
{
    char host[BB_ADDRESS_TEXT];
    bb_address_format(address, host);
    const char *form = bb_address_is_v4(address) ? "%s:%u" : "[%s]:%u";
    return (gsize)g_snprintf(out, BB_ADDRESS_TEXT, form, host, port);
}

bool bb_address_parse(const char *text, BbAddress *address)
{
    guint8 bytes[16];
    if (inet_pton(AF_INET, text, bytes) == 1)
        *address = bb_address_v4(bytes);
    else if (inet_pton(AF_INET6, text, bytes) == 1)
        *address = bb_address_v6(bytes);
    else
        return false;
    return true;
}

char *bb_address_split_port(char *text, char **address)
{
    *address = text;
    if (text[0] == '[') {
        char *bracket = strchr(text, ']');
        if (!bracket || (bracket[1] != ':' && bracket[1] != '\0'))
            return NULL;
        *address = text + 1;
        *bracket = '\0';
        return bracket[1] == ':' ? bracket + 2 : NULL;
    }
    char *colon = strchr(text, ':');
    if (!colon || strchr(colon + 1, ':'))
        return NULL; // none, or an IPv6 address
    *colon = '\0';
    return colon + 1;
}

void bb_address_mask(BbAddress *address, guint prefix)
{
    for (guint i = 0; i < sizeof address->bytes; i++) {
        guint kept = prefix > i * 8 ? MIN(prefix - i * 8, 8) : 0;
        address->bytes[i] &= (guint8)(0xff00u >> kept);
    }
}
