// SPDX-License-Identifier: Apache-2.0
// In: bytes that may be an Rx packet. Out: what it says, and whether it is one.
#include "capture/protocols/afsrx_packet.h"

#include "capture/cursor.h"
#include "capture/protocols/label.h"

#define FLAG_CLIENT 0x01u
#define FLAG_LAST 0x04u
#define FLAG_JUMBO 0x20u
#define JUMBO_BODY 1412u // bytes of each packet but the last in a jumbogram
#define JUMBO_HEAD 4u    // of those behind the first
#define JUMBO_MAX 8u
#define SECURITY_MAX 6u
#define COUNT_MAX (1u << 24) // believed of a call, a sequence or serial number that is seen first
#define CHANNEL 3u           // bits of a connection's identifier

// ---- operations -------------------------------------------------------------------------------

typedef struct Operation {
    guint32 code;
    const char *name;
} Operation;

static const Operation file_operations[] = {
    {130, "FetchData"},
    {131, "FetchACL"},
    {132, "FetchStatus"},
    {133, "StoreData"},
    {134, "StoreACL"},
    {135, "StoreStatus"},
    {136, "RemoveFile"},
    {137, "CreateFile"},
    {138, "Rename"},
    {139, "Symlink"},
    {140, "Link"},
    {141, "MakeDir"},
    {142, "RemoveDir"},
    {143, "OldSetLock"},
    {144, "OldExtendLock"},
    {145, "OldReleaseLock"},
    {146, "GetStatistics"},
    {147, "GiveUpCallBacks"},
    {148, "GetVolumeInfo"},
    {149, "GetVolumeStatus"},
    {150, "SetVolumeStatus"},
    {151, "GetRootVolume"},
    {152, "CheckToken"},
    {153, "GetTime"},
    {154, "NGetVolumeInfo"},
    {155, "BulkStatus"},
    {156, "SetLock"},
    {157, "ExtendLock"},
    {158, "ReleaseLock"},
    {159, "XStatsVersion"},
    {160, "GetXStats"},
    {161, "Lookup"},
    {162, "FlushCPS"},
    {65536, "InlineBulkStatus"},
    {65537, "FetchData64"},
    {65538, "StoreData64"},
    {0, NULL},
};

static const Operation callback_operations[] = {
    {204, "CallBack"},  {205, "InitCallBackState"},
    {206, "Probe"},     {207, "GetLock"},
    {208, "GetCE"},     {209, "XStatsVersion"},
    {210, "GetXStats"}, {211, "InitCallBackState2"},
    {212, "WhoAreYou"}, {213, "InitCallBackState3"},
    {214, "ProbeUuid"}, {0, NULL},
};

static const Operation volume_location_operations[] = {
    {501, "CreateEntry"},     {502, "DeleteEntry"},
    {503, "GetEntryByID"},    {504, "GetEntryByName"},
    {505, "GetNewVolumeId"},  {506, "ReplaceEntry"},
    {507, "UpdateEntry"},     {508, "SetLock"},
    {509, "ReleaseLock"},     {510, "ListEntry"},
    {511, "ListAttributes"},  {512, "LinkedList"},
    {513, "GetStats"},        {514, "Probe"},
    {515, "GetAddrs"},        {518, "GetEntryByIDN"},
    {519, "GetEntryByNameN"}, {526, "GetEntryByIDU"},
    {527, "GetEntryByNameU"}, {0, NULL},
};

static const Operation protection_operations[] = {
    {500, "NewUser"},     {501, "WhereIsIt"},       {502, "DumpEntry"},
    {503, "AddToGroup"},  {504, "NameToID"},        {505, "IDToName"},
    {506, "Delete"},      {507, "RemoveFromGroup"}, {508, "GetCPS"},
    {509, "NewEntry"},    {510, "ListMax"},         {511, "SetMax"},
    {512, "ListEntry"},   {513, "ChangeEntry"},     {514, "ListElements"},
    {515, "IsMemberOf"},  {516, "SetFieldsEntry"},  {517, "ListOwned"},
    {518, "GetCPS2"},     {519, "GetHostCPS"},      {520, "UpdateEntry"},
    {521, "ListEntries"}, {522, "ListSuperGroups"}, {0, NULL},
};

static const Operation no_operations[] = {{0, NULL}};

// Services that share an identifier are told apart by their operations.
static const struct {
    guint16 service;
    const char *name;
    const Operation *operations;
    guint32 first, last; // operations, of service 1
} services[] = {
    {1, "fs", file_operations, 130, 200},
    {1, "fs", file_operations, 65536, 65600},
    {1, "cb", callback_operations, 201, 230},
    {1, "bos", no_operations, 80, 129},
    {1, "rx", no_operations, 0, G_MAXUINT32},
    {4, "vol", no_operations, 0, G_MAXUINT32},
    {50, "vote", no_operations, 0, G_MAXUINT32},
    {51, "disk", no_operations, 0, G_MAXUINT32},
    {52, "vldb", volume_location_operations, 0, G_MAXUINT32},
    {73, "pts", protection_operations, 0, G_MAXUINT32},
    {409, "rxstats", no_operations, 0, G_MAXUINT32},
    {731, "kauth", no_operations, 0, G_MAXUINT32},
    {732, "kauth", no_operations, 0, G_MAXUINT32},
    {733, "kauth", no_operations, 0, G_MAXUINT32},
    {22314, "budb", no_operations, 0, G_MAXUINT32},
};

static bool is_known(guint16 service)
{
    for (gsize i = 0; i < G_N_ELEMENTS(services); i++)
        if (services[i].service == service)
            return true;
    return false;
}

static const char *operation_name(const Operation *operations, guint32 code)
{
    for (; operations->name; operations++)
        if (operations->code == code)
            return operations->name;
    return NULL;
}

gsize bb_rx_packet_label(const BbRxPacket *packet, char *out)
{
    char service[16], number[16] = "?";
    const char *name = NULL;
    bool first = packet->sequence == 1 && packet->has_word;
    g_snprintf(service, sizeof service, "%u", packet->service);
    for (gsize i = 0; i < G_N_ELEMENTS(services); i++) {
        if (services[i].service != packet->service ||
            (first && (packet->word < services[i].first || packet->word > services[i].last)))
            continue;
        g_strlcpy(service, services[i].name, sizeof service);
        name = first ? operation_name(services[i].operations, packet->word) : NULL;
        break;
    }
    if (first && !packet->protected)
        g_snprintf(number, sizeof number, "%u", packet->word);
    return (gsize)g_snprintf(out, BB_LABEL_MAX + 1, "%s.%s", service, name ? name : number);
}

// ---- packets ----------------------------------------------------------------------------------

static guint64 mix(guint64 hash, guint32 word)
{
    hash = (hash ^ word) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

// In a jumbogram the flags of the last packet are in its own short head.
static guint8 last_flags(guint8 flags, BbCursor body)
{
    for (guint i = 0; flags & FLAG_JUMBO && i < JUMBO_MAX; i++) {
        bb_cursor_skip(&body, JUMBO_BODY);
        guint8 next = bb_cursor_u8(&body);
        bb_cursor_skip(&body, JUMBO_HEAD - 1);
        if (!bb_cursor_ok(&body))
            return flags;
        flags = next;
    }
    return flags;
}

bool bb_rx_packet_read(BbRxPacket *packet, const guint8 *data, gsize length)
{
    BbCursor c = bb_cursor(data, length);
    guint32 epoch = bb_cursor_be32(&c), cid = bb_cursor_be32(&c), call = bb_cursor_be32(&c);
    guint32 sequence = bb_cursor_be32(&c), serial = bb_cursor_be32(&c);
    guint8 type = bb_cursor_u8(&c), flags = bb_cursor_u8(&c);
    bb_cursor_skip(&c, 1); // user status
    guint8 security = bb_cursor_u8(&c);
    bb_cursor_skip(&c, 2); // checksum
    guint16 service = bb_cursor_be16(&c);
    if (!bb_cursor_ok(&c) || type < BB_RX_DATA || type > BB_RX_VERSION || security > SECURITY_MAX)
        return false;
    if (type == BB_RX_DATA && (call == 0 || sequence == 0))
        return false;
    *packet = (BbRxPacket){
        .type = type,
        .from_caller = flags & FLAG_CLIENT,
        .protected = security != 0,
        .service = service,
        .call = call,
        .sequence = sequence,
        .serial = serial,
        .has_word = c.left >= 4,
    };
    packet->key = MAX(mix(mix(mix(0, epoch), cid), call), 1);
    packet->connection = mix(mix(0, epoch), cid & ~CHANNEL);
    packet->last = (type == BB_RX_DATA ? last_flags(flags, c) : flags) & FLAG_LAST;
    packet->word = packet->has_word ? bb_cursor_be32(&c) : 0;
    return true;
}

BbMatch bb_rx_probe(const guint8 *data, gsize length)
{
    BbRxPacket packet;
    if (!bb_rx_packet_read(&packet, data, length) || packet.call > COUNT_MAX ||
        packet.sequence > COUNT_MAX || packet.serial > COUNT_MAX)
        return BB_MATCH_NO;
    if (packet.type != BB_RX_DATA || !is_known(packet.service) || packet.sequence > 0xffff)
        return BB_MATCH_MAYBE;
    return packet.from_caller ? BB_MATCH_REQUEST : BB_MATCH_REPLY;
}
