// SPDX-License-Identifier: Apache-2.0
// Mirrors on a host: what ip(8) and tc(8) print is read, hostile or not; the commands that add what
// is missing, with and without matchall, and remove what is ours; loops.
#include "capture/mirror/linux.h"
#include "capture/mirror/loop.h"
#include "tests/unit/test.h"

#include <string.h>

#define MARK "626274726163652d6d6972726f72"

// ---- hosts -------------------------------------------------------------------------------------

// JSON with other quotes, for C's sake. Yours.
static char *json(const char *text)
{
    return g_strdelimit(g_strdup(text), "'", '"');
}

static BbMirrorHost *host_of(const char *rows)
{
    BbMirrorHost *host = bb_host_new();
    g_autoptr(GError) error = NULL;
    g_autofree char *links = json(rows);
    ck_assert_msg(bb_host_add_links(host, links, strlen(links), &error), "%s",
                  error ? error->message : "");
    return host;
}

// eth0 and eth1 of hardware, a veth pair, a bridge with one end of another, a VLAN on eth0.
static BbMirrorHost *usual_host(void)
{
    return host_of("[{'ifname':'eth0','flags':['UP']},{'ifname':'eth1','flags':['UP']},"
                   "{'ifname':'eth9','flags':['UP']},{'ifname':'va','link':'vb','linkinfo':{'info_"
                   "kind':'veth'}},"
                   "{'ifname':'vb','link':'va','linkinfo':{'info_kind':'veth'}},"
                   "{'ifname':'br0','linkinfo':{'info_kind':'bridge'}},"
                   "{'ifname':'vp','link':'vq','master':'br0','linkinfo':{'info_kind':'veth'}},"
                   "{'ifname':'vq','link':'vp','linkinfo':{'info_kind':'veth'}},"
                   "{'ifname':'eth1.5','link':'eth1','linkinfo':{'info_kind':'vlan'}},"
                   "{'ifname':'eth2','master':'br0'}]");
}

static void add_qdisc(BbMirrorHost *host, const char *interface, const char *kind)
{
    g_autofree char *text =
        g_strdup_printf("[{'kind':'%s','handle':'ffff:','dev':'%s'}]", kind, interface);
    g_strdelimit(text, "'", '"');
    ck_assert(bb_host_add_qdiscs(host, text, strlen(text), NULL));
}

// A filter of u32 with its two heads, as the kernel shows it; cookie may be NULL.
static void add_filter(BbMirrorHost *host, const char *interface, BbMirrorDirection direction,
                       guint pref, const char *to, const char *cookie)
{
    g_autofree char *mark = cookie ? g_strdup_printf(",'cookie':'%s'", cookie) : g_strdup("");
    g_autofree char *text = g_strdup_printf(
        "[{'protocol':'all','pref':%u,'kind':'u32','chain':0},"
        "{'protocol':'all','pref':%u,'kind':'u32','chain':0,'options':{'fh':'800:','ht_divisor':1}}"
        ","
        "{'protocol':'all','pref':%u,'kind':'u32','chain':0,'options':{'fh':'800::800','actions':["
        "{'kind':'mirred','mirred_action':'mirror','direction':'egress','to_dev':'%s',"
        "'stats':{'bytes':900,'packets':9}%s}]}}]",
        pref, pref, pref, to, mark);
    g_strdelimit(text, "'", '"');
    ck_assert(bb_host_add_filters(host, interface, direction, text, strlen(text), NULL));
}

// A mirror from a list, to an interface or, with a dot in it, into a VXLAN tunnel.
static BbMirror *mirror_of(const char *from, const char *to, const char *direction)
{
    const char *const list[] = {from, NULL};
    bool is_address = strchr(to, '.') && g_ascii_isdigit(to[0]);
    BbMirrorWords words = {.from = list,
                           .to = is_address ? NULL : to,
                           .to_vxlan = is_address ? to : NULL,
                           .direction = direction};
    BbMirror *mirror = bb_mirror_new(&words, NULL);
    ck_assert_ptr_nonnull(mirror);
    return mirror;
}

static char *plan_text(const BbMirror *mirror, const BbMirrorHost *host,
                       BbMirrorClassifier classifier, char **notes)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(BbMirrorPlan) plan = bb_mirror_plan_linux(mirror, host, classifier, &error);
    ck_assert_msg(plan != NULL, "%s", error ? error->message : "");
    GString *out = g_string_new(NULL);
    bb_mirror_append_plan(out, plan);
    g_ptr_array_add(plan->notes, NULL);
    if (notes)
        *notes = g_strjoinv("\n", (char **)plan->notes->pdata);
    else
        ck_assert_ptr_null(plan->notes->pdata[0]);
    return g_string_free(out, FALSE);
}

static void check_plan(const char *from, const char *to, const char *direction,
                       const BbMirrorHost *host, BbMirrorClassifier classifier,
                       const char *expected)
{
    g_autoptr(BbMirror) mirror = mirror_of(from, to, direction);
    g_autofree char *text = plan_text(mirror, host, classifier, NULL);
    ck_assert_str_eq(text, expected);
}

static char *removal_text(const BbMirrorSelection *selection, const BbMirrorHost *host,
                          char **notes)
{
    g_autoptr(BbMirrorPlan) plan = bb_mirror_plan_linux_del(selection, host);
    GString *out = g_string_new(NULL);
    bb_mirror_append_plan(out, plan);
    g_ptr_array_add(plan->notes, NULL);
    if (notes)
        *notes = g_strjoinv("\n", (char **)plan->notes->pdata);
    return g_string_free(out, FALSE);
}

static void check_removal(const BbMirrorSelection *selection, const BbMirrorHost *host,
                          const char *expected)
{
    g_autofree char *text = removal_text(selection, host, NULL);
    ck_assert_str_eq(text, expected);
}

static const BbMirrorSelection all_of_them = {.direction = BB_MIRROR_BOTH, .any_target = true};

// ---- reading -----------------------------------------------------------------------------------

START_TEST(what_a_host_has)
{
    g_autoptr(BbMirrorHost) host = usual_host();
    add_qdisc(host, "eth0", "clsact");
    add_qdisc(host, "eth1", "ingress");
    add_qdisc(host, "va", "fq_codel");
    add_filter(host, "eth0", BB_MIRROR_EGRESS, 37, "eth9", MARK "71");
    ck_assert_uint_eq(host->interfaces->len, 10);
    ck_assert_int_eq(bb_host_find(host, "eth0")->qdisc, BB_QDISC_CLSACT);
    ck_assert_int_eq(bb_host_find(host, "eth1")->qdisc, BB_QDISC_INGRESS);
    ck_assert_int_eq(bb_host_find(host, "va")->qdisc, BB_QDISC_NONE);
    ck_assert_str_eq(bb_host_find(host, "vp")->master, "br0");
    ck_assert_str_eq(bb_host_find(host, "vp")->link, "vq");
    ck_assert(bb_host_find(host, "eth0")->is_up && !bb_host_find(host, "va")->is_up);
    ck_assert_uint_eq(host->filters->len, 3);
    const BbHostFilter *filter = host->filters->pdata[2];
    ck_assert_str_eq(filter->to, "eth9");
    ck_assert_str_eq(filter->handle, "800::800");
    ck_assert_uint_eq(filter->packets, 9);
    ck_assert_uint_eq(filter->bytes, 900);
    ck_assert(!filter->is_head && !filter->to_ingress && bb_mirror_owns_filter(filter));
    for (guint i = 0; i < 2; i++)
        ck_assert(((BbHostFilter *)host->filters->pdata[i])->is_head);
}
END_TEST

// As tc 6.1 prints a filter of matchall.
START_TEST(a_filter_of_matchall)
{
    static const char text[] =
        "[{\"protocol\":\"all\",\"pref\":37,\"kind\":\"matchall\",\"chain\":0},{\"protocol\":"
        "\"all\","
        "\"pref\":37,\"kind\":\"matchall\",\"chain\":0,\"options\":{\"handle\":1,\"not_in_hw\":"
        "true,"
        "\"actions\":[{\"order\":1,\"kind\":\"mirred\",\"mirred_action\":\"mirror\",\"direction\":"
        "\"egress\",\"to_dev\":\"eth9\",\"control_action\":{\"type\":\"continue\"},\"stats\":"
        "{\"bytes\":60,\"packets\":1},\"cookie\":\"" MARK "2d\"}]}}]";
    g_autoptr(BbMirrorHost) host = usual_host();
    ck_assert(bb_host_add_filters(host, "eth0", BB_MIRROR_INGRESS, text, strlen(text), NULL));
    const BbHostFilter *filter = host->filters->pdata[1];
    ck_assert(bb_mirror_owns_filter(filter) && !filter->is_head && !filter->handle);
    check_removal(&all_of_them, host, "tc filter del dev eth0 ingress protocol all pref 37\n");
}
END_TEST

static bool reads(const char *text, gsize length)
{
    g_autoptr(BbMirrorHost) host = usual_host();
    g_autoptr(GError) error = NULL;
    g_free(bb_host_parse_route(text, length));
    bool good =
        bb_host_add_links(host, text, length, NULL) && bb_host_add_qdiscs(host, text, length, NULL);
    bool fine = bb_host_add_filters(host, "eth0", BB_MIRROR_INGRESS, text, length, &error);
    ck_assert_int_eq(good, fine);
    ck_assert_int_eq(fine, error == NULL);
    ck_assert_msg(fine || strstr(error->message, "printed no list in JSON"), "%s", error->message);
    return good;
}

static void check_odd(const char *rows)
{
    g_autofree char *text = json(rows);
    ck_assert_msg(reads(text, strlen(text)), "%s", text);
}

START_TEST(hostile_text)
{
    static const char *const bad[] = {"{}", "[",     "null",    "x",          "[}",    "\xff[]",
                                      "'",  "['x']", "[] // x", "[/* \" */]", "[] # x"};
    static const char *const odd[] = {
        "",
        "[]",
        "[null,1,'x',[],{}]",
        "[{'ifname':7,'flags':{},'linkinfo':[],'options':[]}]",
        "[{'ifname':'a/b'},{'ifname':'a b'},{'ifname':''},{'ifname':'sixteen-letters-'}]",
        "[{'ifname':'a\\u0007'},{'dev':'eth0','kind':null},{'dev':5}]",
        "[{'options':{'actions':[1,null,{'kind':'mirred','to_dev':{},'cookie':[],'stats':7}]}}]",
        "[{'pref':-1,'options':{'actions':{}}},{'pref':1e30},{'pref':99999999999}]"};
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++)
        ck_assert_msg(!reads(bad[i], strlen(bad[i])), "%s", bad[i]);
    for (gsize i = 0; i < G_N_ELEMENTS(odd); i++)
        check_odd(odd[i]);
    g_autofree char *deep = g_strnfill(1000000, '[');
    ck_assert(!reads(deep, strlen(deep)));
    g_autoptr(BbMirrorHost) host = host_of(odd[4]);
    ck_assert_uint_eq(host->interfaces->len, 0);
    g_autofree char *nul = g_strdup("[]  ");
    nul[2] = '\0';
    ck_assert(!reads(nul, 4));
}
END_TEST

START_TEST(routes)
{
    g_autofree char *text = json("[{'dst':'10.0.0.9','gateway':'10.1.0.1','dev':'eth1'}]");
    g_autofree char *interface = bb_host_parse_route(text, strlen(text));
    ck_assert_str_eq(interface, "eth1");
    ck_assert_ptr_null(bb_host_parse_route("[]", 2));
    ck_assert_ptr_null(bb_host_parse_route("[{\"dev\":5}]", 11));
}
END_TEST

// ---- adding ------------------------------------------------------------------------------------

#define ADD(interface, direction, pref, kind, to, flag)                              \
    "tc filter add dev " interface " " direction " protocol all pref " pref " " kind \
    " action mirred egress mirror dev " to " continue cookie " MARK flag "\n"
#define U32 "u32 match u32 0 0"

START_TEST(with_and_without_matchall)
{
    g_autoptr(BbMirrorHost) host = usual_host();
    check_plan(
        "eth0", "eth9", "both", host, BB_CLASSIFIER_MATCHALL,
        "tc qdisc add dev eth0 clsact\n" ADD("eth0", "ingress", "37", "matchall", "eth9", "71")
            ADD("eth0", "egress", "38", "matchall", "eth9", "71"));
    check_plan("eth0", "eth9", "both", host, BB_CLASSIFIER_U32,
               "tc qdisc add dev eth0 clsact\n" ADD("eth0", "ingress", "37", U32, "eth9", "71")
                   ADD("eth0", "egress", "38", U32, "eth9", "71"));
    check_plan("eth0", "eth9", "egress", host, BB_CLASSIFIER_AUTO,
               "tc qdisc add dev eth0 clsact\n" ADD(
                   "eth0", "egress", "37", "matchall", "eth9",
                   "71") "#   or, without matchall in the kernel: " ADD("eth0", "egress", "37", U32,
                                                                        "eth9", "71"));
}
END_TEST

// Each command that makes something has one that takes it back.
START_TEST(undoing)
{
    g_autoptr(BbMirrorHost) host = usual_host();
    g_autoptr(BbMirror) mirror = mirror_of("eth0", "10.0.0.9", "ingress");
    g_autoptr(BbMirrorPlan) plan = bb_mirror_plan_linux(mirror, host, BB_CLASSIFIER_U32, NULL);
    static const char *const undo[] = {"ip link del dev bbmirror0",
                                       "",
                                       "",
                                       "",
                                       "tc qdisc del dev eth0 clsact",
                                       "tc filter del dev eth0 ingress protocol all pref 37"};
    ck_assert_uint_eq(plan->commands->len, G_N_ELEMENTS(undo));
    for (guint i = 0; i < plan->commands->len; i++) {
        const BbMirrorCommand *command = plan->commands->pdata[i];
        g_autofree char *text = command->undo ? g_strjoinv(" ", command->undo) : g_strdup("");
        ck_assert_str_eq(text, undo[i]);
        ck_assert_int_eq(command->optional, i == 2);
        ck_assert_int_eq(command->remedy != NULL, undo[i][0] != '\0');
    }
}
END_TEST

START_TEST(what_is_there_is_used)
{
    g_autoptr(BbMirrorHost) host = usual_host();
    add_qdisc(host, "eth0", "clsact");
    check_plan("eth0,eth1", "eth9", "ingress", host, BB_CLASSIFIER_U32,
               ADD("eth0", "ingress", "37", U32, "eth9", "2d") "tc qdisc add dev eth1 clsact\n" ADD(
                   "eth1", "ingress", "37", U32, "eth9", "71"));
    add_filter(host, "eth0", BB_MIRROR_INGRESS, 37, "eth9", MARK "2d");
    g_autofree char *notes = NULL;
    g_autoptr(BbMirror) mirror = mirror_of("eth0", "eth9", "both");
    g_autofree char *text = plan_text(mirror, host, BB_CLASSIFIER_U32, &notes);
    ck_assert_str_eq(text, ADD("eth0", "egress", "38", U32, "eth9", "2d"));
    ck_assert_str_eq(notes, "eth0 ingress is mirrored to eth9 already");
}
END_TEST

// A qdisc of ours is known by our filter, whoever has come since; a new one keeps the knowledge.
START_TEST(a_qdisc_stays_ours)
{
    g_autoptr(BbMirrorHost) host = usual_host();
    add_qdisc(host, "eth0", "clsact");
    add_filter(host, "eth0", BB_MIRROR_INGRESS, 37, "eth9", MARK "71");
    add_filter(host, "eth0", BB_MIRROR_EGRESS, 100, "va", NULL);
    check_plan("eth0", "eth1", "egress", host, BB_CLASSIFIER_U32,
               ADD("eth0", "egress", "38", U32, "eth1", "71"));
}
END_TEST

START_TEST(preferences)
{
    g_autoptr(BbMirrorHost) host = usual_host();
    g_autoptr(BbMirror) mirror = mirror_of("eth0", "eth9", "ingress");
    g_autoptr(GError) error = NULL;
    g_autofree char *notes = NULL;
    add_qdisc(host, "eth0", "clsact");
    add_filter(host, "eth0", BB_MIRROR_INGRESS, 12, "va", NULL);
    for (guint i = 0; i < BB_MIRROR_PREFS - 1; i++)
        add_filter(host, "eth0", i % 2 ? BB_MIRROR_INGRESS : BB_MIRROR_EGRESS, 37 + i, "va", NULL);
    g_autofree char *text = plan_text(mirror, host, BB_CLASSIFIER_U32, &notes);
    ck_assert_str_eq(text, ADD("eth0", "ingress", "68", U32, "eth9", "2d"));
    ck_assert_str_eq(notes, "somebody's filter on eth0 ingress (pref 12) comes before ours: what "
                            "ends there is not copied");
    add_filter(host, "eth0", BB_MIRROR_EGRESS, 68, "va", NULL);
    ck_assert_ptr_null(bb_mirror_plan_linux(mirror, host, BB_CLASSIFIER_U32, &error));
    ck_assert_msg(strstr(error->message, "all of the preferences 37 to 68") != NULL, "%s",
                  error->message);
}
END_TEST

// Interfaces that were removed and made again get no copies of the old mirrors.
START_TEST(mirrors_that_lead_nowhere)
{
    g_autoptr(BbMirrorHost) host = usual_host();
    g_autofree char *notes = NULL;
    add_qdisc(host, "eth0", "clsact");
    add_filter(host, "eth0", BB_MIRROR_INGRESS, 37, "*", MARK "71");
    add_filter(host, "eth0", BB_MIRROR_EGRESS, 38, "eth9", MARK "71");
    add_filter(host, "eth0", BB_MIRROR_INGRESS, 39, "*", NULL); // not ours
    g_autoptr(BbMirror) mirror = mirror_of("eth0", "eth1", "ingress");
    g_autofree char *text = plan_text(mirror, host, BB_CLASSIFIER_U32, &notes);
    ck_assert_str_eq(text, "tc filter del dev eth0 ingress protocol all pref 37\n" ADD(
                               "eth0", "ingress", "40", U32, "eth1", "71"));
    ck_assert_str_eq(notes, "the mirror of eth0 ingress into an interface that is gone is removed");
    BbMirrorSelection gone = {.direction = BB_MIRROR_BOTH, .any_target = true, .gone = true};
    check_removal(&gone, host, "tc filter del dev eth0 ingress protocol all pref 37\n");
}
END_TEST

START_TEST(a_bridge_is_warned_of)
{
    g_autoptr(BbMirrorHost) host = usual_host();
    g_autofree char *notes = NULL;
    g_autoptr(BbMirror) mirror = mirror_of("br0", "eth9", "ingress");
    g_autofree char *text = plan_text(mirror, host, BB_CLASSIFIER_U32, &notes);
    ck_assert(g_str_has_prefix(text, "tc qdisc add dev br0 clsact\n")); // it is made all the same
    ck_assert(g_str_has_prefix(notes, "warning: br0 is a bridge: what it forwards"));
    ck_assert_msg(strstr(notes, "(--from vp,eth2)") != NULL, "%s", notes);
}
END_TEST

START_TEST(tunnels)
{
    g_autoptr(BbMirrorHost) host =
        host_of("[{'ifname':'eth0','flags':['UP']},{'ifname':'bbmirror0','ifalias':'somebody'},"
                "{'ifname':'bbmirror1','ifalias':'bbtrace-mirror,vxlan,10.0.0.9,1,-'},"
                "{'ifname':'other','ifalias':'bbtrace-mirror,vxlan,10.0.0.8,1,-'}]");
    check_plan(
        "eth0", "10.0.0.9", "ingress", host, BB_CLASSIFIER_U32,
        "tc qdisc add dev eth0 clsact\n" ADD("eth0", "ingress", "37", U32, "bbmirror1", "71"));
    check_plan(
        "eth0", "10.0.0.8", "ingress", host, BB_CLASSIFIER_U32,
        "ip link add name bbmirror2 type vxlan remote 10.0.0.8 id 1 dstport 4789 nolearning\n"
        "ip link set dev bbmirror2 alias bbtrace-mirror,vxlan,10.0.0.8,1,-\n"
        "ip link set dev bbmirror2 addrgenmode none\nip link set dev bbmirror2 up\n"
        "tc qdisc add dev eth0 clsact\n" ADD("eth0", "ingress", "37", U32, "bbmirror2", "71"));
    g_autofree char *text = bb_mirror_describe_tunnel(bb_host_find(host, "bbmirror1"));
    ck_assert_str_eq(text, "vxlan 10.0.0.9 id 1");
    ck_assert(!bb_mirror_owns_tunnel(bb_host_find(host, "bbmirror0")));
    ck_assert(!bb_mirror_owns_tunnel(bb_host_find(host, "other")));
}
END_TEST

START_TEST(refusals)
{
    static const struct {
        const char *from, *to, *id, *said;
    } cases[] = {
        {"sixteen-letters-", "eth9", NULL, "sixteen-letters- is no name of a Linux interface"},
        {"eth0", "Gi1/0/1", NULL, "Gi1/0/1 is no name of a Linux interface"},
        {"eth0", "eth9", "5", "--id is of a tunnel"},
        {"eth1", "eth9", NULL, "eth1 has an ingress qdisc that is not ours"},
    };
    g_autoptr(BbMirrorHost) host = usual_host();
    add_qdisc(host, "eth1", "ingress");
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        const char *const from[] = {cases[i].from, NULL};
        BbMirrorWords words = {.from = from, .to = cases[i].to, .id = cases[i].id};
        g_autoptr(BbMirror) mirror = bb_mirror_new(&words, NULL);
        g_autoptr(GError) error = NULL;
        ck_assert_ptr_null(bb_mirror_plan_linux(mirror, host, BB_CLASSIFIER_AUTO, &error));
        ck_assert_msg(strstr(error->message, cases[i].said) != NULL, "%s", error->message);
    }
    check_plan("eth1", "eth9", "ingress", host, BB_CLASSIFIER_U32,
               ADD("eth1", "ingress", "37", U32, "eth9", "2d"));
}
END_TEST

// ---- removing ----------------------------------------------------------------------------------

START_TEST(only_what_is_ours)
{
    g_autoptr(BbMirrorHost) host = usual_host();
    add_qdisc(host, "eth0", "clsact");
    add_filter(host, "eth0", BB_MIRROR_INGRESS, 37, "eth9", MARK "2d");
    add_filter(host, "eth0", BB_MIRROR_INGRESS, 38, "eth9", NULL);
    add_filter(host, "eth0", BB_MIRROR_EGRESS, 39, "eth9", MARK);
    add_filter(host, "eth0", BB_MIRROR_EGRESS, 40, "eth9", "00");
    check_removal(&all_of_them, host, "tc filter del dev eth0 ingress protocol all pref 37\n");
}
END_TEST

START_TEST(the_qdisc_goes_with_the_last)
{
    g_autoptr(BbMirrorHost) host = usual_host();
    g_autofree char *notes = NULL;
    add_qdisc(host, "eth0", "clsact");
    add_filter(host, "eth0", BB_MIRROR_INGRESS, 37, "eth9", MARK "71");
    add_filter(host, "eth0", BB_MIRROR_EGRESS, 38, "eth9", MARK "71");
    check_removal(&all_of_them, host,
                  "tc filter del dev eth0 ingress protocol all pref 37\n"
                  "tc filter del dev eth0 egress protocol all pref 38\n"
                  "tc qdisc del dev eth0 clsact\n");
    BbMirrorSelection one = {.direction = BB_MIRROR_EGRESS, .any_target = true};
    check_removal(&one, host, "tc filter del dev eth0 egress protocol all pref 38\n");
    add_filter(host, "eth0", BB_MIRROR_EGRESS, 5, "va", NULL);
    g_autofree char *text = removal_text(&all_of_them, host, &notes);
    ck_assert_ptr_null(strstr(text, "qdisc"));
    ck_assert_str_eq(notes, "eth0 keeps its clsact qdisc, which others use by now");
}
END_TEST

// The head of a preference that has nothing in it yet is somebody's, too.
START_TEST(an_empty_preference_of_others)
{
    g_autofree char *text = json("[{'protocol':'all','pref':9,'kind':'flower','chain':0}]");
    g_autoptr(BbMirrorHost) host = usual_host();
    add_filter(host, "eth0", BB_MIRROR_INGRESS, 37, "eth9", MARK "71");
    ck_assert(bb_host_add_filters(host, "eth0", BB_MIRROR_EGRESS, text, strlen(text), NULL));
    check_removal(&all_of_them, host, "tc filter del dev eth0 ingress protocol all pref 37\n");
}
END_TEST

// Somebody has put a filter into our preference: ours goes by its handle.
START_TEST(a_shared_preference)
{
    g_autofree char *text = json(
        "[{'protocol':'all','pref':37,'kind':'u32','options':{'fh':'800::801','flowid':'1:1'}}]");
    g_autoptr(BbMirrorHost) host = usual_host();
    add_filter(host, "eth0", BB_MIRROR_INGRESS, 37, "eth9", MARK "71");
    ck_assert(bb_host_add_filters(host, "eth0", BB_MIRROR_INGRESS, text, strlen(text), NULL));
    check_removal(&all_of_them, host,
                  "tc filter del dev eth0 ingress protocol all pref 37 handle 800::800 u32\n");
}
END_TEST

START_TEST(selections)
{
    static const char *const names[] = {"eth1", NULL};
    g_autoptr(BbMirrorHost) host = usual_host();
    add_filter(host, "eth0", BB_MIRROR_INGRESS, 37, "eth9", MARK "2d");
    add_filter(host, "eth1", BB_MIRROR_INGRESS, 37, "eth9", MARK "2d");
    add_filter(host, "eth1", BB_MIRROR_EGRESS, 38, "va", MARK "2d");
    BbMirrorSelection by_name = {.from = names, .direction = BB_MIRROR_INGRESS, .any_target = true};
    check_removal(&by_name, host, "tc filter del dev eth1 ingress protocol all pref 37\n");
    BbMirrorSelection by_target = {.direction = BB_MIRROR_BOTH, .to = "va"};
    check_removal(&by_target, host, "tc filter del dev eth1 egress protocol all pref 38\n");
    by_target.to = "eth0";
    check_removal(&by_target, host, "");
}
END_TEST

// A tunnel goes with the last mirror into it; one that nothing goes into is left of a killed run.
START_TEST(tunnels_go)
{
    g_autoptr(BbMirrorHost) host =
        host_of("[{'ifname':'eth0'},{'ifname':'eth1'},"
                "{'ifname':'bbmirror0','ifalias':'bbtrace-mirror,vxlan,10.0.0.9,1,-'},"
                "{'ifname':'bbmirror1','ifalias':'bbtrace-mirror,gre,10.0.0.9,-,-'},"
                "{'ifname':'bbmirror2','ifalias':'mine'}]");
    static const char *const names[] = {"eth0", NULL};
    add_filter(host, "eth0", BB_MIRROR_INGRESS, 37, "bbmirror0", MARK "2d");
    add_filter(host, "eth1", BB_MIRROR_INGRESS, 37, "bbmirror0", MARK "2d");
    BbMirrorSelection one = {.from = names, .direction = BB_MIRROR_BOTH, .any_target = true};
    check_removal(&one, host, "tc filter del dev eth0 ingress protocol all pref 37\n");
    BbMirrorSelection into = {
        .direction = BB_MIRROR_BOTH, .target = BB_MIRROR_TO_VXLAN, .to = "10.0.0.9"};
    check_removal(&into, host,
                  "tc filter del dev eth0 ingress protocol all pref 37\n"
                  "tc filter del dev eth1 ingress protocol all pref 37\n"
                  "ip link del dev bbmirror0\n");
    into.target = BB_MIRROR_TO_GRE;
    check_removal(&into, host, "ip link del dev bbmirror1\n");
    g_autofree char *text = removal_text(&all_of_them, host, NULL);
    ck_assert(g_str_has_suffix(text, "ip link del dev bbmirror0\nip link del dev bbmirror1\n"));
}
END_TEST

// ---- loops -------------------------------------------------------------------------------------

static void check_way(const BbMirrorHost *host, const char *from, const char *direction,
                      const char *first, const char *expected)
{
    g_autoptr(BbMirror) mirror = mirror_of(from, "any", direction);
    g_autofree char *way = bb_mirror_find_loop(mirror, host, first);
    ck_assert_msg(g_strcmp0(way, expected) == 0, "%s %s to %s: %s", from, direction, first,
                  way ? way : "no loop");
}

START_TEST(loops)
{
    g_autoptr(BbMirrorHost) host = usual_host();
    check_way(host, "eth0", "both", "eth9", NULL);
    check_way(host, "va", "both", "vb", "vb -> va");
    check_way(host, "va", "egress", "vb", NULL);
    check_way(host, "eth1", "egress", "eth1.5", "eth1.5 -> eth1");
    check_way(host, "eth1", "ingress", "eth1.5", NULL);
    check_way(host, "eth2", "egress", "br0", "br0 -> eth2");
    check_way(host, "eth2", "egress", "vq", "vq -> vp -> eth2");
    check_way(host, "br0", "ingress", "vq", "vq -> vp -> br0");
    check_way(host, "br0", "egress", "vq", NULL);
    check_way(host, "eth0", "egress", "eth0", "eth0");
    check_way(host, "eth0", "ingress", "eth0", NULL);
    check_way(host, "eth0", "both", "nobody", NULL);
}
END_TEST

START_TEST(loops_through_mirrors)
{
    g_autoptr(BbMirrorHost) host = usual_host();
    add_filter(host, "eth9", BB_MIRROR_EGRESS, 3, "va", NULL);
    add_filter(host, "vb", BB_MIRROR_INGRESS, 3, "eth0", MARK "71");
    check_way(host, "eth0", "egress", "eth9", "eth9 -> va -> vb -> eth0");
    check_way(host, "eth0", "ingress", "eth9", NULL);
    add_filter(host, "eth0", BB_MIRROR_EGRESS, 3, "eth9", NULL); // a loop of others' own
    check_way(host, "eth1", "both", "eth9", NULL);
}
END_TEST

START_TEST(checks)
{
    static const struct {
        const char *from, *to, *underlay, *said;
    } cases[] = {
        {"eth7", "eth9", NULL, "there is no interface eth7; there are: eth0, eth1, eth9, va"},
        {"eth0", "eth7", NULL, "there is no interface eth7"},
        {"va", "vb", NULL,
         "copies that are sent to vb would be copied again, without end (vb -> va)"},
        {"eth0", "10.0.0.9", "eth0", "sent to 10.0.0.9 would be copied again, without end (eth0)"},
        {"eth0", "10.0.0.9", "eth9", NULL},
        {"eth0,eth1", "eth9", NULL, NULL},
    };
    g_autoptr(BbMirrorHost) host = usual_host();
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(BbMirror) mirror = mirror_of(cases[i].from, cases[i].to, "both");
        g_autoptr(GError) error = NULL;
        bool good = bb_mirror_check_linux(mirror, host, cases[i].underlay, &error);
        ck_assert_int_eq(good, cases[i].said == NULL);
        ck_assert_msg(good || strstr(error->message, cases[i].said), "%s",
                      good ? "" : error->message);
    }
}
END_TEST

START_TEST(lines_for_a_shell)
{
    static const char *const argv[] = {"tc", "a b", "x'y", "", "$HOME", "va0.5", NULL};
    g_autoptr(GString) out = g_string_new(NULL);
    bb_mirror_append_command(out, argv);
    ck_assert_str_eq(out->str, "tc 'a b' 'x'\\''y' '' '$HOME' va0.5");
}
END_TEST

TEST_MAIN("mirror_linux", what_a_host_has, a_filter_of_matchall, hostile_text, routes,
          with_and_without_matchall, undoing, what_is_there_is_used, a_qdisc_stays_ours,
          preferences, mirrors_that_lead_nowhere, a_bridge_is_warned_of, tunnels, refusals,
          only_what_is_ours, the_qdisc_goes_with_the_last, an_empty_preference_of_others,
          a_shared_preference, selections, tunnels_go, loops, loops_through_mirrors, checks,
          lines_for_a_shell)
