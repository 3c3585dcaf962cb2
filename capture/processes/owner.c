// SPDX-License-Identifier: Apache-2.0
// In: text of /proc/PID/cgroup. Out: the container or the unit of systemd.
#include "capture/processes/owner.h"

#include <string.h>

#define ID_DIGITS 64u
#define ID_SHOWN 12u
#define PROGRAM "+comm" // behind names of programs that look like others

typedef struct Part {
    const char *at;
    gsize length;
} Part;

static bool begins(Part part, const char *text)
{
    gsize length = strlen(text);
    return part.length >= length && memcmp(part.at, text, length) == 0;
}

static bool ends(Part part, const char *text)
{
    gsize length = strlen(text);
    return part.length > length && memcmp(part.at + part.length - length, text, length) == 0;
}

static Part inside(Part part, const char *before, const char *behind)
{
    gsize head = strlen(before), tail = strlen(behind);
    return (Part){part.at + head, part.length - head - tail};
}

// One byte as it stands in a name, or the one that `\xHH` stands for. Returns bytes taken.
static gsize take_byte(const char *at, gsize left, char *out)
{
    *out = *at;
    if (left < 4 || at[0] != '\\' || at[1] != 'x' || g_ascii_xdigit_value(at[2]) < 0 ||
        g_ascii_xdigit_value(at[3]) < 0)
        return 1;
    *out = (char)(g_ascii_xdigit_value(at[2]) << 4 | g_ascii_xdigit_value(at[3]));
    return 4;
}

void bb_owner_clean(const char *text, gsize length, char out[BB_OWNER_NAME])
{
    gsize size = 0;
    for (gsize i = 0; i < length && size < BB_OWNER_NAME - 1;) {
        char byte;
        i += take_byte(text + i, length - i, &byte);
        bool fits = g_ascii_isalnum(byte) || (byte & 0x80) || (byte && strchr("_-.:@+", byte));
        out[size++] = fits ? byte : '_';
    }
    if (size == 0)
        out[size++] = '_';
    out[size] = '\0';
    const char *bad;
    while (!g_utf8_validate(out, -1, &bad))
        out[bad - out] = '_';
}

// Twelve digits, as of a container.
static bool is_id(const char *name)
{
    for (gsize i = 0; i < ID_SHOWN; i++)
        if (!g_ascii_isdigit(name[i]) && !(name[i] >= 'a' && name[i] <= 'f'))
            return false;
    return name[ID_SHOWN] == '\0';
}

void bb_owner_clean_program(const char *text, gsize length, char out[BB_OWNER_NAME])
{
    bb_owner_clean(text, MIN(length, BB_OWNER_NAME - sizeof PROGRAM), out);
    if (g_str_has_suffix(out, ".service") || g_str_has_suffix(out, ".scope") ||
        g_str_has_suffix(out, ".slice") || is_id(out))
        (void)g_strlcat(out, PROGRAM, BB_OWNER_NAME);
}

static BbOwner make(BbOwnerKind kind, Part name)
{
    BbOwner owner = {.kind = kind};
    bb_owner_clean(name.at, name.length, owner.name);
    return owner;
}

// The id at the end of `docker-ID.scope`, `cri-containerd-ID.scope`, `/docker/ID`, `slice:cri:ID`.
// A monitor (`libpod-conmon-ID`) is no container.
static bool find_id(Part part, Part *id)
{
    if (ends(part, ".scope"))
        part = inside(part, "", ".scope");
    if (part.length < ID_DIGITS)
        return false;
    gsize before = part.length - ID_DIGITS;
    const char *digits = part.at + before;
    for (gsize i = 0; i < ID_DIGITS; i++)
        if (!g_ascii_isdigit(digits[i]) && !(digits[i] >= 'a' && digits[i] <= 'f'))
            return false;
    if (before && !strchr("-:_", digits[-1]))
        return false;
    if (ends((Part){part.at, before}, "conmon-"))
        return false;
    *id = (Part){digits, ID_SHOWN};
    return true;
}

// `machine-NAME.scope` of systemd-machined, `lxc.payload.NAME` of LXC.
static bool find_machine(Part part, Part *name)
{
    if (begins(part, "machine-") && ends(part, ".scope"))
        *name = inside(part, "machine-", ".scope");
    else if (begins(part, "lxc.payload."))
        *name = inside(part, "lxc.payload.", "");
    else
        return false;
    return name->length > 0;
}

static BbOwner owner_of_part(Part part)
{
    Part name;
    if (find_id(part, &name) || find_machine(part, &name))
        return make(BB_OWNER_CONTAINER, name);
    if (ends(part, ".service") && !begins(part, "user@"))
        return make(BB_OWNER_UNIT, part);
    return (BbOwner){BB_OWNER_NONE, ""};
}

// Of a path, the innermost.
static BbOwner owner_of_path(Part path)
{
    BbOwner best = {BB_OWNER_NONE, ""};
    const char *at = path.at, *end = path.at + path.length;
    while (at < end) {
        const char *slash = memchr(at, '/', (gsize)(end - at));
        const char *stop = slash ? slash : end;
        BbOwner found = owner_of_part((Part){at, (gsize)(stop - at)});
        if (found.kind >= best.kind && found.kind != BB_OWNER_NONE)
            best = found;
        at = slash ? slash + 1 : end;
    }
    return best;
}

// A line is "NUMBER:CONTROLLERS:PATH". The first with an owner counts, of the best kind.
BbOwner bb_owner_parse(const char *text, gsize length)
{
    BbOwner best = {BB_OWNER_NONE, ""};
    const char *end = length ? text + length : text; // NULL may be empty
    for (const char *at = text; at < end;) {
        const char *newline = memchr(at, '\n', (gsize)(end - at));
        const char *stop = newline ? newline : end;
        const char *first = memchr(at, ':', (gsize)(stop - at));
        const char *second = first ? memchr(first + 1, ':', (gsize)(stop - first - 1)) : NULL;
        if (second) {
            BbOwner found = owner_of_path((Part){second + 1, (gsize)(stop - second - 1)});
            if (found.kind > best.kind)
                best = found;
        }
        at = newline ? newline + 1 : end;
    }
    return best;
}

bool bb_owner_equal(const BbOwner *a, const BbOwner *b)
{
    return a->kind == b->kind && strcmp(a->name, b->name) == 0;
}
