// SPDX-License-Identifier: Apache-2.0
// In: a command code. Out: its name.
#include "capture/protocols/diameter_command.h"

#include "capture/protocols/label.h"

static const struct {
    guint32 code;
    const char *name;
} commands[] = {
    {257, "Capabilities-Exchange"},
    {258, "Re-Auth"},
    {260, "AA-Mobile-Node"},
    {262, "Home-Agent-MIP"},
    {265, "AA"},
    {268, "Diameter-EAP"},
    {271, "Accounting"},
    {272, "Credit-Control"},
    {274, "Abort-Session"},
    {275, "Session-Termination"},
    {280, "Device-Watchdog"},
    {282, "Disconnect-Peer"},
    {283, "User-Authorization"}, // 283 to 288: RFC 4740
    {284, "Server-Assignment"},
    {285, "Location-Info"},
    {286, "Multimedia-Auth"},
    {287, "Registration-Termination"},
    {288, "Push-Profile"},
    {300, "User-Authorization"}, // 300 to 309: 3GPP Cx and Sh
    {301, "Server-Assignment"},
    {302, "Location-Info"},
    {303, "Multimedia-Auth"},
    {304, "Registration-Termination"},
    {305, "Push-Profile"},
    {306, "User-Data"},
    {307, "Profile-Update"},
    {308, "Subscribe-Notifications"},
    {309, "Push-Notification"},
    {316, "Update-Location"}, // 316 to 324: 3GPP S6a
    {317, "Cancel-Location"},
    {318, "Authentication-Information"},
    {319, "Insert-Subscriber-Data"},
    {320, "Delete-Subscriber-Data"},
    {321, "Purge-UE"},
    {322, "Reset"},
    {323, "Notify"},
    {324, "ME-Identity-Check"},
    {325, "MIP6"}, // RFC 5778
    {8388620, "Provide-Location"},
    {8388621, "Location-Report"},
    {8388622, "LCS-Routing-Info"},
    {8388635, "Spending-Limit"},
    {8388636, "Spending-Status-Notification"},
};

static const char *name_of(guint32 command)
{
    for (gsize i = 0; i < G_N_ELEMENTS(commands); i++)
        if (commands[i].code == command)
            return commands[i].name;
    return NULL;
}

bool bb_diameter_command_is_known(guint32 command)
{
    return name_of(command) != NULL;
}

gsize bb_diameter_command_format(guint32 command, char *out)
{
    const char *name = name_of(command);
    if (name)
        return g_strlcpy(out, name, BB_LABEL_MAX + 1);
    return (gsize)g_snprintf(out, BB_LABEL_MAX + 1, "%u", command);
}
