// SPDX-License-Identifier: Apache-2.0
// What was asked of bbtrace capture, as one plain struct.
#pragma once

#include "capture/translation.h"
#include "cli/command.h"
#include "cli/decode_as.h"
#include "cli/disguise.h"
#include "cli/follow_options.h"
#include "cli/recorder_options.h"
#include "cli/rotation.h"

typedef struct BbCaptureArguments {
    char **files, **interfaces, **decode, **names_files;
    char *stamp_type, *out, *names_by, *node, *buffer, *held, *keylog_file, *stats, *user;
    int snaplen, max_connections, threads;
    gint64 packets, seconds;
    gboolean vlan, vni, keep_frames, no_promiscuous, names_from_dns, processes, quiet, verbose;
    gboolean unconfined, no_shed;
    bool by_service;
    char *nat_word;
    BbTranslationMode nat;
    char *filter;
    guint64 buffer_bytes, held_bytes;
    BbDecodings decodings;
    BbRotation rotation;
    BbRecorderOptions recorder;
    BbDisguiseOptions disguise;
    BbFollowChoice follow;
} BbCaptureArguments;

// Fills in what nobody asked for, and parses argv. Returns an exit status where the command is over
// (help was printed, or wrong usage was said), or -1 to go on. Clear it in any case.
int bb_capture_arguments_parse(BbCaptureArguments *arguments, int argc, char **argv);
void bb_capture_arguments_clear(BbCaptureArguments *arguments);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(BbCaptureArguments, bb_capture_arguments_clear)
