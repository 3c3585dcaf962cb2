// SPDX-License-Identifier: Apache-2.0
// In: addresses. Out: instructions for the kernel. X is where the IP header begins.
#include "capture/sources/sieve.h"

#define TYPE_IPV4 0x0800u
#define TYPE_IPV6 0x86ddu
#define UDP 17u
#define PORTS_MOST 64u

// A list of comparisons is cut so that a jump of 8 bits reaches its end.
#define IPV4_A_LIST 200u
#define IPV6_A_LIST 50u

#define LOAD_HALF_AT (BPF_LD | BPF_H | BPF_ABS)
#define LOAD_WORD (BPF_LD | BPF_W | BPF_IND)
#define LOAD_HALF (BPF_LD | BPF_H | BPF_IND)
#define LOAD_BYTE (BPF_LD | BPF_B | BPF_IND)
#define STORE (BPF_ST)
#define LOAD_STORED (BPF_LD | BPF_MEM)
#define SET_X (BPF_LDX | BPF_W | BPF_IMM)
#define IF_EQUAL (BPF_JMP | BPF_JEQ | BPF_K)
#define IF_SET (BPF_JMP | BPF_JSET | BPF_K)
#define JUMP (BPF_JMP | BPF_JA)
#define RETURN (BPF_RET | BPF_K)

// Where a jump goes that is put in later.
typedef enum { TO_TYPE, TO_IPV4, TO_IPV6, TO_PORTS, TO_PASS, TO_DROP, N_LABELS } Label;

typedef struct {
    GArray *code;  // of struct bpf_insn
    GArray *jumps; // of guint: jumps to labels, which have the label for k
    guint labels[N_LABELS];
} Assembler;

static void emit(Assembler *as, guint code, guint yes, guint no, guint32 k)
{
    const struct bpf_insn insn = {(guint16)code, (guint8)yes, (guint8)no, k};
    g_array_append_val(as->code, insn);
}

static void jump(Assembler *as, Label label)
{
    guint at = as->code->len;
    emit(as, JUMP, 0, 0, label);
    g_array_append_val(as->jumps, at);
}

static void jump_if(Assembler *as, guint test, guint32 k, Label label)
{
    emit(as, test, 0, 1, k);
    jump(as, label);
}

static void put_label(Assembler *as, Label label)
{
    as->labels[label] = as->code->len;
}

static void link_jumps(Assembler *as)
{
    for (guint i = 0; i < as->jumps->len; i++) {
        guint at = g_array_index(as->jumps, guint, i);
        struct bpf_insn *insn = &g_array_index(as->code, struct bpf_insn, at);
        insn->k = as->labels[insn->k] - at - 1;
    }
}

// ---- addresses ----------------------------------------------------------------------------------

static guint32 word_of(const BbAddress *address, guint at)
{
    guint32 word;
    memcpy(&word, address->bytes + at, sizeof word);
    return GUINT32_FROM_BE(word);
}

// Where a list ends, who was found jumps to the label, and the others over that jump.
static void end_list(Assembler *as, Label label)
{
    emit(as, JUMP, 0, 0, 1);
    jump(as, label);
}

// Passes where the word `at` bytes into the header is one of the addresses.
static void find_ipv4(Assembler *as, const BbSieve *sieve, guint at)
{
    guint32 words[IPV4_A_LIST];
    guint count = 0;
    emit(as, LOAD_WORD, 0, 0, at);
    for (guint i = 0; i <= sieve->n_addresses; i++) {
        bool more = i < sieve->n_addresses;
        if (more && bb_address_is_v4(&sieve->addresses[i]))
            words[count++] = word_of(&sieve->addresses[i], 12);
        if (count == IPV4_A_LIST || (!more && count)) {
            for (guint k = 0; k < count; k++)
                emit(as, IF_EQUAL, count - k, 0, words[k]);
            end_list(as, TO_PASS);
            count = 0;
        }
    }
}

// Likewise by the last four bytes, and the second four: what hosts and networks differ in. They are
// stored: a load from a frame becomes several instructions in the kernel, which count there.
static void find_ipv6(Assembler *as, const BbSieve *sieve, guint at)
{
    const BbAddress *found[IPV6_A_LIST];
    guint count = 0;
    for (guint slot = 0; slot < 2; slot++) {
        emit(as, LOAD_WORD, 0, 0, at + (slot ? 4 : 12));
        emit(as, STORE, 0, 0, slot);
    }
    for (guint i = 0; i <= sieve->n_addresses; i++) {
        bool more = i < sieve->n_addresses;
        if (more && !bb_address_is_v4(&sieve->addresses[i]))
            found[count++] = &sieve->addresses[i];
        if (count == IPV6_A_LIST || (!more && count)) {
            for (guint k = 0; k < count; k++) {
                emit(as, LOAD_STORED, 0, 0, 0);
                emit(as, IF_EQUAL, 0, 2, word_of(found[k], 12));
                emit(as, LOAD_STORED, 0, 0, 1);
                emit(as, IF_EQUAL, (count - k - 1) * 4 + 1, 0, word_of(found[k], 4));
            }
            end_list(as, TO_PASS);
            count = 0;
        }
    }
}

// ---- headers ------------------------------------------------------------------------------------

// The type of what is behind `tags` tags; X is where that begins.
static void find_type(Assembler *as)
{
    static const guint16 tags[] = {0x8100, 0x88a8, 0x9100, 0x9200};
    for (guint depth = 0; depth <= 2; depth++) {
        emit(as, SET_X, 0, 0, 14 + 4 * depth);
        emit(as, LOAD_HALF_AT, 0, 0, 12 + 4 * depth);
        if (depth == 2)
            break; // a third tag is no type that is known, and passes
        for (guint i = 0; i < G_N_ELEMENTS(tags); i++) // behind the last: over the jump
            emit(as, IF_EQUAL, G_N_ELEMENTS(tags) - i, 0, tags[i]);
        jump(as, TO_TYPE);
    }
    put_label(as, TO_TYPE);
    jump_if(as, IF_EQUAL, TYPE_IPV4, TO_IPV4);
    jump_if(as, IF_EQUAL, TYPE_IPV6, TO_IPV6);
    jump(as, TO_PASS);
}

// What is behind the IP header: A has its protocol. Goes on where that is UDP.
static void judge_protocol(Assembler *as, bool v6)
{
    for (guint protocol = 0; protocol < 256; protocol++)
        if (bb_layers_may_carry(v6, (guint8)protocol))
            jump_if(as, IF_EQUAL, protocol, TO_PASS);
    emit(as, IF_EQUAL, 1, 0, UDP);
    jump(as, TO_DROP);
}

static void judge_ipv4(Assembler *as, const BbSieve *sieve)
{
    put_label(as, TO_IPV4);
    find_ipv4(as, sieve, 12);
    find_ipv4(as, sieve, 16);
    emit(as, LOAD_BYTE, 0, 0, 9);
    judge_protocol(as, false);
    emit(as, LOAD_HALF, 0, 0, 6);
    jump_if(as, IF_SET, 0x1fff, TO_PASS); // nobody knows of what
    emit(as, LOAD_BYTE, 0, 0, 0);
    emit(as, BPF_ALU | BPF_AND | BPF_K, 0, 0, 0xf);
    emit(as, BPF_ALU | BPF_LSH | BPF_K, 0, 0, 2);
    emit(as, BPF_ALU | BPF_ADD | BPF_X, 0, 0, 0);
    jump(as, TO_PORTS);
}

static void judge_ipv6(Assembler *as, const BbSieve *sieve)
{
    put_label(as, TO_IPV6);
    find_ipv6(as, sieve, 8);
    find_ipv6(as, sieve, 24);
    emit(as, LOAD_BYTE, 0, 0, 6);
    judge_protocol(as, true);
    emit(as, BPF_MISC | BPF_TXA, 0, 0, 0);
    emit(as, BPF_ALU | BPF_ADD | BPF_K, 0, 0, 40);
}

// A has where the UDP header begins.
static void judge_ports(Assembler *as, const BbSieve *sieve)
{
    guint16 ports[PORTS_MOST];
    guint count = bb_overlay_ports(ports, PORTS_MOST);
    put_label(as, TO_PORTS);
    emit(as, BPF_MISC | BPF_TAX, 0, 0, 0);
    for (guint at = 0; at <= 2; at += 2) {
        emit(as, LOAD_HALF, 0, 0, at);
        for (guint i = 0; i < MIN(count, PORTS_MOST); i++)
            jump_if(as, IF_EQUAL, ports[i], TO_PASS);
        for (guint i = 0; i < sieve->n_tunnels; i++)
            jump_if(as, IF_EQUAL, sieve->tunnels[i].port, TO_PASS);
    }
    put_label(as, TO_DROP);
    emit(as, RETURN, 0, 0, 0);
}

// ---- the program --------------------------------------------------------------------------------

static void pass(Assembler *as, const BbSieve *sieve)
{
    put_label(as, TO_PASS);
    if (sieve->then->bf_len)
        g_array_append_vals(as->code, sieve->then->bf_insns, sieve->then->bf_len);
    else
        emit(as, RETURN, 0, 0, sieve->snaplen);
}

bool bb_sieve_build(const BbSieve *sieve, struct bpf_program *program)
{
    g_autoptr(GArray) code = g_array_new(FALSE, FALSE, sizeof(struct bpf_insn));
    g_autoptr(GArray) jumps = g_array_new(FALSE, FALSE, sizeof(guint));
    Assembler as = {.code = code, .jumps = jumps};
    *program = (struct bpf_program){0};
    if (sieve->n_addresses > BB_SIEVE_MAX || sieve->n_tunnels > BB_SIEVE_MAX)
        return false;
    find_type(&as);
    judge_ipv4(&as, sieve);
    judge_ipv6(&as, sieve);
    judge_ports(&as, sieve);
    pass(&as, sieve);
    link_jumps(&as);
    if (code->len > BB_SIEVE_MAX)
        return false;
    program->bf_len = code->len;
    program->bf_insns = (struct bpf_insn *)(gpointer)g_array_free(g_steal_pointer(&code), FALSE);
    return true;
}
