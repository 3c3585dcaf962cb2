// SPDX-License-Identifier: Apache-2.0
// What the observers are called whose traces do not say it: after their files.
#pragma once

#include <glib.h>
#include <stdbool.h>

// A name for each path (the list ends with NULL): its last part without the endings of traces and
// packers, with folders in front where that is not enough to tell two paths apart, and in the end
// with "#2", "#3", ... for a path that is given again. Files of one series (data/trace_files.h)
// have one name, without time and number. With by_folder it is the path's folder whose name this
// is, and files of one folder have one. The array of char* is yours.
GPtrArray *bb_observers_name(const char *const *paths, bool by_folder);
