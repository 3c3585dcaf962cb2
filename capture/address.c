// SPDX-License-Identifier: Apache-2.0
// In: address bytes or text. Out: one form for both families, and its canonical text.
#include "capture/address.h"

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
