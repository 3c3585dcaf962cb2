// SPDX-License-Identifier: Apache-2.0
// Diameter's command codes (RFC 6733, 3.1, and IANA's registry) and their names.
#pragma once

#include <glib.h>
#include <stdbool.h>

bool bb_diameter_command_is_known(guint32 command);
// Its name, else its number. out: BB_LABEL_MAX + 1 bytes.
gsize bb_diameter_command_format(guint32 command, char *out);
