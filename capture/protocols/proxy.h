// SPDX-License-Identifier: Apache-2.0
// What a proxy says first on a connection it makes for another (the PROXY protocol of haproxy,
// versions 1 and 2): for whom. It is a head in front of any protocol, and no message.
#pragma once

#include "capture/decoder.h"

#define BB_PROXY_DECIDED 107u // bytes after which there is no MORE

// REQUEST: data begin with a head, of *size bytes in all, which need not be there yet. NO, or MORE.
BbMatch bb_proxy_match(const guint8 *data, gsize length, guint32 *size);
