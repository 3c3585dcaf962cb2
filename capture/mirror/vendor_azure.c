// SPDX-License-Identifier: Apache-2.0
// In: a mirror. Out: a virtual network TAP of Azure, by the Azure CLI. Source: Microsoft Learn,
// "az network vnet tap create", "az network nic vtap-config create" (extension
// virtual-network-tap), "Virtual network TAP".
#include "capture/mirror/vendor.h"

#include <string.h>

// The parts of a resource's id that the commands ask for.
typedef struct Resource {
    char **parts; // "", subscriptions, S, resourceGroups, G, providers, Microsoft.Network, KIND, N
    const char *subscription, *group, *name;
} Resource;

static bool parse(const char *id, const char *kind, guint length, Resource *resource)
{
    static const char *const form[] = {
        "", "subscriptions", NULL, "resourceGroups", NULL, "providers", "Microsoft.Network"};
    resource->parts = g_strsplit(id, "/", 16);
    bool fits = g_strv_length(resource->parts) == length;
    for (guint i = 0; fits && i < length; i++)
        fits = i < G_N_ELEMENTS(form) && form[i] ? !g_ascii_strcasecmp(resource->parts[i], form[i])
                                                 : resource->parts[i][0] != '\0';
    if (!fits || (kind && g_ascii_strcasecmp(resource->parts[7], kind) != 0)) {
        g_clear_pointer(&resource->parts, g_strfreev);
        return false;
    }
    resource->subscription = resource->parts[2];
    resource->group = resource->parts[4];
    resource->name = resource->parts[8];
    return true;
}

static bool append_source(const char *id, GString *out, GError **error)
{
    Resource nic;
    if (!parse(id, "networkInterfaces", 9, &nic))
        return bb_mirror_refuse(error,
                                "--from takes ids of network interfaces, /subscriptions/S/"
                                "resourceGroups/G/providers/Microsoft.Network/networkInterfaces/N, "
                                "not '%s'",
                                id);
    g_string_append_printf(out,
                           "az network nic vtap-config create --subscription %s --resource-group "
                           "%s --nic-name %s --name " BB_MIRROR_SESSION " --vnet-tap \"$tap\"\n",
                           nic.subscription, nic.group, nic.name);
    g_strfreev(nic.parts);
    return true;
}

static bool append_tap(const char *id, GString *out, GError **error)
{
    Resource to;
    if (!parse(id, NULL, 11, &to))
        return bb_mirror_refuse(error,
                                "--to takes the id of the collector's IP configuration, .../"
                                "networkInterfaces/N/ipConfigurations/C or .../loadBalancers/N/"
                                "frontendIPConfigurations/C, not '%s'",
                                id);
    g_string_append_printf(out,
                           "tap=$(az network vnet tap create --subscription %s --resource-group %s "
                           "--name " BB_MIRROR_SESSION " --destination %s --port %u --query id "
                           "--output tsv)\n",
                           to.subscription, to.group, id, BB_MIRROR_PORT);
    g_strfreev(to.parts);
    return true;
}

static bool plan(const BbMirror *mirror, GString *out, GError **error)
{
    if (!bb_mirror_allow(mirror, 1u << BB_MIRROR_TO_INTERFACE,
                         "Azure wraps copies in VXLAN by itself and brings them to an IP "
                         "configuration: give its id by --to",
                         error) ||
        !bb_mirror_allow_no_id(mirror, "Azure chooses the VNI", error))
        return false;
    if (mirror->direction != BB_MIRROR_BOTH)
        return bb_mirror_refuse(error, "a TAP copies both directions: give --direction both");
    g_string_append(out,
                    "# a preview, in some regions only: learn.microsoft.com, Virtual network TAP\n"
                    "az extension add --name virtual-network-tap\n");
    if (!append_tap(mirror->to, out, error))
        return false;
    for (guint i = 0; mirror->from[i]; i++)
        if (!append_source(mirror->from[i], out, error))
            return false;
    g_string_append(out, "# to remove: az network nic vtap-config delete, then az network vnet tap "
                         "delete --ids \"$tap\"\n");
    return true;
}

const BbMirrorVendor bb_mirror_azure = {
    .name = "azure",
    .title = "Azure virtual network TAP (Azure CLI)",
    .comment = "#",
    .plan = plan,
};
