// SPDX-License-Identifier: Apache-2.0
// In: the bytes of a DNS message. Out: who asks what, or how it was answered; RFC 1035, 2136, 3597,
// 4343, 6762, 6891.
#include "capture/protocols/dns_message.h"

#include "capture/cursor.h"
#include "data/text_hash.h"

#define POINTERS 64u   // compression pointers followed in one name
#define NAME_WIRE 255u // RFC 1035, 2.3.4
#define QUESTIONS 64u  // of a multicast query

enum { TYPE_NB = 32, TYPE_NBSTAT = 33, TYPE_OPT = 41 }; // the first two: RFC 1002
enum { FLAG_RESPONSE = 0x8000, FLAG_AA = 0x0400, FLAG_TC = 0x0200 };
enum { FLAG_RD = 0x0100, FLAG_RA = 0x0080, FLAG_Z = 0x0040 };
#define CACHE_FLUSH 0x8000u // mDNS: the class's top bit (RFC 6762, 5.4 and 10.2)

// A place in the message, from which pointers lead back into all of it.
typedef struct Reader {
    const guint8 *data;
    gsize length;
    BbCursor c;
    bool bad; // damage, not mere shortness
    bool odd;
} Reader;

// ---- names ------------------------------------------------------------------------------------

typedef struct NameText {
    char *text; // NULL: the name is not wanted
    gsize used;
    guint64 hash;
} NameText;

static guint64 hash_byte(guint64 hash, guint8 byte)
{
    return (hash ^ byte) * BB_TEXT_HASH_PRIME;
}

static void append_byte(NameText *name, guint8 byte)
{
    if (byte > ' ' && byte < 0x7f) {
        if (byte == '.' || byte == '\\')
            name->text[name->used++] = '\\';
        name->text[name->used++] = (char)byte;
        return;
    }
    name->text[name->used++] = '\\';
    name->text[name->used++] = (char)('0' + byte / 100);
    name->text[name->used++] = (char)('0' + byte / 10 % 10);
    name->text[name->used++] = (char)('0' + byte % 10);
}

static bool append_label(NameText *name, const guint8 *label, guint8 length)
{
    bool plain = true;
    if (name->used)
        name->text[name->used++] = '.';
    name->hash = hash_byte(name->hash, length);
    for (guint8 i = 0; i < length; i++) {
        guint8 byte = (guint8)g_ascii_tolower((char)label[i]);
        plain &= byte >= ' ' && byte != 0x7f;
        name->hash = hash_byte(name->hash, byte);
        append_byte(name, byte);
    }
    return plain;
}

// A pointer leads to before the run of labels it ends, so that there is no way round in a circle.
// Returns false where it is short or bad.
static bool follow(Reader *r, BbCursor *at, gsize *run, guint8 high)
{
    gsize target = (gsize)(high & 0x3f) << 8 | bb_cursor_u8(at);
    if (!bb_cursor_ok(at))
        return false;
    r->bad |= target < BB_DNS_HEADER || target >= *run;
    if (r->bad)
        return false;
    *run = target;
    return true;
}

static bool take_label(Reader *r, BbCursor *at, NameText *name, guint8 length)
{
    const guint8 *label = bb_cursor_take(at, length);
    if (label && length && name->text)
        r->odd |= !append_label(name, label, length);
    return label != NULL;
}

// Takes a name. Returns false where it is short or bad.
static bool take_name(Reader *r, NameText *name)
{
    BbCursor at = r->c;
    gsize run = r->length - r->c.left, wire = 0;
    guint pointers = 0;
    guint8 length;
    do {
        length = bb_cursor_u8(&at);
        if (length >= 0xc0) {
            if (!follow(r, &at, &run, length))
                return false;
            if (pointers++ == 0)
                r->c = at;
            if (!name->text)
                return true;
            r->bad |= pointers > POINTERS;
            at = bb_cursor(r->data + run, r->length - run);
        } else {
            wire += 1u + length;
            r->bad |= length > 63 || wire > NAME_WIRE;
            if (r->bad || !take_label(r, &at, name, length))
                return false;
        }
    } while (length != 0 && !r->bad);
    if (pointers == 0)
        r->c = at;
    return !r->bad;
}

// ---- sections -----------------------------------------------------------------------------------

static bool is_class(guint16 number)
{
    number &= (guint16)~CACHE_FLUSH;
    return number == 1 || number == 3 || number == 4 || number == 254 || number == 255;
}

// NetBIOS names (RFC 1002) travel in the same format: 32 letters A to P stand for 16 bytes.
static bool is_netbios(const char *name, guint16 type)
{
    gsize length = strspn(name, "abcdefghijklmnop");
    return (type == TYPE_NB || type == TYPE_NBSTAT) && length == 32 &&
           (name[32] == '\0' || name[32] == '.');
}

static bool take_question(Reader *r, BbDnsMessage *message)
{
    NameText name = {.text = message->name, .hash = BB_TEXT_HASH_START};
    if (!take_name(r, &name))
        return false;
    name.text[name.used] = '\0';
    message->type = bb_cursor_be16(&r->c);
    guint16 class = bb_cursor_be16(&r->c);
    if (!bb_cursor_ok(&r->c))
        return false;
    if (is_netbios(name.text, message->type)) {
        message->plain_query = false;
        r->bad = true;
    }
    r->odd |= message->type == 0 || !is_class(class);
    class &= (guint16)~CACHE_FLUSH;
    const guint8 fields[] = {(guint8)(message->type >> 8), (guint8)message->type,
                             (guint8)(class >> 8), (guint8) class};
    for (gsize i = 0; i < sizeof fields; i++)
        name.hash = hash_byte(name.hash, fields[i]);
    message->hash = (name.hash ^ name.hash >> 48) & G_GUINT64_CONSTANT(0xffffffffffff);
    return !r->bad;
}

typedef struct Record {
    guint16 type, class, data_length;
    guint32 ttl;
    const guint8 *data;
} Record;

static bool take_record(Reader *r, NameText *name, Record *record)
{
    if (!take_name(r, name))
        return false;
    record->type = bb_cursor_be16(&r->c);
    record->class = bb_cursor_be16(&r->c);
    record->ttl = bb_cursor_be32(&r->c);
    record->data_length = bb_cursor_be16(&r->c);
    record->data = bb_cursor_take(&r->c, record->data_length);
    return record->data != NULL;
}

static BbDnsVerdict take_records(Reader *r, BbDnsMessage *message)
{
    guint count = message->counts[1] + message->counts[2] + message->counts[3];
    for (guint i = 0; i < count; i++) {
        NameText unwanted = {0};
        Record record;
        if (!take_record(r, &unwanted, &record))
            return r->bad ? BB_DNS_ODD : BB_DNS_CUT;
        if (record.type == TYPE_OPT)
            message->rcode |= (guint16)(record.ttl >> 24 << 4);
        else
            r->odd |= !is_class(record.class);
    }
    return r->odd || r->c.left ? BB_DNS_ODD : BB_DNS_EXACT;
}

// ---- the message --------------------------------------------------------------------------------

static bool is_opcode(guint8 opcode)
{
    return opcode <= BB_DNS_DSO && opcode != 3;
}

// RFC 6891, 6.1.1: at most one OPT record comes with the question.
static bool is_plain_query(const BbDnsMessage *message, guint16 flags)
{
    return !message->response && message->opcode == BB_DNS_QUERY && !message->multicast &&
           !(flags & (FLAG_AA | FLAG_TC | FLAG_RA | FLAG_Z)) && message->rcode == 0 &&
           message->counts[0] == 1 && message->counts[1] == 0 && message->counts[2] == 0 &&
           message->counts[3] <= 1;
}

static BbDnsVerdict take_header(Reader *r, BbDnsMessage *message)
{
    message->id = bb_cursor_be16(&r->c);
    guint16 flags = bb_cursor_be16(&r->c);
    for (guint i = 0; i < G_N_ELEMENTS(message->counts); i++)
        message->counts[i] = bb_cursor_be16(&r->c);
    message->response = flags & FLAG_RESPONSE;
    message->opcode = flags >> 11 & 0xf;
    message->rcode = flags & 0xf;
    message->multicast =
        message->id == 0 && message->opcode == BB_DNS_QUERY && !(flags & (FLAG_RD | FLAG_RA));
    message->plain_query = bb_cursor_ok(&r->c) && is_plain_query(message, flags);
    // A byte that is not there reads as zero, which refuses nothing.
    if (!is_opcode(message->opcode) || (!message->response && message->rcode != 0) ||
        message->counts[0] > QUESTIONS)
        return BB_DNS_BAD;
    r->odd |= message->counts[0] > 1 && !message->multicast;
    r->odd |= (flags & FLAG_Z) != 0;
    r->odd |= !message->response && message->opcode == BB_DNS_QUERY && !message->multicast &&
              message->counts[1] > 0;
    return bb_cursor_ok(&r->c) ? BB_DNS_EXACT : BB_DNS_SHORT;
}

BbDnsVerdict bb_dns_message_read(BbDnsMessage *message, const guint8 *data, gsize length)
{
    Reader r = {.data = data, .length = length, .c = bb_cursor(data, length)};
    *message = (BbDnsMessage){0};
    BbDnsVerdict header = take_header(&r, message);
    if (header != BB_DNS_EXACT)
        return header;
    if (message->counts[0] > 0 && !take_question(&r, message))
        return r.bad ? BB_DNS_BAD : BB_DNS_SHORT;
    message->has_question = message->counts[0] > 0;
    for (guint i = 1; i < message->counts[0]; i++) {
        BbDnsMessage other = {0};
        if (!take_question(&r, &other))
            return r.bad ? BB_DNS_ODD : BB_DNS_CUT;
    }
    message->answers = (guint32)(length - r.c.left);
    return take_records(&r, message);
}

static Reader reader_of_answers(const BbDnsMessage *message, const guint8 *data, gsize length)
{
    gsize start = MIN(message->answers, length);
    return (Reader){.data = data, .length = length, .c = bb_cursor(data + start, length - start)};
}

void bb_dns_message_addresses(const BbDnsMessage *message, const guint8 *data, gsize length,
                              BbDnsAddressFound found, gpointer user)
{
    Reader r = reader_of_answers(message, data, length);
    for (guint i = 0; i < message->counts[1]; i++) {
        char own[BB_DNS_NAME_TEXT];
        NameText name = {.text = message->has_question ? NULL : own};
        Record record;
        if (!take_record(&r, &name, &record))
            return;
        if (name.text)
            own[name.used] = '\0';
        const char *asked = message->has_question ? message->name : own;
        bool v4 = record.type == BB_DNS_TYPE_A && record.data_length == 4;
        bool v6 = record.type == BB_DNS_TYPE_AAAA && record.data_length == 16;
        if ((record.class & ~CACHE_FLUSH) != 1 || !(v4 || v6) || !*asked)
            continue;
        BbAddress address = v4 ? bb_address_v4(record.data) : bb_address_v6(record.data);
        found(user, &address, asked);
    }
}

// RFC 1035, 3.3.13: the serial stands behind two names.
static bool read_serial(const Reader *r, const Record *record, guint32 *serial)
{
    NameText unwanted = {0};
    if (record->type != BB_DNS_TYPE_SOA)
        return false;
    Reader inside = {
        .data = r->data,
        .length = (gsize)(record->data - r->data) + record->data_length,
        .c = bb_cursor(record->data, record->data_length),
    };
    if (!take_name(&inside, &unwanted) || !take_name(&inside, &unwanted))
        return false;
    *serial = bb_cursor_be32(&inside.c);
    return bb_cursor_ok(&inside.c);
}

void bb_dns_message_records(const BbDnsMessage *message, const guint8 *data, gsize length,
                            BbDnsRecordFound found, gpointer user)
{
    Reader r = reader_of_answers(message, data, length);
    guint count = message->counts[BB_DNS_ANSWERS] + message->counts[BB_DNS_AUTHORITY];
    for (guint i = 0; i < count; i++) {
        NameText unwanted = {0};
        Record record;
        guint32 serial;
        if (!take_record(&r, &unwanted, &record))
            return;
        BbDnsSection section =
            i < message->counts[BB_DNS_ANSWERS] ? BB_DNS_ANSWERS : BB_DNS_AUTHORITY;
        found(user, section, read_serial(&r, &record, &serial) ? &serial : NULL);
    }
}

// ---- mnemonics ----------------------------------------------------------------------------------

void bb_dns_type_format(guint16 type, char out[BB_DNS_TYPE_TEXT])
{
    static const struct {
        guint16 type;
        char name[BB_DNS_TYPE_TEXT];
    } types[] = {
        {1, "A"},         {28, "AAAA"},       {5, "CNAME"},   {12, "PTR"},    {15, "MX"},
        {2, "NS"},        {6, "SOA"},         {16, "TXT"},    {33, "SRV"},    {65, "HTTPS"},
        {64, "SVCB"},     {43, "DS"},         {48, "DNSKEY"}, {255, "ANY"},   {35, "NAPTR"},
        {257, "CAA"},     {252, "AXFR"},      {251, "IXFR"},  {52, "TLSA"},   {46, "RRSIG"},
        {47, "NSEC"},     {50, "NSEC3"},      {41, "OPT"},    {13, "HINFO"},  {44, "SSHFP"},
        {39, "DNAME"},    {99, "SPF"},        {29, "LOC"},    {256, "URI"},   {250, "TSIG"},
        {249, "TKEY"},    {10, "NULL"},       {11, "WKS"},    {17, "RP"},     {18, "AFSDB"},
        {24, "SIG"},      {25, "KEY"},        {36, "KX"},     {37, "CERT"},   {42, "APL"},
        {45, "IPSECKEY"}, {49, "DHCID"},      {53, "SMIMEA"}, {55, "HIP"},    {59, "CDS"},
        {60, "CDNSKEY"},  {51, "NSEC3PARAM"}, {62, "CSYNC"},  {63, "ZONEMD"}, {61, "OPENPGPKEY"},
        {108, "EUI48"},   {109, "EUI64"},     {253, "MAILB"}, {254, "MAILA"}, {38, "A6"},
        {30, "NXT"},      {14, "MINFO"},      {32769, "DLV"}, {3, "MD"},      {4, "MF"},
        {7, "MB"},        {8, "MG"},          {9, "MR"},      {19, "X25"},    {20, "ISDN"},
        {21, "RT"},       {26, "PX"},         {66, "DSYNC"},  {104, "NID"},   {105, "L32"},
        {106, "L64"},     {107, "LP"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(types); i++)
        if (types[i].type == type) {
            memcpy(out, types[i].name, sizeof types[i].name);
            return;
        }
    g_snprintf(out, BB_DNS_TYPE_TEXT, "TYPE%u", type);
}

void bb_dns_rcode_format(guint16 rcode, char out[BB_DNS_TYPE_TEXT])
{
    static const char names[][BB_DNS_TYPE_TEXT] = {
        "NOERROR",  "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP",   "REFUSED",
        "YXDOMAIN", "YXRRSET", "NXRRSET",  "NOTAUTH",  "NOTZONE",  "DSOTYPENI",
        "",         "",        "",         "",         "BADVERS",  "BADKEY",
        "BADTIME",  "BADMODE", "BADNAME",  "BADALG",   "BADTRUNC", "BADCOOKIE",
    };
    if (rcode < G_N_ELEMENTS(names) && names[rcode][0])
        memcpy(out, names[rcode], sizeof names[rcode]);
    else
        g_snprintf(out, BB_DNS_TYPE_TEXT, "RCODE%u", rcode);
}
