// SPDX-License-Identifier: Apache-2.0
// In: objects as kubectl get -o json prints them: pods, services, endpoints, endpoint slices,
// nodes. Out: which address is which. Members are those of the Kubernetes API v1 and discovery/v1.
//
// A pod is NAMESPACE/POD, by service NAMESPACE/ what owns it. A service's addresses are those that
// its clients see: NAMESPACE/SERVICE. A pod in the network of its host shares the host's address:
// it has its ports, and the address is the node's. Endpoints say only what no pod says.
#include "merge/host_form.h"
#include "merge/member.h"

#define DIGITS "0123456789"
#define TIMES 8u // digits of the time at the end of a job's name, at least

static bool is_object(JsonObject *object)
{
    return bb_member_text(object, "kind") && bb_member_text(object, "apiVersion");
}

static guint16 port_of(JsonObject *object, const char *member)
{
    gint64 port = 0;
    return bb_member_integer(object, member, &port) && port > 0 && port <= G_MAXUINT16
               ? (guint16)port
               : 0;
}

// NAMESPACE/NAME; yours.
static char *in_namespace(JsonObject *metadata, const char *name)
{
    const char *space = bb_member_text(metadata, "namespace");
    return name && space ? g_strdup_printf("%s/%s", space, name) : g_strdup(name);
}

// ---- who owns a pod -----------------------------------------------------------------------------

// Cuts "-SUFFIX" off the end.
static void cut(char *name, const char *suffix)
{
    gsize length = strlen(name), cut = strlen(suffix) + 1;
    if (length > cut && g_str_has_suffix(name, suffix) && name[length - cut] == '-')
        name[length - cut] = '\0';
}

// A job that a CronJob has made: its name ends in the time, in minutes since 1970.
static void cut_time(char *name)
{
    char *dash = strrchr(name, '-');
    if (dash && dash > name && strlen(dash + 1) >= TIMES &&
        strspn(dash + 1, DIGITS) == strlen(dash + 1))
        *dash = '\0';
}

static JsonObject *controller_of(JsonObject *metadata)
{
    JsonArray *owners = bb_member_array(metadata, "ownerReferences");
    for (guint i = 0; owners && i < json_array_get_length(owners); i++) {
        JsonObject *owner = bb_element_object(owners, i);
        JsonNode *controls = bb_member_node(owner, "controller");
        if (controls && JSON_NODE_HOLDS_VALUE(controls) && json_node_get_boolean(controls))
            return owner;
    }
    return NULL;
}

// The workload of a pod: of a ReplicaSet the Deployment, of a timed Job the CronJob. Yours.
static char *workload(JsonObject *metadata)
{
    JsonObject *owner = controller_of(metadata);
    const char *kind = bb_member_text(owner, "kind"), *name = bb_member_text(owner, "name");
    if (!kind || !name)
        return g_strdup(bb_member_text(metadata, "name"));
    char *copy = g_strdup(name);
    JsonObject *labels = bb_member_object(metadata, "labels");
    const char *hash = bb_member_text(labels, "pod-template-hash");
    if (strcmp(kind, "ReplicaSet") == 0 && hash)
        cut(copy, hash);
    else if (strcmp(kind, "Job") == 0)
        cut_time(copy);
    return copy;
}

// ---- pods ---------------------------------------------------------------------------------------

// Ports of containers: those of the host that lead to the pod, and for a pod in its host's network
// all that are declared.
static void name_ports(BbHostReading *reading, JsonObject *spec, const char *host, bool shared,
                       const char *name)
{
    JsonArray *containers = bb_member_array(spec, "containers");
    for (guint i = 0; containers && i < json_array_get_length(containers); i++) {
        JsonArray *ports = bb_member_array(bb_element_object(containers, i), "ports");
        for (guint j = 0; ports && j < json_array_get_length(ports); j++) {
            JsonObject *port = bb_element_object(ports, j);
            guint16 number = port_of(port, "hostPort");
            if (!number && shared)
                number = port_of(port, "containerPort");
            if (number)
                (void)bb_host_reading_name(reading, host, number, name);
        }
    }
}

static void name_pod_addresses(BbHostReading *reading, JsonObject *status, bool shared,
                               const char *name)
{
    JsonArray *more = bb_member_array(status, "podIPs");
    const char *address = bb_member_text(status, "podIP");
    for (guint i = 0, count = more ? json_array_get_length(more) : 0; i <= count; i++) {
        if (i > 0) // the first of the list is podIP again
            address = bb_member_text(bb_element_object(more, i - 1), "ip");
        if (i == 1 && g_strcmp0(address, bb_member_text(status, "podIP")) == 0)
            continue;
        if (shared)
            bb_host_reading_settle(reading, address);
        else
            (void)bb_host_reading_name(reading, address, 0, name);
    }
}

static void take_pod(BbHostReading *reading, JsonObject *pod)
{
    JsonObject *metadata = bb_member_object(pod, "metadata");
    JsonObject *spec = bb_member_object(pod, "spec"), *status = bb_member_object(pod, "status");
    const char *phase = bb_member_text(status, "phase");
    if (phase && (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0))
        return; // its address may be another's by now
    JsonNode *network = bb_member_node(spec, "hostNetwork");
    bool shared = network && JSON_NODE_HOLDS_VALUE(network) && json_node_get_boolean(network);
    g_autofree char *owner = reading->options->by_service
                                 ? workload(metadata)
                                 : g_strdup(bb_member_text(metadata, "name"));
    g_autofree char *name = in_namespace(metadata, owner);
    if (!name)
        return;
    const char *host = bb_member_text(status, "hostIP");
    if (shared && !host)
        host = bb_member_text(status, "podIP");
    name_pod_addresses(reading, status, shared, name);
    name_ports(reading, spec, host, shared, name);
}

// ---- services -----------------------------------------------------------------------------------

// Names each text of a list ("None" is no address).
static void name_list(BbHostReading *reading, JsonArray *list, const char *name)
{
    for (guint i = 0; list && i < json_array_get_length(list); i++) {
        g_autofree char *address = bb_node_text(json_array_get_element(list, i));
        (void)bb_host_reading_name(reading, address, 0, name);
    }
}

static void take_service(BbHostReading *reading, JsonObject *service)
{
    JsonObject *metadata = bb_member_object(service, "metadata");
    JsonObject *spec = bb_member_object(service, "spec");
    JsonObject *balancer = bb_member_object(bb_member_object(service, "status"), "loadBalancer");
    JsonArray *ingress = bb_member_array(balancer, "ingress");
    JsonArray *addresses = bb_member_array(spec, "clusterIPs");
    g_autofree char *name = in_namespace(metadata, bb_member_text(metadata, "name"));
    if (!addresses || json_array_get_length(addresses) == 0)
        (void)bb_host_reading_name(reading, bb_member_text(spec, "clusterIP"), 0, name);
    name_list(reading, addresses, name);
    name_list(reading, bb_member_array(spec, "externalIPs"), name);
    for (guint i = 0; ingress && i < json_array_get_length(ingress); i++)
        (void)bb_host_reading_name(reading, bb_member_text(bb_element_object(ingress, i), "ip"), 0,
                                   name);
}

// ---- endpoints ----------------------------------------------------------------------------------

// An address of a service: a pod's, or that of something outside, which has the service's name at
// its ports only.
static void defer_endpoint(BbHostReading *reading, JsonObject *target, const char *address,
                           JsonArray *ports, const char *service)
{
    const char *kind = bb_member_text(target, "kind");
    if (kind && strcmp(kind, "Pod") == 0) {
        g_autofree char *pod = in_namespace(target, bb_member_text(target, "name"));
        bb_host_reading_defer(reading, address, 0, reading->options->by_service ? service : pod);
        return;
    }
    for (guint i = 0; ports && i < json_array_get_length(ports); i++) {
        guint16 port = port_of(bb_element_object(ports, i), "port");
        if (port)
            (void)bb_host_reading_name(reading, address, port, service);
    }
}

static void take_endpoints(BbHostReading *reading, JsonObject *endpoints)
{
    JsonObject *metadata = bb_member_object(endpoints, "metadata");
    JsonArray *subsets = bb_member_array(endpoints, "subsets");
    g_autofree char *name = in_namespace(metadata, bb_member_text(metadata, "name"));
    for (guint i = 0; subsets && i < json_array_get_length(subsets); i++) {
        JsonObject *subset = bb_element_object(subsets, i);
        JsonArray *ports = bb_member_array(subset, "ports");
        JsonArray *addresses = bb_member_array(subset, "addresses");
        for (guint j = 0; addresses && j < json_array_get_length(addresses); j++) {
            JsonObject *address = bb_element_object(addresses, j);
            defer_endpoint(reading, bb_member_object(address, "targetRef"),
                           bb_member_text(address, "ip"), ports, name);
        }
    }
}

static void take_slice(BbHostReading *reading, JsonObject *slice)
{
    JsonObject *metadata = bb_member_object(slice, "metadata");
    JsonObject *labels = bb_member_object(metadata, "labels");
    JsonArray *endpoints = bb_member_array(slice, "endpoints");
    JsonArray *ports = bb_member_array(slice, "ports");
    const char *service = bb_member_text(labels, "kubernetes.io/service-name");
    if (!service)
        service = bb_member_text(metadata, "name");
    g_autofree char *name = in_namespace(metadata, service);
    for (guint i = 0; endpoints && i < json_array_get_length(endpoints); i++) {
        JsonObject *endpoint = bb_element_object(endpoints, i);
        JsonArray *addresses = bb_member_array(endpoint, "addresses");
        for (guint j = 0; addresses && j < json_array_get_length(addresses); j++) {
            g_autofree char *address = bb_node_text(json_array_get_element(addresses, j));
            defer_endpoint(reading, bb_member_object(endpoint, "targetRef"), address, ports, name);
        }
    }
}

static void take_node(BbHostReading *reading, JsonObject *node)
{
    const char *name = bb_member_text(bb_member_object(node, "metadata"), "name");
    JsonArray *addresses = bb_member_array(bb_member_object(node, "status"), "addresses");
    for (guint i = 0; addresses && i < json_array_get_length(addresses); i++) {
        JsonObject *address = bb_element_object(addresses, i);
        const char *type = bb_member_text(address, "type");
        if (type && g_str_has_suffix(type, "IP"))
            (void)bb_host_reading_name(reading, bb_member_text(address, "address"), 0, name);
    }
}

// ---- the form -----------------------------------------------------------------------------------

static void take_object(BbHostReading *reading, JsonObject *object)
{
    static const struct {
        const char *kind;
        void (*take)(BbHostReading *, JsonObject *);
    } kinds[] = {
        {"Pod", take_pod},
        {"Service", take_service},
        {"Endpoints", take_endpoints},
        {"EndpointSlice", take_slice},
        {"Node", take_node},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (strcmp(bb_member_text(object, "kind"), kinds[i].kind) == 0)
            kinds[i].take(reading, object);
}

const BbHostJsonForm bb_host_form_kubernetes = {
    .wanted = "that of kubectl get pods,services,endpoints -o json",
    .is_one = is_object,
    .take = take_object,
};
