// SPDX-License-Identifier: Apache-2.0
// Connections that were joined on both sides of a NAT: when they are parted and forgotten, and how
// many there may be.
#include "tests/unit/translation_scene.h"

START_TEST(ports_are_used_again)
{
    Scene scene;
    begin(&scene, BB_TRANSLATION_JOIN);
    talk(&scene, both, 2, MS);
    scene.isn[CLIENT] += 1000000;
    scene.isn[SERVER] += 2000000;
    talk(&scene, both, 2, MS);
    ck_assert_uint_eq(COUNT(&scene, BB_NAT_JOINED), 2);
    ck_assert_uint_eq(bb_translations_joined(bb_capture_translations(scene.capture)), 1);
    // Each of the legs is another connection now.
    scene.isn[CLIENT] += 1000000;
    scene.isn[SERVER] += 2000000;
    talk(&scene, &both[0], 1, MS);
    ck_assert_uint_eq(bb_translations_joined(bb_capture_translations(scene.capture)), 0);
    end(&scene, ONE ONE "call 10.0.0.1>192.0.2.9; ret 192.0.2.9>10.0.0.1; ");
}
END_TEST

START_TEST(open_ones_stay_two)
{
    Scene scene;
    begin(&scene, BB_TRANSLATION_JOIN);
    call(&scene, both, 2, MS, 0);
    end(&scene, TWO);
}
END_TEST

// The capture loses sight of the last leg: no call is lost for good.
START_TEST(a_leg_that_is_gone_parts_them)
{
    Scene scene;
    begin(&scene, BB_TRANSLATION_JOIN);
    shake(&scene, both, 2, MS);
    call(&scene, both, 2, MS, 0);
    for (guint turn = 1; turn < 40; turn++) {
        call(&scene, &both[0], 1, MS, turn);
        scene.now_ns += 50 * MS;
    }
    ck_assert_uint_eq(COUNT(&scene, BB_NAT_PARTED), 1);
    ck_assert_uint_eq(bb_translations_joined(bb_capture_translations(scene.capture)), 0);
    ck_assert(bb_capture_finish(scene.capture, NULL));
    ck_assert_ptr_nonnull(strstr(scene.told->str, "ret 10.1.0.4>10.0.0.1; "));
    ck_assert(g_str_has_suffix(scene.told->str, "ret 192.0.2.9>10.0.0.1; "));
    // One joined, 20 after a second in which 19 were not told.
    ck_assert_uint_eq(COUNT(&scene, BB_CALLS), 21);
    clear(&scene);
}
END_TEST

static Leg numbered(const Leg *leg, guint number, char client[16])
{
    Leg made = *leg;
    g_snprintf(client, 16, "10.%u.%u.%u", 16 + number / 65536, number / 256 % 256, number % 256);
    made.end[0].address = client;
    return made;
}

START_TEST(tables_have_limits)
{
    Scene scene;
    char client[16];
    begin(&scene, BB_TRANSLATION_JOIN);
    for (guint i = 0; i < BB_TRANSLATION_CONNECTIONS + 10; i++) {
        scene.isn[CLIENT] = 1000000 + i;
        Leg legs[] = {numbered(&dnat[0], i, client), numbered(&dnat[1], i, client)};
        pass(&scene, legs, 2, 0, CLIENT, SYN, 0, 0, "");
        pass(&scene, legs, 2, 0, SERVER, SYN | ACK, 0, 1, "");
    }
    ck_assert_uint_eq(bb_translations_joined(bb_capture_translations(scene.capture)),
                      BB_TRANSLATION_CONNECTIONS);
    ck_assert_uint_eq(COUNT(&scene, BB_NAT_LIMIT), 10);
    for (guint i = 0; i < BB_TRANSLATION_SYNS + 10; i++) { // within the window
        scene.isn[CLIENT] = 100000000 + i;
        const Leg leg = numbered(&dnat[0], i, client);
        put(&scene, &leg, CLIENT, SYN, 0, 0, "");
    }
    ck_assert_uint_eq(COUNT(&scene, BB_NAT_LIMIT), 10 + 10);
    end(&scene, "");
}
END_TEST

// What has ended makes room by itself.
START_TEST(what_has_ended_is_forgotten)
{
    Scene scene;
    begin(&scene, BB_TRANSLATION_JOIN);
    talk(&scene, both, 2, MS);
    scene.now_ns += BB_TRANSLATION_ENDED_NS;
    scene.isn[CLIENT]++;
    shake(&scene, dnat, 2, MS);
    ck_assert_uint_eq(bb_translations_joined(bb_capture_translations(scene.capture)), 1);
    pass(&scene, dnat, 2, MS, SERVER, RST, 1, 1, "");
    scene.now_ns += BB_TRANSLATION_ENDED_NS;
    scene.isn[CLIENT]++;
    shake(&scene, both, 2, MS);
    ck_assert_uint_eq(bb_translations_joined(bb_capture_translations(scene.capture)), 1);
    ck_assert_uint_eq(COUNT(&scene, BB_NAT_LIMIT), 0);
    clear(&scene);
}
END_TEST

// A connection that says nothing for long, as of a pool: what ended after it goes before it.
START_TEST(silent_ones_outlive_ended_ones)
{
    Scene scene;
    char client[16];
    begin(&scene, BB_TRANSLATION_JOIN);
    const BbTranslations *found = bb_capture_translations(scene.capture);
    shake(&scene, dnat, 2, 0);
    const gint64 rest_ns[] = {BB_TRANSLATION_ENDED_NS, 0};
    for (guint turn = 0; turn < G_N_ELEMENTS(rest_ns); turn++) {
        guint count = turn ? BB_TRANSLATION_CONNECTIONS + 10 : 10;
        scene.isn[CLIENT] = 1000000 * (turn + 1);
        for (guint i = 1; i <= count; i++) {
            scene.isn[CLIENT]++;
            Leg legs[] = {numbered(&dnat[0], i, client), numbered(&dnat[1], i, client)};
            scene.now_ns -= 3 * MS; // all within a second
            pass(&scene, legs, 2, 0, CLIENT, SYN, 0, 0, "");
            pass(&scene, legs, 2, 0, SERVER, SYN | ACK, 0, 1, "");
            pass(&scene, legs, 2, 0, CLIENT, RST, 1, 1, "");
            scene.now_ns += 1000;
        }
        scene.now_ns += rest_ns[turn];
        ck_assert_uint_eq(bb_translations_joined(found),
                          MIN(count + 1, BB_TRANSLATION_CONNECTIONS));
        if (turn)
            break;
        scene.isn[CLIENT]++;
        const Leg legs[] = {numbered(&dnat[0], 0, client), numbered(&dnat[1], 0, client)};
        shake(&scene, legs, 2, 0);
        pass(&scene, legs, 2, 0, CLIENT, RST, 1, 1, "");
        ck_assert_uint_eq(bb_translations_joined(found), 2); // all others have ended
    }
    ck_assert_uint_eq(COUNT(&scene, BB_NAT_LIMIT), 0);
    scene.isn[CLIENT] = 0x12345678;
    guint64 left_out = COUNT(&scene, BB_NAT_PACKETS);
    call(&scene, dnat, 2, 0, 0);
    ck_assert_uint_eq(COUNT(&scene, BB_NAT_PACKETS), left_out + 2); // it is one still
    end(&scene, ONE);
}
END_TEST

static void put_syns(Scene *scene, guint32 first, guint count)
{
    char client[16];
    for (guint i = 0; i < count; i++) {
        scene->isn[CLIENT] = first + i;
        const Leg leg = numbered(&dnat[0], i, client);
        put(scene, &leg, CLIENT, SYN, 0, 0, "");
    }
}

// A scan where no NAT is loses nothing.
START_TEST(limits_count_what_was_to_be_expected)
{
    Scene scene;
    begin(&scene, BB_TRANSLATION_JOIN);
    put_syns(&scene, 1000000, 2 * BB_TRANSLATION_SYNS);
    ck_assert_uint_eq(COUNT(&scene, BB_NAT_LIMIT), 0);
    pass(&scene, three, 3, 0, CLIENT, SYN, 1000000, 0, ""); // two legs are known
    put_syns(&scene, 100000000, BB_TRANSLATION_SYNS + 10);
    ck_assert_uint_eq(COUNT(&scene, BB_NAT_LIMIT), 1);
    scene.isn[CLIENT] = 0x12345678;
    shake(&scene, both, 2, MS);
    put_syns(&scene, 200000000, BB_TRANSLATION_SYNS + 1 + 10); // from here on they count
    ck_assert_uint_gt(COUNT(&scene, BB_NAT_LIMIT), 10);
    end(&scene, "");
}
END_TEST

START_TEST(stray_syns_part_nothing)
{
    Scene scene;
    begin(&scene, BB_TRANSLATION_JOIN);
    const BbTranslations *found = bb_capture_translations(scene.capture);
    shake(&scene, both, 2, MS);
    call(&scene, both, 2, MS, 0);
    scene.isn[CLIENT] += 1000000;
    put(&scene, &both[0], CLIENT, SYN, 0, 0, "");
    scene.isn[CLIENT] -= 1000000;
    put(&scene, &both[1], SERVER, SYN | ACK, 0, 1, ""); // of the old one, once more
    call(&scene, both, 2, MS, 1);
    ck_assert_uint_eq(bb_translations_joined(found), 1);
    ck_assert_uint_eq(COUNT(&scene, BB_NAT_PARTED), 0);
    // One that is answered is a new connection, though the old one was not seen to end.
    scene.isn[CLIENT] += 3000000;
    scene.isn[SERVER] += 5000000;
    talk(&scene, both, 2, MS);
    ck_assert_uint_eq(bb_translations_joined(found), 1);
    ck_assert_uint_eq(COUNT(&scene, BB_NAT_JOINED), 2);
    ck_assert_uint_eq(COUNT(&scene, BB_NAT_PARTED), 1);
    end(&scene, ONE ONE ONE);
}
END_TEST

TEST_MAIN("translation_life", ports_are_used_again, open_ones_stay_two,
          a_leg_that_is_gone_parts_them, tables_have_limits, what_has_ended_is_forgotten,
          silent_ones_outlive_ended_ones, limits_count_what_was_to_be_expected,
          stray_syns_part_nothing)
