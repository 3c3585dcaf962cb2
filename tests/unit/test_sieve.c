// SPDX-License-Identifier: Apache-2.0
// The sieve for the kernel, run here: foreign frames are held back, and nothing is that the layers
// would find one of the hosts in.
#include "tests/unit/frame.h"
#include "tests/unit/test.h"

#include "capture/layers/layer.h"
#include "capture/sources/sieve.h"

#define ETHERNET 1

typedef struct Scene {
    GArray *addresses; // of BbAddress
    struct bpf_program program;
} Scene;

static BbAddress address_of(const char *text)
{
    BbAddress address;
    ck_assert(bb_address_parse(text, &address));
    return address;
}

static bool build(Scene *scene, const struct bpf_program *then)
{
    static const BbTunnelAt tunnels[] = {{7777, "vxlan"}};
    const BbSieve sieve = {.addresses = (const BbAddress *)(gconstpointer)scene->addresses->data,
                           .n_addresses = scene->addresses->len,
                           .tunnels = tunnels,
                           .n_tunnels = 1,
                           .then = then,
                           .snaplen = 262144};
    return bb_sieve_build(&sieve, &scene->program);
}

// words: addresses, with spaces between.
static void scene_begin(Scene *scene, const char *words)
{
    static const struct bpf_program none;
    g_auto(GStrv) all = g_strsplit(words, " ", -1);
    scene->addresses = g_array_new(FALSE, FALSE, sizeof(BbAddress));
    for (char **word = all; *word; word++) {
        BbAddress address = address_of(*word);
        g_array_append_val(scene->addresses, address);
    }
    ck_assert(build(scene, &none));
    ck_assert(bpf_validate(scene->program.bf_insns, (int)scene->program.bf_len));
}

static void scene_end(Scene *scene)
{
    g_free(scene->program.bf_insns);
    g_array_unref(scene->addresses);
}

static bool passes(const Scene *scene, Frame *frame)
{
    bool passed = bpf_filter(scene->program.bf_insns, frame->data, frame->len, frame->len) != 0;
    g_byte_array_unref(frame);
    return passed;
}

// ---- frames: 10.0.0.1 -> 10.0.0.2, 2001:db8::1 -> 2001:db8::2
// -------------------------------------

static Frame *tagged(Frame *frame, guint tags, guint16 type)
{
    static const guint16 kinds[] = {0x8100, 0x88a8, 0x9100};
    for (guint i = 0; i < tags; i++) {
        frame_vlan(frame, type);
        type = kinds[i % G_N_ELEMENTS(kinds)];
    }
    frame_ethernet(frame, type);
    return frame;
}

static Frame *tcp4(guint tags)
{
    Frame *frame = frame_payload(30);
    frame_tcp(frame, 0x18, 0);
    frame_ipv4(frame, 6);
    return tagged(frame, tags, 0x0800);
}

static Frame *tcp6(guint tags)
{
    Frame *frame = frame_payload(30);
    frame_tcp(frame, 0x18, 0);
    frame_ipv6(frame, 6);
    return tagged(frame, tags, 0x86dd);
}

static Frame *udp4(guint option_words, guint16 place, guint16 from, guint16 to)
{
    Frame *frame = frame_payload(30);
    FRAME_PUT(frame, FRAME_16(from), FRAME_16(to), FRAME_16(38), 0, 0);
    frame_ipv4_fragment(frame, 17, option_words, 1, place);
    return tagged(frame, option_words % 3, 0x0800);
}

static Frame *udp6(guint16 from, guint16 to)
{
    Frame *frame = frame_payload(30);
    FRAME_PUT(frame, FRAME_16(from), FRAME_16(to), FRAME_16(38), 0, 0);
    frame_ipv6(frame, 17);
    return tagged(frame, from % 3, 0x86dd);
}

static Frame *other4(guint8 protocol)
{
    Frame *frame = frame_payload(30);
    frame_ipv4(frame, protocol);
    return tagged(frame, 0, 0x0800);
}

static Frame *other6(guint8 protocol)
{
    Frame *frame = frame_payload(30);
    frame_ipv6(frame, protocol);
    return tagged(frame, 1, 0x86dd);
}

// ---- hosts
// ----------------------------------------------------------------------------------------

START_TEST(hosts_pass_and_others_do_not)
{
    static const struct {
        const char *hosts;
        bool v4, v6;
    } cases[] = {
        {"10.0.0.1", true, false},
        {"10.0.0.2", true, false},
        {"10.0.0.3", false, false},
        {"1.10.0.0 2.10.0.0 10.0.0.3", false, false},
        {"2001:db8::1", false, true},
        {"2001:db8::2", false, true},
        {"2001:db8:0:1::2 2001:db8::3", false, false},
        {"10.0.0.3 2001:db8::2 10.0.0.2", true, true},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        Scene scene;
        scene_begin(&scene, cases[i].hosts);
        for (guint tags = 0; tags <= 2; tags++) {
            ck_assert(passes(&scene, tcp4(tags)) == cases[i].v4);
            ck_assert(passes(&scene, tcp6(tags)) == cases[i].v6);
        }
        ck_assert(passes(&scene, tcp4(3))); // too deep to be looked at
        scene_end(&scene);
    }
}
END_TEST

// As many as there are lists, with the one that is there at each place.
START_TEST(long_lists)
{
    for (guint count = 190; count <= 410; count += 10)
        for (guint at = 0; at < count; at += count / 7) {
            g_autoptr(GString) v4 = g_string_new(NULL), v6 = g_string_new(NULL);
            Scene scene;
            for (guint i = 0; i < count; i++) {
                g_string_append_printf(v4, "%s10.1.%u.%u", i ? " " : "", i >> 8, i & 255);
                if (i < 230)
                    g_string_append_printf(v6, "%s2001:db8:1::%x", i ? " " : "", i + 1);
            }
            scene_begin(&scene, v4->str);
            ck_assert(!passes(&scene, tcp4(0)));
            ck_assert(!passes(&scene, tcp6(0)));
            g_array_index(scene.addresses, BbAddress, at) = address_of("10.0.0.2");
            g_free(scene.program.bf_insns);
            ck_assert(build(&scene, &(struct bpf_program){0}));
            ck_assert(passes(&scene, tcp4(1)));
            scene_end(&scene);
            scene_begin(&scene, v6->str);
            ck_assert(!passes(&scene, tcp6(0)));
            g_array_index(scene.addresses, BbAddress, at % 230) = address_of("2001:db8::1");
            g_free(scene.program.bf_insns);
            ck_assert(build(&scene, &(struct bpf_program){0}));
            ck_assert(passes(&scene, tcp6(2)));
            scene_end(&scene);
        }
}
END_TEST

START_TEST(too_many_hosts)
{
    Scene scene = {.addresses = g_array_new(FALSE, FALSE, sizeof(BbAddress))};
    guint most = 0;
    for (guint i = 0; i < 2500; i++) {
        const guint8 bytes[] = {10, 1, (guint8)(i >> 8), (guint8)i};
        BbAddress address = bb_address_v4(bytes);
        g_array_append_val(scene.addresses, address);
        if (!build(&scene, &(struct bpf_program){0}))
            break;
        most = i + 1;
        ck_assert_uint_le(scene.program.bf_len, BB_SIEVE_MAX);
        g_clear_pointer(&scene.program.bf_insns, g_free);
    }
    ck_assert_uint_gt(most, 1900);
    ck_assert_uint_lt(most, 2100);
    ck_assert_uint_eq(scene.program.bf_len, 0);
    scene_end(&scene);
}
END_TEST

// ---- what may have packets inside
// -----------------------------------------------------------------

START_TEST(tunnels_pass)
{
    static const guint16 ports[] = {4789, 8472, 4790, 6081, 2152, 3544, 37008, 4754, 6635, 7777};
    Scene scene;
    scene_begin(&scene, "10.0.0.3 2001:db8::3");
    for (guint i = 0; i < G_N_ELEMENTS(ports); i++)
        for (guint words = 0; words <= 5; words++) {
            ck_assert(passes(&scene, udp4(words, 0x4000, 50000, ports[i])));
            ck_assert(passes(&scene, udp4(words, 0, ports[i], 50000)));
            ck_assert(passes(&scene, udp6((guint16)(50000 + words), ports[i])));
            ck_assert(passes(&scene, udp6(ports[i], 50000)));
        }
    for (guint words = 0; words <= 5; words++) {
        ck_assert(!passes(&scene, udp4(words, 0x4000, 50000, 53)));
        ck_assert(passes(&scene, udp4(words, 0x0001, 50000, 53))); // a later fragment
    }
    ck_assert(!passes(&scene, udp6(50000, 53)));
    for (guint protocol = 0; protocol < 256; protocol++) {
        bool udp = protocol == 17; // whose ports are letters here
        ck_assert(passes(&scene, other4((guint8)protocol)) ==
                  (!udp && bb_layers_may_carry(false, (guint8)protocol)));
        ck_assert(passes(&scene, other6((guint8)protocol)) ==
                  (!udp && bb_layers_may_carry(true, (guint8)protocol)));
    }
    ck_assert(!bb_layers_may_carry(false, 6) && !bb_layers_may_carry(false, 1));
    ck_assert(bb_layers_may_carry(false, 47) && bb_layers_may_carry(true, 44));
    ck_assert(passes(&scene, tagged(frame_payload(40), 0, 0x8847)));
    ck_assert(passes(&scene, tagged(frame_payload(40), 1, 0x8864)));
    scene_end(&scene);
}
END_TEST

START_TEST(cut_frames)
{
    Scene scene;
    scene_begin(&scene, "10.0.0.1 2001:db8::1");
    for (guint tags = 0; tags <= 2; tags++)
        for (guint length = 0; length < 60; length++) {
            Frame *four = tcp4(tags), *six = tcp6(tags);
            g_byte_array_set_size(four, length);
            g_byte_array_set_size(six, length);
            (void)passes(&scene, four); // no more than not to read beyond
            (void)passes(&scene, six);
        }
    scene_end(&scene);
}
END_TEST

// ---- together with a filter
// -----------------------------------------------------------------------

START_TEST(filter_must_hold_as_well)
{
    static const char *const filters[] = {"tcp port 80", "vlan and tcp port 80", "udp"};
    static const bool holds[][3] = {
        {true, false, false}, {false, true, false}, {false, false, false}};
    pcap_t *dead = pcap_open_dead(ETHERNET, 262144);
    for (guint i = 0; i < G_N_ELEMENTS(filters); i++) {
        Scene scene;
        struct bpf_program then;
        scene_begin(&scene, "10.0.0.1");
        g_free(scene.program.bf_insns);
        ck_assert(pcap_compile(dead, &then, filters[i], 1, PCAP_NETMASK_UNKNOWN) == 0);
        ck_assert(build(&scene, &then));
        ck_assert(bpf_validate(scene.program.bf_insns, (int)scene.program.bf_len));
        for (guint tags = 0; tags < 2; tags++)
            ck_assert(passes(&scene, tcp4(tags)) == holds[i][tags]);
        ck_assert(!passes(&scene, tcp6(0)));
        pcap_freecode(&then);
        scene_end(&scene);
    }
    pcap_close(dead);
}
END_TEST

// ---- against the layers
// ---------------------------------------------------------------------------

static Frame *random_frame(GRand *random)
{
    Frame *frame = frame_payload((gsize)g_rand_int_range(random, 0, 40));
    if (g_rand_boolean(random))
        frame_tcp(frame, 0x18, 0);
    else
        frame_udp(frame);
    guint8 inner = g_rand_boolean(random) ? 6 : 17;
    bool six = g_rand_boolean(random);
    for (guint depth = (guint)g_rand_int_range(random, 1, 3); depth; depth--) {
        if (six)
            frame_ipv6(frame, inner);
        else
            frame_ipv4(frame, inner);
        inner = six ? 41 : 4;
        if (depth > 1)
            six = g_rand_boolean(random);
    }
    return tagged(frame, (guint)g_rand_int_range(random, 0, 5), six ? 0x86dd : 0x0800);
}

// Headers are changed at random places, so that they are of hosts that are followed, or damaged.
START_TEST(nothing_is_lost)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(test_seed("nothing_is_lost"));
    BbLoss loss = {0};
    g_autoptr(BbLayers) layers = bb_layers_new(&loss, 1 << 20);
    guint found = 0, held_back = 0;
    Scene scene;
    scene_begin(&scene, "10.0.0.1 10.0.0.200 2001:db8::2 10.0.0.77");
    for (guint i = 0; i < 300000; i++) {
        Frame *frame = random_frame(random);
        for (guint k = (guint)g_rand_int_range(random, 0, 4); k; k--)
            frame->data[g_rand_int_range(random, 0, (gint)frame->len)] = (guint8)g_rand_int(random);
        const BbFrame seen = {.time_ns = i,
                              .data = frame->data,
                              .captured = frame->len,
                              .length = frame->len,
                              .link_type = ETHERNET};
        BbPacket packet = {0};
        bool ours = false;
        if (bb_layers_decode(layers, &seen, &packet))
            for (guint k = 0; k < scene.addresses->len; k++) {
                const BbAddress *each = &g_array_index(scene.addresses, BbAddress, k);
                ours |= bb_address_equal(each, &packet.source) ||
                        bb_address_equal(each, &packet.target);
            }
        bool passed = passes(&scene, frame);
        ck_assert(passed || !ours);
        found += ours;
        held_back += !passed;
    }
    ck_assert_uint_gt(found, 10000);
    ck_assert_uint_gt(held_back, 1000);
    scene_end(&scene);
}
END_TEST

TEST_MAIN("sieve", hosts_pass_and_others_do_not, long_lists, too_many_hosts, tunnels_pass,
          cut_frames, filter_must_hold_as_well, nothing_is_lost)
