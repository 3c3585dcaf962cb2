// SPDX-License-Identifier: Apache-2.0
// The doctor of mirrors: frames that are cut, damaged or rewritten, and checksums that tell of it.
#include "tests/unit/doctor_scene.h"

// ---- cut frames ---------------------------------------------------------------------------------

START_TEST(snap_length)
{
    static const struct {
        guint cut, others;
        const char *found;
    } cases[] = {
        {200, 999, "warning snaplen 1/1000"},
        {199, 999, "sick snaplen 1/1000"},
        {199, 1000, ""},
        {954, 0, ""}, // just the whole frame
        {953, 0, "warning snaplen 1/1"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        Scene scene = scene_begin();
        scene_pad(&scene, cases[i].others);
        scene.cut = cases[i].cut;
        scene_tcp(&scene, SERVER, ACK, 900);
        scene_end(&scene, cases[i].found);
    }
}
END_TEST

START_TEST(mirrors_that_truncate)
{
    for (guint count = 2; count <= 3; count++) {
        Scene scene = scene_begin();
        scene_pad(&scene, 100);
        scene.truncate = 128;
        for (guint i = 0; i < count; i++)
            scene_tcp(&scene, i % 2, ACK, 900);
        scene_end(&scene, count == 2 ? "" : "warning truncated 3/103");
    }
}
END_TEST

// ---- checksums ----------------------------------------------------------------------------------

START_TEST(damage)
{
    static const struct {
        guint wrong, right;
        const char *found;
    } cases[] = {
        {2, 40, ""},
        {3, 2997, "warning damaged 3/3000"},
        {3, 2999, ""},
        {3, 57, "sick damaged 3/60"},
        {3, 59, "warning damaged 3/62"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        Scene scene = scene_begin();
        scene_pad(&scene, cases[i].right);
        scene.checksum = SUM_WRONG;
        scene_pad(&scene, cases[i].wrong);
        scene_end(&scene, cases[i].found);
    }
}
END_TEST

START_TEST(a_damaged_ip_header)
{
    Scene scene = scene_begin();
    scene_pad(&scene, 50);
    for (guint i = 0; i < 3; i++) {
        Frame *frame = frame_payload(20);
        FRAME_PUT(frame, FRAME_16(20000), FRAME_16(9999), FRAME_16(28), 0, 0);
        scene_fill_sum(frame, 6, 17, SUM_RIGHT, CLIENT);
        scene_ipv4(&scene, frame, CLIENT, 17, 0);
        frame->data[8]--; // time to live
        scene_send(&scene, frame, CLIENT);
    }
    scene_end(&scene, "sick damaged 3/53");
}
END_TEST

START_TEST(offload_is_only_noted)
{
    for (guint how = SUM_ZERO; how <= SUM_PSEUDO; how++) {
        Scene scene = scene_begin();
        scene.checksum = how;
        scene_connections(&scene, 10);
        g_autofree char *found = scene_findings(&scene);
        ck_assert_str_eq(found, "note checksum_offload 80/80");
        ck_assert_int_eq(bb_doctor_verdict(scene.doctor), BB_VERDICT_HEALTHY);
        bb_doctor_free(scene.doctor);
    }
}
END_TEST

// UDP need not have any (RFC 768).
START_TEST(datagrams_without_checksum_are_fine)
{
    Scene scene = scene_begin();
    scene.checksum = SUM_ZERO;
    scene_pad(&scene, 50);
    scene_end(&scene, "");
}
END_TEST

START_TEST(what_is_short_is_judged_like_the_others)
{
    static const guint how[] = {SUM_RIGHT, SUM_WRONG};
    static const char *const found[] = {"warning damaged 3/83", "warning rewritten 83/83"};
    for (gsize i = 0; i < G_N_ELEMENTS(how); i++) {
        Scene scene = scene_begin();
        scene.checksum = how[i];
        scene_pad(&scene, 80);
        scene.checksum = SUM_WRONG;
        for (guint n = 0; n < 3; n++, scene.port++)
            scene_udp(&scene, CLIENT, 9998, 10);
        scene_end(&scene, found[i]);
    }
}
END_TEST

START_TEST(senders_that_are_never_right_are_rewritten)
{
    Scene scene = scene_begin();
    scene.checksum = SUM_WRONG;
    scene_connections(&scene, 10);
    scene_end(&scene, "warning rewritten 80/80");
}
END_TEST

TEST_MAIN("doctor_damage", snap_length, mirrors_that_truncate, damage, a_damaged_ip_header,
          offload_is_only_noted, datagrams_without_checksum_are_fine,
          what_is_short_is_judged_like_the_others, senders_that_are_never_right_are_rewritten)
