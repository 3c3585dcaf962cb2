// SPDX-License-Identifier: Apache-2.0
// In: UUIDs of interfaces, codes of faults. Out: their names, where they are well known.
#include "capture/cursor.h"
#include "capture/protocols/dcerpc_packet.h"

static const struct {
    const char *uuid, *name;
} interfaces[] = {
    {"e1af8308-5d1f-11c9-91a4-08002b14a0fa", "epmapper"},
    {"afa8bd80-7d8a-11c9-bef4-08002b102989", "mgmt"},
    {"12345778-1234-abcd-ef00-0123456789ab", "lsarpc"},
    {"12345778-1234-abcd-ef00-0123456789ac", "samr"},
    {"12345678-1234-abcd-ef00-01234567cffb", "netlogon"},
    {"12345678-1234-abcd-ef00-0123456789ab", "spoolss"},
    {"e3514235-4b06-11d1-ab04-00c04fc2dcd2", "drsuapi"},
    {"3919286a-b10c-11d0-9ba8-00c04fd92ef5", "dssetup"},
    {"4b324fc8-1670-01d3-1278-5a47bf6ee188", "srvsvc"},
    {"6bffd098-a112-3610-9833-46c3f87e345a", "wkssvc"},
    {"367abb81-9844-35f1-ad32-98f038001003", "svcctl"},
    {"338cd001-2244-31f1-aaaa-900038001003", "winreg"},
    {"1ff70682-0a51-30e8-076d-740be8cee98b", "atsvc"},
    {"86d35949-83c9-4044-b424-db363231fd0c", "tasks"},
    {"82273fdc-e32a-18c3-3f78-827929dc23ea", "eventlog"},
    {"4fc742e0-4a10-11cf-8273-00aa004ae673", "netdfs"},
    {"50abc2a4-574d-40b3-9d66-ee4fd5fba076", "dnsserver"},
    {"c681d488-d850-11d0-8c52-00c04fd90f7e", "efsrpc"},
    {"8d9f4e40-a03d-11ce-8f69-08003e30051b", "pnp"},
    {"8fb6d884-2388-11d0-8c35-00c04fda2795", "w32time"},
    {"4d9f4ab8-7d1c-11cf-861e-0020af6e7c57", "IRemoteActivation"},
    {"000001a0-0000-0000-c000-000000000046", "ISystemActivator"},
    {"99fcfec4-5260-101b-bbcb-00aa0021347a", "IOXIDResolver"},
    {"00000131-0000-0000-c000-000000000046", "IRemUnknown"},
    {"00000143-0000-0000-c000-000000000046", "IRemUnknown2"},
    {"9556dc99-828c-11cf-a37e-00aa003240c7", "IWbemServices"},
    {"f309ad18-d86a-11d0-a075-00c04fb68820", "IWbemLevel1Login"},
    {"a4f1db00-ca47-1067-b31f-00dd010662da", "emsmdb"},
    {"f5cc5a18-4264-101a-8c59-08002b2f8426", "nspi"},
};

// C706, appendix E; MS-RPCE 2.2.2.5 allows Win32 codes as well.
static const struct {
    guint32 status;
    const char *name;
} faults[] = {
    {0x00000001, "other"},
    {0x00000005, "access_denied"},
    {0x000006d8, "cant_perform"},
    {0x000006f7, "ndr"},
    {0x00000721, "sec_pkg_error"},
    {0x1c000001, "int_div_by_zero"},
    {0x1c000002, "addr_error"},
    {0x1c000006, "invalid_tag"},
    {0x1c000007, "invalid_bound"},
    {0x1c000008, "rpc_version_mismatch"},
    {0x1c000009, "unspec_reject"},
    {0x1c00000a, "bad_actid"},
    {0x1c00000c, "manager_not_entered"},
    {0x1c00000d, "cancel"},
    {0x1c00001a, "context_mismatch"},
    {0x1c00001b, "remote_no_memory"},
    {0x1c00001c, "invalid_pres_context_id"},
    {0x1c00001d, "unsupported_authn_level"},
    {0x1c00001f, "invalid_checksum"},
    {0x1c000020, "invalid_crc"},
    {0x1c000021, "user_defined"},
    {0x1c000024, "object_not_found"},
    {0x1c010002, "op_rng_error"},
    {0x1c010003, "unk_if"},
    {0x1c010006, "wrong_boot_time"},
    {0x1c010009, "you_crashed"},
    {0x1c01000b, "proto_error"},
    {0x1c010013, "out_args_too_big"},
    {0x1c010014, "server_too_busy"},
    {0x1c010017, "unsupported_type"},
};

gsize bb_dcerpc_fault_format(guint32 status, char *out, gsize size)
{
    for (gsize i = 0; i < G_N_ELEMENTS(faults); i++)
        if (faults[i].status == status)
            return g_strlcpy(out, faults[i].name, size);
    return (gsize)g_snprintf(out, size, "0x%08X", status);
}

void bb_dcerpc_interface_format(const guint8 *uuid, bool little, char *out)
{
    BbCursor c = bb_cursor(uuid, 16);
    char text[40];
    guint32 group = little ? bb_cursor_le32(&c) : bb_cursor_be32(&c);
    guint16 second = little ? bb_cursor_le16(&c) : bb_cursor_be16(&c);
    guint16 third = little ? bb_cursor_le16(&c) : bb_cursor_be16(&c);
    const guint8 *rest = c.at;
    g_snprintf(text, sizeof text, "%08x-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x", group, second,
               third, rest[0], rest[1], rest[2], rest[3], rest[4], rest[5], rest[6], rest[7]);
    g_snprintf(out, BB_DCERPC_NAME, "%08x", group);
    for (gsize i = 0; i < G_N_ELEMENTS(interfaces); i++)
        if (strcmp(interfaces[i].uuid, text) == 0)
            g_strlcpy(out, interfaces[i].name, BB_DCERPC_NAME);
}
