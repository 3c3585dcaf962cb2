// SPDX-License-Identifier: Apache-2.0
// In: records of one frame each (link type and interface, time forwards or back, length, how many
// bytes were cut, the bytes). Out: nothing; figures must make sense, whatever was seen.
#include "capture/cursor.h"
#include "capture/doctor.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size);

#define RECORD 6u // bytes before each frame

static const int links[] = {1, 113, 276, 0, 108, 101, 228, 229, 147, 9, 50, 51, 105, 127, 239};

// The bytes in memory of their own, so that the sanitizer sees a read past them.
static void run_frame(BbDoctor *doctor, BbFrame frame)
{
    g_autofree guint8 *copy = g_memdup2(frame.data, frame.captured);
    frame.data = copy;
    bb_doctor_frame(doctor, &frame);
}

static void check(BbDoctor *doctor, guint64 frames)
{
    const GArray *findings = bb_doctor_finish(doctor);
    BbSeverity worst = BB_FINDING_SICK;
    for (guint i = 0; i < findings->len; i++) {
        const BbDoctorFinding *finding = &g_array_index(findings, BbDoctorFinding, i);
        g_assert(finding->part <= finding->whole);
        g_assert(finding->severity <= worst);
        g_assert(finding->n_places <= BB_FINDING_PLACES);
        worst = finding->severity;
    }
    BbDoctorSummary seen = bb_doctor_summary(doctor);
    g_assert(seen.frames == frames && seen.both_ways <= seen.talks);
    g_assert(seen.tcp + seen.udp <= frames && seen.first_ns <= seen.last_ns);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    g_autoptr(BbDoctor) doctor = bb_doctor_new(false);
    BbCursor input = bb_cursor(data, size);
    guint64 frames = 0;
    gint64 now_ns = G_GINT64_CONSTANT(1000000000000);
    while (input.left >= RECORD) {
        guint8 kind = bb_cursor_u8(&input), step = bb_cursor_u8(&input);
        now_ns += ((gint64)step - 100) * (kind & 0x80 ? 1000 : 7654321);
        guint32 captured = bb_cursor_be16(&input);
        guint32 cut = bb_cursor_be16(&input);
        captured = (guint32)MIN(captured, input.left);
        run_frame(doctor, (BbFrame){.time_ns = now_ns,
                                    .data = bb_cursor_take(&input, captured),
                                    .captured = captured,
                                    .length = captured + cut,
                                    .link_type = links[(kind & 0x0f) % G_N_ELEMENTS(links)],
                                    .interface = kind >> 4 & 7});
        frames++;
    }
    check(doctor, frames);
    return 0;
}
