// SPDX-License-Identifier: Apache-2.0
// What a process belongs to, by the text of its control groups; names that are fit for nodes.
#include "capture/processes/owner.h"
#include "tests/unit/test.h"

#include <string.h>

#define ID "3f4e5d6c7b8a99887766554433221100ffeeddccbbaa00112233445566778899"
#define ID2 "00001111222233334444555566667777888899990000aaaabbbbccccddddeeee"

static const struct {
    const char *text;
    BbOwnerKind kind;
    const char *name;
} cases[] = {
    // version 2
    {"0::/system.slice/nginx.service\n", BB_OWNER_UNIT, "nginx.service"},
    {"0::/system.slice/system-getty.slice/getty@tty1.service\n", BB_OWNER_UNIT,
     "getty@tty1.service"},
    {"0::/system.slice/postgresql@15-main.service/worker\n", BB_OWNER_UNIT,
     "postgresql@15-main.service"},
    {"0::/system.slice/foo\\x2dbar.service\n", BB_OWNER_UNIT, "foo-bar.service"},
    {"0::/user.slice/user-1000.slice/session-3.scope\n", BB_OWNER_NONE, ""},
    {"0::/user.slice/user-1000.slice/user@1000.service/init.scope\n", BB_OWNER_NONE, ""},
    {"0::/user.slice/user-1000.slice/user@1000.service/app.slice/web.service\n", BB_OWNER_UNIT,
     "web.service"},
    {"0::/init.scope\n", BB_OWNER_NONE, ""},
    {"0::/\n", BB_OWNER_NONE, ""},
    {"0::/system.slice/docker-" ID ".scope\n", BB_OWNER_CONTAINER, "3f4e5d6c7b8a"},
    {"0::/docker/" ID "\n", BB_OWNER_CONTAINER, "3f4e5d6c7b8a"},
    {"0::/kubepods.slice/kubepods-burstable.slice/"
     "kubepods-burstable-pod0f1e2d3c_aaaa_bbbb_cccc_0123456789ab.slice/cri-containerd-" ID
     ".scope\n",
     BB_OWNER_CONTAINER, "3f4e5d6c7b8a"},
    {"0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-podx.slice/crio-" ID
     ".scope/container\n",
     BB_OWNER_CONTAINER, "3f4e5d6c7b8a"},
    {"0::/machine.slice/libpod-" ID ".scope/container\n", BB_OWNER_CONTAINER, "3f4e5d6c7b8a"},
    {"0::/machine.slice/libpod-conmon-" ID ".scope\n", BB_OWNER_NONE, ""},
    {"0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope\n",
     BB_OWNER_CONTAINER, "3f4e5d6c7b8a"},
    {"0::/system.slice/containerd.service/kubepods-burstable-podx.slice:cri-containerd:" ID "\n",
     BB_OWNER_CONTAINER, "3f4e5d6c7b8a"},
    // a service inside of a container is the container's
    {"0::/system.slice/docker-" ID ".scope/system.slice/nginx.service\n", BB_OWNER_CONTAINER,
     "3f4e5d6c7b8a"},
    // of containers in containers the inner one
    {"0::/docker/" ID "/docker/" ID2 "\n", BB_OWNER_CONTAINER, "000011112222"},
    {"0::/machine.slice/machine-web1.scope/payload\n", BB_OWNER_CONTAINER, "web1"},
    {"0::/lxc.payload.db1/system.slice/mysql.service\n", BB_OWNER_CONTAINER, "db1"},
    // version 1
    {"12:pids:/system.slice/ssh.service\n11:memory:/system.slice/ssh.service\n"
     "1:name=systemd:/system.slice/ssh.service\n0::/system.slice/ssh.service\n",
     BB_OWNER_UNIT, "ssh.service"},
    {"4:memory:/\n1:name=systemd:/system.slice/cron.service\n0::/\n", BB_OWNER_UNIT,
     "cron.service"},
    {"11:cpu,cpuacct:/kubepods/burstable/pod0f1e2d3c-aaaa-bbbb-cccc-0123456789ab/" ID "\n"
     "1:name=systemd:/kubepods/burstable/pod0f1e2d3c-aaaa-bbbb-cccc-0123456789ab/" ID "\n",
     BB_OWNER_CONTAINER, "3f4e5d6c7b8a"},
    {"9:devices:/docker/" ID "\n1:name=systemd:/system.slice/docker.service\n", BB_OWNER_CONTAINER,
     "3f4e5d6c7b8a"},
    // none of it
    {"", BB_OWNER_NONE, ""},
    {"nonsense", BB_OWNER_NONE, ""},
    {"0:/system.slice/nginx.service", BB_OWNER_NONE, ""},
    {"0::/.service\n", BB_OWNER_NONE, ""},
    {"0::/docker/3F4E5D6C7B8A99887766554433221100FFEEDDCCBBAA00112233445566778899\n", BB_OWNER_NONE,
     ""},
    {"0::/docker/" ID "0\n", BB_OWNER_NONE, ""}, // 65 digits
};

START_TEST(control_groups_name_units_and_containers)
{
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        BbOwner owner = bb_owner_parse(cases[i].text, strlen(cases[i].text));
        ck_assert_msg(owner.kind == cases[i].kind && strcmp(owner.name, cases[i].name) == 0,
                      "%s: %d %s", cases[i].text, owner.kind, owner.name);
    }
}
END_TEST

START_TEST(a_text_may_be_cut_anywhere)
{
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
        for (gsize size = 0; size <= strlen(cases[i].text); size++) {
            g_autofree char *exact = g_memdup2(cases[i].text, size); // sanitizers see its end
            BbOwner owner = bb_owner_parse(exact, size);
            ck_assert((owner.kind == BB_OWNER_NONE) == (owner.name[0] == '\0'));
        }
}
END_TEST

static void check_clean(const char *text, const char *want)
{
    char name[BB_OWNER_NAME];
    bb_owner_clean(text, strlen(text), name);
    ck_assert_str_eq(name, want);
}

START_TEST(names_are_fit_for_nodes)
{
    check_clean("nginx", "nginx");
    check_clean("Web Content", "Web_Content");
    check_clean("a/b\tc%20=#", "a_b_c_20__");
    check_clean("", "_");
    check_clean("\\x2f\\x00\\xzz\\x2", "___xzz_x2");
    check_clean("caf\xc3\xa9", "caf\xc3\xa9");
    check_clean("bad\xff\xc3", "bad__");
    check_clean("\\xc3\\xa9", "\xc3\xa9");
    g_autofree char *longer = g_strnfill(300, 'x');
    char name[BB_OWNER_NAME];
    bb_owner_clean(longer, 300, name);
    ck_assert_uint_eq(strlen(name), BB_OWNER_NAME - 1);
}
END_TEST

TEST_MAIN("process_owner", control_groups_name_units_and_containers, a_text_may_be_cut_anywhere,
          names_are_fit_for_nodes)
