// SPDX-License-Identifier: Apache-2.0
// In: the path of a file that is written. Out: whether any folder still has that file.
#include "cli/capture_place.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct BbCapturePlace {
    int fd;
    gint64 looked_us;
    bool lost; // as said
};

BbCapturePlace *bb_capture_place_new(const char *path)
{
    struct stat status;
    int fd = open(path, O_PATH | O_CLOEXEC); // neither reads nor writes: it takes no right
    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        close(fd);
        return NULL;
    }
    BbCapturePlace *place = g_new0(BbCapturePlace, 1);
    place->fd = fd;
    place->looked_us = g_get_monotonic_time();
    return place;
}

void bb_capture_place_free(BbCapturePlace *place)
{
    if (!place)
        return;
    close(place->fd);
    g_free(place);
}

// A file that was moved within its file system still has a name.
bool bb_capture_place_is_lost(const BbCapturePlace *place)
{
    struct stat status;
    return place && fstat(place->fd, &status) == 0 && status.st_nlink == 0;
}

bool bb_capture_place_look(BbCapturePlace *place)
{
    gint64 now_us = g_get_monotonic_time();
    if (!place || place->lost || now_us - place->looked_us < G_USEC_PER_SEC)
        return false;
    place->looked_us = now_us;
    place->lost = bb_capture_place_is_lost(place);
    return place->lost;
}
