// SPDX-License-Identifier: Apache-2.0
// Files of names in all their forms: what they name, in which order; what is refused, with its
// place.
#include "merge/host_names.h"

#include "tests/unit/scratch.h"

#include <string.h>

static void take(const BbHost *host, gpointer user)
{
    char text[BB_ADDRESS_TEXT];
    GString *out = user;
    ck_assert_uint_gt(strlen(host->name), 0);
    ck_assert_uint_le(strlen(host->name), BB_HOST_NAME_MAX);
    if (host->port)
        bb_address_format_port(&host->address, host->port, text);
    else
        bb_address_format(&host->address, text);
    g_string_append_printf(out, "%s%s", out->len ? "\n" : "", text);
    if (host->prefix < 128)
        g_string_append_printf(out, "/%u", host->prefix);
    g_string_append_printf(out, " %s", host->name);
}

typedef struct Read {
    GString *out; // ADDRESS[:PORT][/BITS of 128] NAME, a line each
    BbHostNamesCounts counts;
    char *error; // NULL where it went well; "FILE" for the path
} Read;

static void read_clear(Read *read)
{
    g_string_free(read->out, TRUE);
    g_free(read->error);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Read, read_clear)

// A ' stands for a ", so that JSON can be read here.
static Read read_bytes(const void *bytes, gsize size, bool by_service)
{
    g_autofree char *copy = g_memdup2(bytes, size);
    for (gsize i = 0; i < size; i++)
        copy[i] = copy[i] == '\'' ? '"' : copy[i];
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(GError) error = NULL;
    const BbHostNamesOptions options = {.by_service = by_service};
    const char *path = scratch_file(scratch, "names", copy, size);
    Read read = {.out = g_string_new(NULL)};
    bool good = bb_host_names_read(path, &options, take, read.out, &read.counts, &error);
    ck_assert(good == !error);
    if (error) {
        ck_assert_ptr_nonnull(strstr(error->message, path));
        g_auto(GStrv) parts = g_strsplit(error->message, path, -1);
        read.error = g_strjoinv("FILE", parts);
    }
    return read;
}

static void expect_by(const char *text, bool by_service, guint64 nothing, const char *wanted)
{
    g_auto(Read) read = read_bytes(text, strlen(text), by_service);
    ck_assert_msg(!read.error, "%s", read.error);
    ck_assert_str_eq(read.out->str, wanted);
    ck_assert_uint_eq(read.counts.nothing, nothing);
    guint lines = *wanted != '\0';
    for (const char *at = wanted; (at = strchr(at, '\n')); at++)
        lines++;
    ck_assert_uint_eq(read.counts.names, lines);
}

static void expect(const char *text, guint64 nothing, const char *wanted)
{
    expect_by(text, false, nothing, wanted);
}

// What came before what is wrong is named nevertheless.
static void expect_refused(const char *text, const char *before, const char *wanted)
{
    g_auto(Read) read = read_bytes(text, strlen(text), false);
    ck_assert_msg(read.error, "taken: %s", text);
    ck_assert_msg(g_str_has_prefix(read.error, wanted), "%s\n  wanted: %s", read.error, wanted);
    ck_assert_str_eq(read.out->str, before);
}

// ---- hosts(5) -----------------------------------------------------------------------------------

START_TEST(lines_as_people_write_them)
{
    expect("\xef\xbb\xbf# names\r\n"
           "\r\n"
           "   \t\n"
           "10.0.0.1\tweb  web.local www # the front\r\n"
           "  10.0.0.2 caf\xc3\xa9#tail\n"
           "10.0.0.2:5432 orders\n"
           "[2001:db8::2]:80 www6\n"
           "[2001:db8::3] bracketed\n"
           "fe80::1%eth0 link\n"
           "10.9.8.7/8 ten\n"
           "2001:db8:ffff::/33 lab\n"
           "::ffff:10.0.0.0/104 mapped\n"
           "10.0.0.3 last-without-newline",
           0,
           "10.0.0.1 web\n10.0.0.2 caf\xc3\xa9\n10.0.0.2:5432 orders\n[2001:db8::2]:80 www6\n"
           "2001:db8::3 bracketed\nfe80::1 link\n10.0.0.0/104 ten\n2001:db8:8000::/33 lab\n"
           "10.0.0.0/104 mapped\n10.0.0.3 last-without-newline");
    expect("[::1]:80 first-in-brackets\n", 0, "[::1]:80 first-in-brackets");
    expect("", 0, "");
    expect("# nothing\n\n", 0, "");
}
END_TEST

START_TEST(malformed_lines)
{
    static const struct {
        const char *line, *reason;
    } cases[] = {
        {"web 10.0.0.1", "\"web\" is no IP address"},
        {"10.0.0.1", "there is no name after the address"},
        {"10.0.0.1 # only a comment", "there is no name after the address"},
        {"10.0.0 x", "\"10.0.0\" is no IP address"},
        {"10.0.0.256 x", "\"10.0.0.256\" is no IP address"},
        {"10.0.0.1:0 x", "\"0\" is no port from 1 to 65535"},
        {"10.0.0.1:65536 x", "\"65536\" is no port from 1 to 65535"},
        {"10.0.0.1: x", "\"\" is no port from 1 to 65535"},
        {"10.0.0.1:+80 x", "\"+80\" is no port from 1 to 65535"},
        {"10.0.0.1:000080 x", "\"000080\" is no port from 1 to 65535"},
        {"10.0.0.0/33 x", "\"33\" is no prefix length from 0 to 32"},
        {"10.0.0.0/ x", "\"\" is no prefix length from 0 to 32"},
        {"2001:db8::/129 x", "\"129\" is no prefix length from 0 to 128"},
        {"ten/8 x", "\"ten\" is no IP address"},
        {"10.0.0.1:80/24 x", "\"10.0.0.1:80\" is no IP address"},
        {"[2001:db8::1 x", "\"[2001:db8::1\" is no IP address"},
        {"[2001:db8::1]80 x", "\"[2001:db8::1]80\" is no IP address"},
        {"[2001:db8::1]:http x", "\"http\" is no port from 1 to 65535"},
        {"[10.0.0.1.2]:80 x", "\"[10.0.0.1.2]:80\" is no IP address"},
        {"web.example. 300 IN A 10.0.0.1", "\"web.example.\" is no IP address"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *text = g_strdup_printf("10.0.0.9 good\n# two\n%s\n", cases[i].line);
        g_autofree char *wanted =
            g_strdup_printf("FILE, line 3: %s; a line is an address (10.0.0.2, ", cases[i].reason);
        expect_refused(text, "10.0.0.9 good", wanted);
    }
}
END_TEST

START_TEST(lines_of_odd_bytes)
{
    g_auto(Read) nul = read_bytes("10.0.0.1 a\n10.0.0.2 b\0c\n10.0.0.3 d\n", 36, false);
    ck_assert_str_eq(nul.error, "FILE, line 2: the line has a NUL byte");

    g_autofree char *x = g_strnfill(((gsize)1 << 20) + 1, 'x');
    g_auto(Read) line = read_bytes(x, strlen(x), false);
    ck_assert_str_eq(line.error, "FILE, line 1: the line is longer than 1 MiB");

    x[BB_HOST_NAME_MAX + 1] = '\0';
    g_autofree char *text = g_strdup_printf("10.0.0.1 %s\n10.0.0.2 %s\n", x + 1, x);
    g_auto(Read) name = read_bytes(text, strlen(text), false);
    ck_assert(g_str_has_prefix(name.error, "FILE, line 2: the name is longer than 255 bytes; "));
    ck_assert_uint_eq(name.counts.names, 1);
}
END_TEST

START_TEST(files_that_cannot_be_read)
{
    const BbHostNamesOptions options = {0};
    BbHostNamesCounts counts;
    g_autoptr(GString) out = g_string_new(NULL);
    g_autoptr(GError) error = NULL;
    ck_assert(!bb_host_names_read("/nowhere/at/all", &options, take, out, &counts, &error));
    ck_assert_ptr_nonnull(strstr(error->message, "/nowhere/at/all"));
    ck_assert_uint_eq(counts.names + counts.nothing, 0);

    static const guint8 gzip[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
    g_auto(Read) cut = read_bytes(gzip, sizeof gzip, false);
    ck_assert_str_eq(cut.error,
                     "FILE: the gzip data breaks off at byte 10: a part of the names is missing");
}
END_TEST

// ---- the DNS ------------------------------------------------------------------------------------

START_TEST(answers_as_dig_prints_them)
{
    expect(
        "\n; <<>> DiG 9.18 <<>> www.example.com\n"
        ";; global options: +cmd\n"
        ";; ANSWER SECTION:\n"
        "WWW.Example.com.\t\t300\tIN\tCNAME\tlb.example.com.\n"
        "lb.example.com.\t60\tIN\tA\t192.0.2.1\n"
        "lb.example.com.\t60\tIN\tAAAA\t2001:db8::1\n"
        "*.example.com. 60 IN A 192.0.2.9\n"
        "txt.example.com. 60 IN TXT \"a ; b\" \"( has address 1.2.3.4\"\n"
        "1.2.0.192.in-addr.arpa. 60 IN PTR host1.example.com.\n"
        "b.a.9.8.7.6.5.0.4.0.0.0.3.0.0.0.2.0.0.0.1.0.0.0.0.0.0.0.1.2.3.4.ip6.arpa. 1 IN PTR v6.x.\n"
        "x.in-addr.arpa. 60 IN PTR not-an-address.example.com.\n"
        "_tcp.example.com. 60 IN PTR web._http._tcp.example.com.\n"
        ";; Query time: 1 msec\n",
        5,
        "192.0.2.1 lb.example.com\n2001:db8::1 lb.example.com\n192.0.2.1 host1.example.com\n"
        "4321:0:1:2:3:4:567:89ab v6.x");
}
END_TEST

START_TEST(zones)
{
    expect("$TTL 1h\n"
           "$ORIGIN Example.\n"
           "@ IN SOA ns root ( 1 ; serial\n"
           "     7200 3600 IN A 1.2.3.4\n"
           "     1209600 3600 )\n"
           "  IN NS ns\n"
           "ns A 192.0.2.2\n"
           "  30m AAAA 2001:db8::2\n"
           "  A 192.0.2.3 ; of ns, too\n"
           "web IN 300 A 192.0.2.4\n"
           "out.example.org. 300 A 192.0.2.5\n"
           "@ A 192.0.2.6\n"
           "odd TYPE65 \\# 0\n",
           3,
           "192.0.2.2 ns.example\n2001:db8::2 ns.example\n192.0.2.3 ns.example\n"
           "192.0.2.4 web.example\n192.0.2.5 out.example.org\n192.0.2.6 example");
}
END_TEST

START_TEST(answers_as_host_prints_them)
{
    expect("Using domain server:\nName: 192.0.2.53\nAddress: 192.0.2.53#53\nAliases: \n\n"
           "www.example.com is an alias for lb.example.com.\n"
           "lb.example.com has address 192.0.2.1\r\n"
           "lb.example.com has IPv6 address 2001:db8::1\n"
           "lb.example.com mail is handled by 10 mx.example.com.\n"
           "2.2.0.192.in-addr.arpa domain name pointer ns.example.com.\n"
           "Host nope.example.com not found: 3(NXDOMAIN)\n",
           7, "192.0.2.1 lb.example.com\n2001:db8::1 lb.example.com\n192.0.2.2 ns.example.com");
}
END_TEST

START_TEST(malformed_records)
{
    static const struct {
        const char *line, *reason;
    } cases[] = {
        {"web 300 IN", "\"web\" is followed by no type of record"},
        {"web 300 IN 300 A 10.0.0.1", "\"web\" is followed by no type of record"},
        {"web 300 IN FOO 10.0.0.1", "\"web\" is followed by no type of record"},
        {"web 300 IN A", "\"\" is no IP address"},
        {"web 300 IN A 10.0.0.256", "\"10.0.0.256\" is no IP address"},
        {"web has address 10.0.0", "\"10.0.0\" is no IP address"},
        {"10.0.0.1 web", "\"10.0.0.1\" is followed by no type of record"},
        {"$INCLUDE other", "other files are not read: give them by themselves"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *text = g_strdup_printf("a. 1 IN A 10.0.0.9\n; two\n%s\n", cases[i].line);
        g_autofree char *wanted =
            g_strdup_printf("FILE, line 3: %s; a line is a record as dig ", cases[i].reason);
        expect_refused(text, "10.0.0.9 a", wanted);
    }
    expect_refused("$TTL 300\n  IN A 10.0.0.1\n", "",
                   "FILE, line 2: there is no name in front of the record; ");
}
END_TEST

// ---- Kubernetes ---------------------------------------------------------------------------------

#define BEGIN(kind, name) \
    "{'apiVersion':'v1','kind':'" kind "','metadata':{'namespace':'shop','name':'" name "'"
#define OWNER(kind, name)                                                       \
    ",'labels':{'pod-template-hash':'5d8f'},'ownerReferences':[{'kind':'Node'," \
    "'name':'x'},{'kind':'" kind "','name':'" name "','controller':true}]"
#define AT(address) "},'spec':{},'status':{'podIP':'" address "'}}"
#define LIST "{'apiVersion':'v1','items':["
#define END "],'kind':'List'}"

#define CART_STATUS                                                                      \
    "},'spec':{},'status':{'phase':'Running','podIP':'10.1.0.5','hostIP':'192.168.0.1'," \
    "'podIPs':[{'ip':'10.1.0.5'},{'ip':'fd00::5'}]}}"
#define CART_POD BEGIN("Pod", "cart-5d8f-x2") OWNER("ReplicaSet", "cart-5d8f") CART_STATUS
#define DB_POD BEGIN("Pod", "db-0") OWNER("StatefulSet", "db") AT("10.1.0.6")
#define SYNC_POD BEGIN("Pod", "sync-28391820-z") OWNER("Job", "sync-28391820") AT("10.1.0.7")
#define BARE_POD BEGIN("Pod", "bare") AT("10.1.0.8")

static const char four_pods[] = CART_POD "," DB_POD "," SYNC_POD "," BARE_POD;

static void expect_list(const char *first, const char *second, bool by_service, guint64 nothing,
                        const char *wanted)
{
    g_autofree char *text =
        g_strconcat(LIST, first, *first && *second ? "," : "", second, END, NULL);
    expect_by(text, by_service, nothing, wanted);
}

START_TEST(pods)
{
    expect_list(four_pods, "", false, 0,
                "10.1.0.5 shop/cart-5d8f-x2\nfd00::5 shop/cart-5d8f-x2\n10.1.0.6 shop/db-0\n"
                "10.1.0.7 shop/sync-28391820-z\n10.1.0.8 shop/bare");
    expect_list(four_pods, "", true, 0,
                "10.1.0.5 shop/cart\nfd00::5 shop/cart\n10.1.0.6 shop/db\n10.1.0.7 shop/sync\n"
                "10.1.0.8 shop/bare");
    expect("\n" BEGIN("Pod", "one") AT("10.1.0.8"), 0, "10.1.0.8 shop/one");
    // A name that does not end in what is to be cut off stays.
    expect_by(BEGIN("Pod", "x") OWNER("ReplicaSet", "5d8f") AT("10.1.0.1"), true, 0,
              "10.1.0.1 shop/5d8f");
    expect_by(BEGIN("Pod", "x") OWNER("Job", "job-7") AT("10.1.0.1"), true, 0,
              "10.1.0.1 shop/job-7");
    expect_by(BEGIN("Pod", "x") OWNER("DaemonSet", "log-5d8f") AT("10.1.0.1"), true, 0,
              "10.1.0.1 shop/log-5d8f");
}
END_TEST

// It has the host's address, which is the node's; its ports are its own.
START_TEST(pods_in_the_network_of_their_host)
{
    static const char proxy[] = BEGIN(
        "Pod",
        "proxy") "},'spec':{'hostNetwork':true,'containers':[{'ports':[{'containerPort':9100},"
                 "{'containerPort':70000}]},{}]},"
                 "'status':{'podIP':'192.168.0.1','hostIP':'192.168.0.1'}}";
    static const char quiet[] =
        BEGIN("Pod", "quiet") "},'spec':{'hostNetwork':true},'status':{'podIP':'192.168.0.1'}}";
    static const char web[] = BEGIN(
        "Pod",
        "web") "},'spec':{'containers':[{'ports':[{'containerPort':80,'hostPort':8080},"
               "{'containerPort':81}]}]},'status':{'podIP':'10.1.0.9','hostIP':'192.168.0.1'}}";
    expect(proxy, 0, "192.168.0.1:9100 shop/proxy");
    expect(quiet, 1, "");
    expect(web, 0, "10.1.0.9 shop/web\n192.168.0.1:8080 shop/web");
}
END_TEST

START_TEST(pods_that_name_nothing)
{
    static const char *const nothing[] = {
        BEGIN("Pod", "done") "},'status':{'phase':'Succeeded','podIP':'10.1.0.1'}}",
        BEGIN("Pod", "gone") "},'status':{'phase':'Failed','podIP':'10.1.0.2'}}",
        BEGIN("Pod", "new") "},'status':{'phase':'Pending'}}",
        BEGIN("Pod", "") "},'status':{'podIP':'10.1.0.3'}}",
        BEGIN("Pod", "odd") "},'status':{'podIP':'10.1.0','podIPs':7}}",
        BEGIN("ConfigMap", "other") "}}",
    };
    for (gsize i = 0; i < G_N_ELEMENTS(nothing); i++)
        expect_list(nothing[i], "", false, 1, "");
}
END_TEST

START_TEST(services)
{
    static const char cart[] =
        BEGIN("Service",
              "cart") "},'spec':{'clusterIP':'10.96.0.7','clusterIPs':['10.96.0.7','fd00:1::7'],"
                      "'externalIPs':['192.0.2.7']},'status':{'loadBalancer':{'ingress':["
                      "{'ip':'203.0.113.7'},{'hostname':'lb.example'}]}}}";
    expect(cart, 0,
           "10.96.0.7 shop/cart\nfd00:1::7 shop/cart\n192.0.2.7 shop/cart\n203.0.113.7 shop/cart");
    expect_list(BEGIN("Service", "old") "},'spec':{'clusterIP':'10.96.0.8'}}",
                BEGIN("Service", "headless") "},'spec':{'clusterIPs':['None']}}", false, 1,
                "10.96.0.8 shop/old");
}
END_TEST

#define TARGET(pod) "'targetRef':{'kind':'Pod','name':'" pod "','namespace':'shop'}"

static const char endpoints_of_cart[] =
    BEGIN("Endpoints", "cart-svc") "},'subsets':[{'addresses':[{'ip':'10.1.0.5'," TARGET(
        "cart-5d8f-x2") "},"
                        "{'ip':'10.1.0.99'," TARGET("y") "},{'ip':'192.168.9.9'}],"
                                                         "'ports':[{'port':8080},{'port':0}]}]}";

// What pods say counts, before and after; what is outside of the cluster has its ports only.
START_TEST(endpoints)
{
    expect_list(endpoints_of_cart, four_pods, false, 0,
                "192.168.9.9:8080 shop/cart-svc\n10.1.0.5 shop/cart-5d8f-x2\n"
                "fd00::5 shop/cart-5d8f-x2\n10.1.0.6 shop/db-0\n10.1.0.7 shop/sync-28391820-z\n"
                "10.1.0.8 shop/bare\n10.1.0.99 shop/y");
    expect_list(four_pods, endpoints_of_cart, true, 0,
                "10.1.0.5 shop/cart\nfd00::5 shop/cart\n10.1.0.6 shop/db\n10.1.0.7 shop/sync\n"
                "10.1.0.8 shop/bare\n192.168.9.9:8080 shop/cart-svc\n10.1.0.99 shop/cart-svc");
    // The address of a pod in the network of its host is not the pod's.
    expect_list(BEGIN("Pod", "x") "},'spec':{'hostNetwork':true},'status':{'podIP':'10.1.0.99'}}",
                endpoints_of_cart, false, 1,
                "192.168.9.9:8080 shop/cart-svc\n10.1.0.5 shop/cart-5d8f-x2");
}
END_TEST

START_TEST(endpoint_slices)
{
    static const char slice[] =
        BEGIN("EndpointSlice",
              "cart-z7") ",'labels':{'kubernetes.io/service-name':'cart'}},'ports':[{'port':80}],"
                         "'endpoints':[{'addresses':['10.1.0.3']," TARGET(
                             "y") "},"
                                  "{'addresses':['10.2.0.3','nope']},{}]}";
    expect(slice, 0, "10.2.0.3:80 shop/cart\n10.1.0.3 shop/y");
}
END_TEST

START_TEST(nodes)
{
    static const char node[] =
        "{'apiVersion':'v1','kind':'Node','metadata':{'name':'worker1'},'status':{'addresses':["
        "{'type':'InternalIP','address':'192.168.0.1'},"
        "{'type':'Hostname','address':'10.0.0.1'},"
        "{'type':'ExternalIP','address':'203.0.113.1'}]}}";
    expect(node, 0, "192.168.0.1 worker1\n203.0.113.1 worker1");
}
END_TEST

// ---- Docker -------------------------------------------------------------------------------------

#define CONTAINER                                                                               \
    "[{'Id':'0123','Name':'/shop-web-1','Config':{'Labels':{'com.docker.compose.service':"      \
    "'web'}},'NetworkSettings':{'IPAddress':'172.17.0.9','Ports':{'80/tcp':["                   \
    "{'HostIp':'0.0.0.0','HostPort':'8080'},{'HostIp':'192.0.2.1','HostPort':'8081'},"          \
    "{'HostIp':'::','HostPort':'8080'},{'HostIp':'192.0.2.1','HostPort':'x'}],'443/tcp':null}," \
    "'Networks':{'front':{'IPAddress':'172.18.0.2','GlobalIPv6Address':'fd00::2'},"             \
    "'back':{'IPAddress':'172.19.0.2','GlobalIPv6Address':''}}}}"
#define NETWORKS(networks) "'NetworkSettings':{'Networks':{" networks "}}}"

START_TEST(containers)
{
    expect(CONTAINER "]", 0,
           "172.18.0.2 shop-web-1\nfd00::2 shop-web-1\n172.19.0.2 shop-web-1\n"
           "192.0.2.1:8081 shop-web-1");
    expect_by(CONTAINER "]", true, 0,
              "172.18.0.2 web\nfd00::2 web\n172.19.0.2 web\n192.0.2.1:8081 web");
    expect_by(
        "[{'Name':'/t.1','Config':{'Labels':{'com.docker.swarm.service.name':'shop_t'}}," NETWORKS(
            "'n':{'IPAddress':'10.0.1.2'}") "]",
        true, 0, "10.0.1.2 shop_t");
    // Old ones have the address of the only network here.
    expect("{'Name':'/old','NetworkSettings':{'IPAddress':'172.17.0.2'}}", 0, "172.17.0.2 old");
    // In the network of the host; without any name; without a name of its own.
    expect("[{'Name':'/host'," NETWORKS("'host':{'IPAddress':''}") "]", 1, "");
    expect("[{'Name':'/','NetworkSettings':{'IPAddress':'172.17.0.3'}}]", 1, "");
    expect("[{'Id':'77','NetworkSettings':{'IPAddress':'172.17.0.4'}}]", 0, "172.17.0.4 77");
}
END_TEST

// ---- Consul -------------------------------------------------------------------------------------

START_TEST(catalogues)
{
    static const char service[] =
        "[{'Node':'n1','Address':'10.0.0.1','TaggedAddresses':{'lan':'10.0.0.1',"
        "'wan':'198.51.100.1'},'ServiceID':'web-1','ServiceName':'web','ServiceAddress':'',"
        "'ServicePort':8000},"
        "{'Node':'n2','Address':'10.0.0.2','ServiceID':'web-2','ServiceName':'web',"
        "'ServiceAddress':'172.16.0.2','ServicePort':8000},"
        "{'Node':'n3','Address':'db.example','ServiceName':'db','ServicePort':0}]";
    expect(service, 1,
           "10.0.0.1:8000 n1/web-1\n10.0.0.1 n1\n198.51.100.1 n1\n172.16.0.2 n2/web-2\n"
           "10.0.0.2 n2");
    expect_by(service, true, 1,
              "10.0.0.1:8000 web\n10.0.0.1 n1\n198.51.100.1 n1\n172.16.0.2 web\n10.0.0.2 n2");
    expect("[{'ID':'40e4','Node':'foobar','Address':'192.168.10.10','Meta':{}}]", 0,
           "192.168.10.10 foobar");
}
END_TEST

// ---- JSON ---------------------------------------------------------------------------------------

START_TEST(json_that_names_nothing)
{
    expect("[]", 0, "");
    expect("[ ]\n", 0, "");
    expect(LIST END, 0, "");
    expect("\xef\xbb\xbf  \n" BEGIN("Secret", "s") "}}", 1, "");
}
END_TEST

START_TEST(json_that_is_no_names)
{
    const char *none = "FILE:1: this is no file of names: JSON with names is that of kubectl get";
    expect_refused("{}", "", none);
    expect_refused("{'kind':'Pod'}", "", none);
    expect_refused("{'kind':7,'apiVersion':'v1'}", "", none);
    expect_refused("{'Node':'n','Address':''}", "", none);
    expect_refused("[[[1]]]", "", none);
    expect_refused("[{'NetworkSettings':[]}]", "", none);
    expect_refused("['x']", "", "FILE:1: not JSON: an object is expected here");
    expect_refused(CONTAINER ",\n{'x':1}]",
                   "172.18.0.2 shop-web-1\nfd00::2 shop-web-1\n172.19.0.2 shop-web-1\n"
                   "192.0.2.1:8081 shop-web-1",
                   "FILE:2: this is no file of names");
    expect_refused("{'a':}", "", "FILE:1: not JSON: ");
    expect_refused("{'apiVersion':", "", "FILE:1: ends in its first value");
}
END_TEST

START_TEST(json_that_is_cut)
{
    g_auto(Read) cut = read_bytes(CONTAINER ",{'Name':'/two", sizeof CONTAINER + 13, false);
    ck_assert_ptr_nonnull(strstr(cut.error, "FILE ends in the value that begins in line 1"));
    ck_assert_ptr_nonnull(strstr(cut.error, ": a part of the names is missing"));
    ck_assert_uint_eq(cut.counts.names, 4);
}
END_TEST

// Cut at every byte: names are those of the whole, as far as they go, or there is an error.
START_TEST(every_form_cut_at_every_byte)
{
    static const char *const wholes[] = {
        "10.0.0.1 a\n[2001:db8::2]:80 b\n10.0.0.0/8 c\n",
        "$ORIGIN x.\na 300 IN A 10.0.0.1\n  TXT ( 'a'\n)\n1.0.0.10.in-addr.arpa. PTR b.\n",
        LIST BEGIN("Pod", "cart-5d8f-x2") OWNER("ReplicaSet", "cart-5d8f") AT("10.1.0.5") END,
        CONTAINER "]",
    };
    for (gsize i = 0; i < G_N_ELEMENTS(wholes); i++) {
        g_auto(Read) whole = read_bytes(wholes[i], strlen(wholes[i]), true);
        for (gsize size = 0; size <= strlen(wholes[i]); size++) {
            g_auto(Read) cut = read_bytes(wholes[i], size, true);
            ck_assert_uint_le(cut.counts.names, whole.counts.names);
            ck_assert(i < 2 || size == 0 || size == strlen(wholes[i]) || cut.error);
        }
    }
}
END_TEST

TEST_MAIN("host_names", lines_as_people_write_them, malformed_lines, lines_of_odd_bytes,
          files_that_cannot_be_read, answers_as_dig_prints_them, zones, answers_as_host_prints_them,
          malformed_records, pods, pods_in_the_network_of_their_host, pods_that_name_nothing,
          services, endpoints, endpoint_slices, nodes, containers, catalogues,
          json_that_names_nothing, json_that_is_no_names, json_that_is_cut,
          every_form_cut_at_every_byte)
