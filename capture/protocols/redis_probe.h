// SPDX-License-Identifier: Apache-2.0
// How a connection to Redis is known by its first bytes.
#pragma once

#include "capture/decoder.h"

// Answers as BbDecoder.probe does. Commands as arrays are certain; inline ones and most replies
// look like those of other text protocols (SMTP, POP3, memcached) and are MAYBE.
BbMatch bb_redis_probe(const guint8 *data, gsize length);
