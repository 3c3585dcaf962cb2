// SPDX-License-Identifier: Apache-2.0
// What a run costs: CPU time and memory of this process.
#pragma once

#include <glib.h>
#include <string.h>
#include <time.h>

static inline double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// A line of /proc/self/status, in KB: "VmHWM:" is the peak, "VmRSS:" what is in use.
static inline double status_kb(const char *field)
{
    g_autofree char *text = NULL;
    if (!g_file_get_contents("/proc/self/status", &text, NULL, NULL))
        return 0;
    const char *line = strstr(text, field);
    return line ? g_ascii_strtod(line + strlen(field), NULL) : 0;
}
