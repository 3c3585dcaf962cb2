// SPDX-License-Identifier: Apache-2.0
// The doctor of mirrors: stamps that go back, come late, are coarse or come in batches.
#include "tests/unit/doctor_scene.h"

#define MS G_GINT64_CONSTANT(1000000)

// 64 frames in a row that are late are a clock that was set back, fewer are disorder.
START_TEST(clock_set_back)
{
    for (guint late = 63; late <= 64; late++) {
        Scene scene = scene_begin();
        scene_pad(&scene, 100);
        gint64 then_ns = scene.now_ns;
        scene.now_ns -= 1000 * MS;
        scene_pad(&scene, late);
        scene.now_ns = then_ns;
        scene_pad(&scene, 100);
        scene_end(&scene, late == 63 ? "warning late_frames 63/263" : "sick clock_back 1/264");
    }
}
END_TEST

START_TEST(files_out_of_order)
{
    Scene scene = scene_begin();
    scene_connections(&scene, 20);
    scene.now_ns -= 3600 * 1000 * MS;
    scene_connections(&scene, 20);
    const GArray *findings = bb_doctor_finish(scene.doctor);
    ck_assert_uint_eq(findings->len, 1);
    ck_assert_str_eq(g_array_index(findings, BbDoctorFinding, 0).name, "clock_back");
    ck_assert_str_eq(g_array_index(findings, BbDoctorFinding, 0).detail, "by up to 3,600 s");
    bb_doctor_free(scene.doctor);
}
END_TEST

START_TEST(late_frames)
{
    static const struct {
        guint late, others;
        gint64 by_ns;
        const char *found;
    } cases[] = {
        {3, 2997, 100001, "warning late_frames 3/3000"},
        {3, 2998, 100001, ""},
        {2, 100, 100001, ""},
        {3, 100, 100000, ""},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        Scene scene = scene_begin();
        for (guint n = 0; n < cases[i].others; n++) {
            scene_pad(&scene, 1);
            if (n < 2 * cases[i].late && n % 2) {
                gint64 then_ns = scene.now_ns;
                scene.now_ns = then_ns - scene.step_ns - cases[i].by_ns;
                scene_pad(&scene, 1);
                scene.now_ns = then_ns;
            }
        }
        scene_end(&scene, cases[i].found);
    }
}
END_TEST

// Two interfaces, each in order; the second one comes after the first one's frames.
START_TEST(interfaces_in_disorder)
{
    static const struct {
        gint64 by_ns;
        const char *found;
    } cases[] = {{MS, ""}, {MS + 1, "warning interface_disorder 100/200"}};
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        Scene scene = scene_begin();
        for (guint n = 0; n < 100; n++) {
            scene.interface = 0;
            scene_pad(&scene, 1);
            gint64 then_ns = scene.now_ns;
            scene.now_ns -= scene.step_ns + cases[i].by_ns;
            scene.interface = 1;
            scene_pad(&scene, 1);
            scene.now_ns = then_ns;
        }
        scene_end(&scene, cases[i].found);
    }
}
END_TEST

// What the server says comes by another interface, whose clock is so far behind that each reply
// seems to come before its request.
START_TEST(interfaces_whose_clocks_disagree)
{
    static const struct {
        gint64 by_ns;
        guint32 interface; // of the server
        guint exchanges, others;
        const char *found;
    } cases[] = {
        {MS, 1, 100, 0, ""},
        {MS + 1, 1, 100, 0, "warning interface_clocks 100/201"},
        {MS + 1, 0, 100, 0, ""},
        {MS + 1, 1, 3, 146, "warning interface_clocks 3/299"},
        {MS + 1, 1, 3, 147, ""},
        {MS + 1, 1, 2, 0, ""},
        {1000 * MS, 1, 100, 0, "warning interface_clocks 100/201"},
        {1000 * MS + 1, 1, 100, 0, ""},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        Scene scene = scene_begin();
        scene_open(&scene);
        scene_tcp(&scene, SERVER, ACK, 10);
        for (guint n = 0; n < cases[i].exchanges; n++) {
            scene.interface = cases[i].interface;
            scene.next[CLIENT] += 100;
            scene_tcp(&scene, SERVER, ACK, 900);
            scene.now_ns += cases[i].by_ns - scene.step_ns;
            scene.interface = 0;
            scene.next[CLIENT] -= 100;
            scene.next[SERVER] -= 900;
            scene_tcp(&scene, CLIENT, ACK, 100);
            scene.next[SERVER] += 900;
        }
        for (guint n = 0; n < cases[i].others; n++)
            scene_ask(&scene);
        scene_end(&scene, cases[i].found);
    }
}
END_TEST

START_TEST(coarse_stamps)
{
    static const struct {
        gint64 step_ns; // of the clock
        const char *found;
    } cases[] = {
        {1000, ""},
        {10000, ""},
        {100000, "warning coarse_stamps 1/199"},
        {MS, "warning coarse_stamps 172/199"},
        {10 * MS, "sick coarse_stamps 197/199"},
        {15 * MS + 625000, "sick coarse_stamps 198/199"}, // ticks: no multiple of 10^n
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        Scene scene = scene_begin();
        gint64 now_ns = scene.now_ns;
        for (guint n = 0; n < 200; n++, now_ns += SCENE_STEP_NS) {
            scene.now_ns = now_ns - now_ns % cases[i].step_ns;
            scene_pad(&scene, 1);
        }
        g_autofree char *found = scene_findings(&scene);
        // How many are equal is not worked out here; that there are some is.
        char *figure = found[0] ? strrchr(found, ' ') : found;
        const char *expected = cases[i].found, *end = strrchr(expected, ' ');
        ck_assert_uint_eq(figure - found, end ? (gsize)(end - expected) : 0);
        ck_assert(strncmp(found, expected, (gsize)(figure - found)) == 0);
        bb_doctor_free(scene.doctor);
    }
}
END_TEST

START_TEST(stamps_in_batches)
{
    for (guint batch = 1; batch <= 4; batch++) {
        Scene scene = scene_begin();
        scene.step_ns = 0;
        for (guint n = 0; n < 240; n++) {
            if (n % batch == 0)
                scene.now_ns += batch * 20077;
            scene_pad(&scene, 1);
        }
        static const char *const found[] = {"", "warning batched_stamps 120/239",
                                            "warning batched_stamps 160/239",
                                            "warning batched_stamps 180/239"};
        scene_end(&scene, found[batch - 1]);
    }
    Scene scene = scene_begin(); // at that rate many are equal by themselves
    for (guint n = 0; n < 400; n++) {
        scene.step_ns = n % 4 ? 0 : 1000;
        scene_pad(&scene, 1);
    }
    scene_end(&scene, "");
}
END_TEST

TEST_MAIN("doctor_clock", clock_set_back, files_out_of_order, late_frames, interfaces_in_disorder,
          interfaces_whose_clocks_disagree, coarse_stamps, stamps_in_batches)
