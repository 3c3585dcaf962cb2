// SPDX-License-Identifier: Apache-2.0
// In: a mirror. Out: Traffic Mirroring of Amazon VPC, by the AWS CLI. Source: AWS, "Traffic
// Mirroring" (docs.aws.amazon.com/vpc/latest/mirroring: quotas, limitations) and the "AWS CLI
// Command Reference", ec2 create-traffic-mirror-target, -filter, -filter-rule, -session.
#include "capture/mirror/vendor.h"

#include <string.h>

// What --to can be, and the option that takes it.
static const struct {
    const char *prefix, *option;
} kinds[] = {
    {"eni-", "network-interface-id"},
    {"arn:", "network-load-balancer-arn"},
    {"vpce-", "gateway-load-balancer-endpoint-id"},
};

static bool check(const BbMirror *mirror, const char **option, GError **error)
{
    if (!bb_mirror_allow(mirror, 1u << BB_MIRROR_TO_INTERFACE,
                         "AWS wraps copies in VXLAN by itself and brings them to an interface: "
                         "give --to eni-..., the collector's",
                         error))
        return false;
    for (guint i = 0; mirror->from[i]; i++)
        if (!g_str_has_prefix(mirror->from[i], "eni-"))
            return bb_mirror_refuse(error, "--from takes network interfaces, eni-..., not '%s'",
                                    mirror->from[i]);
    for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (g_str_has_prefix(mirror->to, kinds[i].prefix))
            *option = kinds[i].option;
    return *option || bb_mirror_refuse(error,
                                       "--to takes eni-..., the arn: of a network load balancer, "
                                       "or vpce-... of a gateway load balancer, not '%s'",
                                       mirror->to);
}

static void append_rule(const char *direction, GString *out)
{
    g_string_append_printf(out,
                           "aws ec2 create-traffic-mirror-filter-rule --traffic-mirror-filter-id "
                           "\"$filter\" --traffic-direction %s --rule-number 100 --rule-action "
                           "accept --source-cidr-block 0.0.0.0/0 --destination-cidr-block "
                           "0.0.0.0/0\n",
                           direction);
}

static bool plan(const BbMirror *mirror, GString *out, GError **error)
{
    const char *option = NULL;
    if (!check(mirror, &option, error))
        return false;
    g_string_append(out, "# VXLAN to UDP port 4789 of the target: open it there\n"
                         "# never mirrored: ARP, DHCP, NTP, instance metadata; at most 3 sessions "
                         "an interface\n"
                         "# the rules are for IPv4: IPv6 needs rules of its own\n");
    g_string_append_printf(out,
                           "target=$(aws ec2 create-traffic-mirror-target --%s %s --query "
                           "TrafficMirrorTarget.TrafficMirrorTargetId --output text)\n"
                           "filter=$(aws ec2 create-traffic-mirror-filter --query "
                           "TrafficMirrorFilter.TrafficMirrorFilterId --output text)\n",
                           option, mirror->to);
    if (mirror->direction & BB_MIRROR_INGRESS)
        append_rule("ingress", out);
    if (mirror->direction & BB_MIRROR_EGRESS)
        append_rule("egress", out);
    for (guint i = 0; mirror->from[i]; i++) {
        g_string_append_printf(out,
                               "aws ec2 create-traffic-mirror-session --network-interface-id %s "
                               "--traffic-mirror-target-id \"$target\" --traffic-mirror-filter-id "
                               "\"$filter\" --session-number %u",
                               mirror->from[i], mirror->session);
        if (mirror->has_id)
            g_string_append_printf(out, " --virtual-network-id %u", mirror->id);
        g_string_append_c(out, '\n');
    }
    g_string_append(out, "# to remove: aws ec2 delete-traffic-mirror-session, -filter, -target\n");
    return true;
}

const BbMirrorVendor bb_mirror_aws = {
    .name = "aws",
    .title = "Amazon VPC Traffic Mirroring (AWS CLI)",
    .comment = "#",
    .sessions = 32766,
    .plan = plan,
};
