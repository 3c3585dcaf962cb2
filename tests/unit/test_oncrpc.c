// SPDX-License-Identifier: Apache-2.0
// ONC RPC over UDP and TCP: xids, records, retransmissions, callbacks, labels and status.
#include "capture/protocols/oncrpc_message.h"
#include "tests/unit/octets.h"

#define NO_AUTH "00000000 00000000 "
#define SYS_AUTH "00000001 [ 00000001 00000004 'host' 00000000 00000000 00000000 ] "
// xid and program, version, procedure are notation.
#define CALL(xid, what) "000000" xid " 00000000 00000002 " what " " NO_AUTH NO_AUTH
#define CALL_BY(auth, xid, what) "000000" xid " 00000000 00000002 " what " " auth NO_AUTH
#define REPLY(xid, status) "000000" xid " 00000001 00000000 " NO_AUTH "000000" status " "

#define NFS3(procedure) "000186a3 00000003 000000" procedure
#define NFS4(procedure) "000186a3 00000004 000000" procedure
#define PORTMAP(procedure) "000186a0 00000002 000000" procedure
#define GLUSTER "0013d005 0000014a 0000001b"
#define HANDLE "[ 'file-handle-' ] "

// Credentials of GlusterFS, version 2 and 3.
#define GLUSTER_2 "0005f397 [ 00*36 ] "
#define GLUSTER_3 "0005f398 [ 00*400 ] "

// One fragment, the last.
static Octets *record(const char *notation)
{
    Octets *out = g_byte_array_new();
    g_autoptr(Octets) inside = octets(notation);
    octets_be(out, 0x80000000u | inside->len, 4);
    octets_put(out, inside->data, inside->len);
    return out;
}

static void call(Steps *steps, const char *notation)
{
    step(steps, SAY_UP, record(notation));
}

static void reply(Steps *steps, const char *notation)
{
    step(steps, SAY_DOWN, record(notation));
}

static void check_label(const char *notation, const char *expected)
{
    char text[BB_LABEL_MAX + 1];
    BbRpcMessage message;
    g_autoptr(Octets) bytes = octets(notation);
    ck_assert_int_eq(bb_rpc_message_read(&message, bytes->data, bytes->len), BB_RPC_READ);
    ck_assert_uint_eq(bb_rpc_message_label(&message, text), strlen(text));
    ck_assert_str_eq(text, expected);
}

static void check_status(const char *asked, const char *answered, const char *expected)
{
    char text[BB_RPC_STATUS_MAX];
    BbRpcMessage request, answer;
    g_autoptr(Octets) a = octets(asked);
    g_autoptr(Octets) b = octets(answered);
    ck_assert_int_eq(bb_rpc_message_read(&request, a->data, a->len), BB_RPC_READ);
    ck_assert_int_eq(bb_rpc_message_read(&answer, b->data, b->len), BB_RPC_READ);
    bb_rpc_message_status(&answer, bb_rpc_message_tag(&request), text);
    ck_assert_str_eq(text, expected);
}

// ---- over TCP -----------------------------------------------------------------------------------

START_TEST(out_of_order)
{
    g_autoptr(Steps) s = steps_new(2049);
    call(s, CALL_BY(SYS_AUTH, "11", NFS3("03")) HANDLE "[ 'name' ]");
    call(s, CALL("12", NFS3("01")) HANDLE);
    reply(s, REPLY("12", "00") "00000000");
    reply(s, REPLY("11", "00") "00000002");
    steps_check(s, "CALL 1 oncrpc nfs.LOOKUP 92\nCALL 2 oncrpc nfs.GETATTR 60\n"
                   "RET 2 oncrpc ok 32\nRET 1 oncrpc NFS3ERR_NOENT 32\n");
}
END_TEST

START_TEST(refusals)
{
    g_autoptr(Steps) s = steps_new(4000);
    call(s, CALL("11", NFS3("00")));
    reply(s, "00000011 00000001 00000001 00000001 00000005");
    call(s, CALL("12", NFS3("00")));
    reply(s, REPLY("12", "02") "00000002 00000004");
    call(s, CALL("13", "20000099 00000001 00000007"));
    reply(s, REPLY("13", "04"));
    steps_check(s, "CALL 1 oncrpc nfs.NULL 44\nRET 1 oncrpc AUTH_ERROR 24\n"
                   "CALL 2 oncrpc nfs.NULL 44\nRET 2 oncrpc PROG_MISMATCH 36\n"
                   "CALL 3 oncrpc 536871065.7 44\nRET 3 oncrpc GARBAGE_ARGS 28\n");
}
END_TEST

START_TEST(gluster)
{
    g_autoptr(Steps) s = steps_new(49152);
    call(s, CALL_BY(GLUSTER_2, "11", GLUSTER) "00*16");
    reply(s, REPLY("11", "00") "00000000");
    call(s, CALL_BY(GLUSTER_3, "12", GLUSTER) "00*16");
    reply(s, REPLY("12", "00") "00000000");
    steps_check(s, "CALL 1 oncrpc 1298437.27 96\nRET 1 oncrpc ok 32\n"
                   "CALL 2 oncrpc 1298437.27 460\nRET 2 oncrpc ok 32\n");
}
END_TEST

// A write in four fragments, one of them empty; the call is one message.
START_TEST(long_write)
{
    g_autoptr(Steps) s = steps_new(2049);
    g_autoptr(Octets) first = octets(CALL("11", NFS3("07")) HANDLE "00*3000");
    Octets *head = g_byte_array_new();
    octets_be(head, first->len, 4);
    octets_put(head, first->data, first->len);
    step(s, SAY_UP, head);
    up(s, "00000000");
    up(s, "00000bb8 bb*3000");
    up(s, "80000004 cccccccc");
    reply(s, REPLY("11", "00") "0000001c");
    g_autofree char *expected =
        g_strdup_printf("CALL 1 oncrpc nfs.WRITE %u\nRET 1 oncrpc NFS3ERR_NOSPC 32\n",
                        4 + first->len + 4 + 3004 + 8);
    steps_check(s, expected);
}
END_TEST

START_TEST(sent_again)
{
    g_autoptr(Steps) s = steps_new(2049);
    call(s, CALL("11", NFS3("01")) HANDLE);
    call(s, CALL("11", NFS3("01")) HANDLE);
    reply(s, REPLY("11", "00") "00000000");
    reply(s, REPLY("11", "00") "00000000"); // answered twice
    call(s, CALL("12", NFS3("01")) HANDLE);
    reply(s, REPLY("12", "00") "00000000");
    reply(s, REPLY("12", "00") "00000000"); // but nobody sent this again
    steps_check(s, "CALL 1 oncrpc nfs.GETATTR 60\nRET 1 oncrpc ok 32\n"
                   "CALL 2 oncrpc nfs.GETATTR 60\nRET 2 oncrpc ok 32\nRET - oncrpc ok 32\n");
    ck_assert_uint_eq(steps_count(s, BB_REPEATED), 2);
}
END_TEST

// The same id for something else: the call before will not be answered.
START_TEST(id_used_anew)
{
    g_autoptr(Steps) s = steps_new(2049);
    call(s, CALL("11", NFS3("01")) HANDLE);
    call(s, CALL("11", NFS3("00")));
    reply(s, REPLY("11", "00"));
    steps_check(s, "CALL 1 oncrpc nfs.GETATTR 60\nCALL 2 oncrpc nfs.NULL 44\n"
                   "RET 2 oncrpc ok 28\n");
}
END_TEST

// Both sides call over one connection, under the same id.
START_TEST(callbacks)
{
    g_autoptr(Steps) s = steps_new(2049);
    call(s, CALL("11", NFS4("00")));
    reply(s, CALL("11", "40000000 00000001 00000001") "[] 00000000 00000000 00000001 00000004");
    call(s, REPLY("11", "00") "00002711");
    reply(s, REPLY("11", "00"));
    steps_check(s, "CALL 1 oncrpc nfs.NULL 44\nCALL 2 oncrpc nfs_cb.CB_COMPOUND CB_RECALL 64\n"
                   "RET 2 oncrpc NFS4ERR_BADHANDLE 32\nRET 1 oncrpc ok 28\n");
}
END_TEST

START_TEST(lost_messages)
{
    g_autoptr(Steps) s = steps_new(2049);
    call(s, CALL("11", NFS3("00")));
    reply(s, REPLY("11", "00"));
    step(s, LOSE_UP, record(CALL("12", NFS3("00"))));
    reply(s, REPLY("12", "00"));
    call(s, CALL("13", NFS3("00")));
    step(s, LOSE_DOWN, record(REPLY("13", "00")));
    call(s, CALL("14", NFS3("00")));
    reply(s, REPLY("14", "03"));
    steps_check(s, "CALL 1 oncrpc nfs.NULL 44\nRET 1 oncrpc ok 28\nRET - oncrpc ok 28\n"
                   "CALL 2 oncrpc nfs.NULL 44\nCALL 3 oncrpc nfs.NULL 44\n"
                   "RET 3 oncrpc PROC_UNAVAIL 28\n");
    ck_assert_uint_eq(steps_count(s, BB_CALLS_UNRETURNED), 1);
    ck_assert_uint_eq(steps_count(s, BB_RETURNS_ORPHANED), 1);
}
END_TEST

// The middle of a read's data is missing: nothing is lost but bytes.
START_TEST(lost_middle)
{
    g_autoptr(Steps) s = steps_new(2049);
    g_autoptr(Octets) all = record(REPLY("11", "00") "00000000 dd*9000");
    Octets *head = g_byte_array_new(), *tail = g_byte_array_new();
    octets_put(head, all->data, 3000);
    octets_put(tail, all->data + 7000, all->len - 7000);
    call(s, CALL("11", NFS3("06")) HANDLE);
    call(s, CALL("12", NFS3("00")));
    step(s, SAY_DOWN, head);
    step(s, LOSE_DOWN, octets("00*4000"));
    step(s, SAY_DOWN, tail);
    reply(s, REPLY("12", "00"));
    steps_check(s, "CALL 1 oncrpc nfs.READ 60\nCALL 2 oncrpc nfs.NULL 44\n"
                   "RET 1 oncrpc ok 5032\nRET 2 oncrpc ok 28\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 0);
}
END_TEST

// The snap length ends within the credentials, which tell nothing of what is called.
static void cut_call(Steps *s, const char *notation, guint seen)
{
    g_autoptr(Octets) all = record(notation);
    Octets *head = g_byte_array_new(), *tail = g_byte_array_new();
    octets_put(head, all->data, seen);
    octets_put(tail, all->data + seen, all->len - seen);
    step(s, SAY_UP, head);
    step(s, LOSE_UP, tail);
}

START_TEST(cut_credentials)
{
    for (guint seen = 28; seen < 56; seen += 9) {
        g_autoptr(Steps) s = steps_new(2049);
        cut_call(s, CALL_BY(SYS_AUTH, "11", NFS3("03")) HANDLE "[ 'name' ]", seen);
        reply(s, REPLY("11", "00") "00000002");
        cut_call(s, CALL_BY(SYS_AUTH, "12", NFS4("01")) "00*32", seen);
        reply(s, REPLY("12", "00") "00000000");
        g_autofree char *told = g_strdup_printf("CALL 1 oncrpc nfs.LOOKUP %u\n"
                                                "RET 1 oncrpc NFS3ERR_NOENT 32\n"
                                                "CALL 2 oncrpc nfs.COMPOUND ? %u\n"
                                                "RET 2 oncrpc ok 32\n",
                                                seen, seen);
        steps_check(s, told);
    }
}
END_TEST

START_TEST(joined_midstream)
{
    g_autoptr(Steps) s = steps_new(2049);
    s->midstream = true;
    reply(s, REPLY("11", "00") "00000002");
    call(s, CALL("12", NFS3("00")));
    reply(s, REPLY("12", "00"));
    steps_check(s, "RET - oncrpc ok 32\nCALL 1 oncrpc nfs.NULL 44\nRET 1 oncrpc ok 28\n");
}
END_TEST

START_TEST(damage)
{
    g_autoptr(Steps) s = steps_new(2049);
    call(s, CALL("11", NFS3("00")));
    reply(s, REPLY("11", "00"));
    up(s, "ff ff ff ff 00*40");
    call(s, CALL("12", NFS3("00")));
    reply(s, REPLY("12", "00"));
    steps_check(s, "CALL 1 oncrpc nfs.NULL 44\nRET 1 oncrpc ok 28\n"
                   "CALL 2 oncrpc nfs.NULL 44\nRET 2 oncrpc ok 28\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 1);
}
END_TEST

START_TEST(starts_tls)
{
    g_autoptr(Steps) s = steps_new(2049);
    call(s, "00000011 00000000 00000002 " NFS4("00") " 00000007 00000000 " NO_AUTH);
    reply(s, "00000011 00000001 00000000 00000000 [ 'STARTTLS' ] 00000000");
    up(s, "16030100 31 01 00002d 0303 00*32 00 0002 1301 0100 0000");
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert(
        g_str_has_prefix(converse_result(c), "CALL 1 oncrpc nfs.NULL 44\nRET 1 oncrpc ok 36\n"));
    ck_assert(strstr(converse_result(c), " tls "));
}
END_TEST

// ---- over UDP -----------------------------------------------------------------------------------

START_TEST(datagrams)
{
    g_autoptr(Steps) s = steps_udp(111);
    up(s, CALL("11", PORTMAP("03")) "000186a3 00000003 00000006 00000000");
    up(s, CALL("11", PORTMAP("03")) "000186a3 00000003 00000006 00000000");
    down(s, REPLY("11", "00") "00000801");
    up(s, CALL("11", PORTMAP("03")) "000186a3 00000003 00000006 00000000");
    down(s, REPLY("11", "00") "00000801"); // answered twice
    up(s, "ffff*30");
    up(s, CALL("12", PORTMAP("03")) "000186a5 00000003 00000006 00000000");
    down(s, REPLY("12", "00") "00000000");
    steps_check(s, "CALL 1 oncrpc portmap.GETPORT 56\nRET 1 oncrpc ok 28\n"
                   "CALL 2 oncrpc portmap.GETPORT 56\nRET 2 oncrpc PROGNOTREGISTERED 28\n");
    ck_assert_uint_eq(steps_count(s, BB_REPEATED), 3);
    ck_assert_uint_eq(steps_count(s, BB_RETURNS_ORPHANED), 0);
}
END_TEST

// Nobody waits for so long: it is asked anew.
START_TEST(sent_much_later)
{
    static const guint waits[] = {29000, 31000};
    g_autoptr(Octets) asks =
        octets(CALL("11", PORTMAP("03")) "000186a3 00000003 00000006 00000000");
    g_autoptr(Octets) answers = octets(REPLY("11", "00") "00000801");
    for (guint i = 0; i < G_N_ELEMENTS(waits); i++) {
        g_autoptr(Converse) c = converse_udp(111);
        for (guint round = 0; round < 2; round++) {
            converse_say(c, BB_TO_SERVER, asks->data, asks->len);
            converse_say(c, BB_TO_CLIENT, answers->data, answers->len);
            converse_wait(c, waits[i]);
        }
        converse_result(c);
        ck_assert_uint_eq(converse_loss(c, BB_CALLS), 1 + i);
        ck_assert_uint_eq(converse_loss(c, BB_RETURNS), 1 + i);
    }
}
END_TEST

// A client that gives all its calls one id, but does not send them again.
START_TEST(same_id)
{
    g_autoptr(Steps) s = steps_udp(111);
    up(s, CALL("11", PORTMAP("03")) "000186a3 00000003 00000006 00000000");
    down(s, REPLY("11", "00") "00000801");
    up(s, CALL("11", PORTMAP("03")) "000186a5 00000003 00000006 00000000");
    down(s, REPLY("11", "00") "00000801");
    steps_check(s, "CALL 1 oncrpc portmap.GETPORT 56\nRET 1 oncrpc ok 28\n"
                   "CALL 2 oncrpc portmap.GETPORT 56\nRET 2 oncrpc ok 28\n");
}
END_TEST

// ---- names --------------------------------------------------------------------------------------

#define COMPOUND(count) CALL("01", NFS4("01")) "[] 00000001 000000" count
#define SEQUENCE "00000035 00*16 00000001 00000000 00000000 00000000 "
#define PUTFH "00000016 " HANDLE

START_TEST(labels)
{
    check_label(CALL("01", NFS3("15")), "nfs.COMMIT");
    check_label(CALL("01", NFS3("16")), "nfs.22");
    check_label(CALL("01", NFS3("29")), "nfs.41");
    check_label(CALL("01", "000186a3 00000002 00000011"), "nfs.STATFS");
    check_label(CALL("01", "000186a3 00000005 00000001"), "100003.1");
    check_label(CALL("01", "000186a0 00000004 00000003"), "rpcbind.GETADDR");
    check_label(CALL("01", "000186a5 00000003 00000001"), "mount.MNT");
    check_label(CALL("01", "000186b5 00000004 00000002"), "nlm.LOCK");
    check_label(CALL("01", "000186b5 00000004 00000010"), "nlm.16");
    check_label(CALL("01", "000186b5 00000004 00000017"), "nlm.FREE_ALL");
    check_label(CALL("01", "000186b8 00000001 00000006"), "nsm.NOTIFY");
    check_label(CALL("01", "00018783 00000003 00000001"), "nfsacl.GETACL");
    check_label("00000001 00000000 00000002 " NFS4(
                    "00") " 00000006 "
                          "[ 00000001 00000001 00000000 00000001 00000000 ] " NO_AUTH,
                "nfs.GSS_INIT");
}
END_TEST

START_TEST(compounds)
{
    check_label(COMPOUND("04") SEQUENCE PUTFH "00000019", "nfs.COMPOUND READ");
    check_label(COMPOUND("04") SEQUENCE PUTFH "00000003 0000001f 00000009 00000001 00000018",
                "nfs.COMPOUND ACCESS");
    check_label(COMPOUND("03") PUTFH "00000009 00000002 00000018 00000020 00000004",
                "nfs.COMPOUND CLOSE");
    check_label(COMPOUND("03") "00000018 0000000a 00000009 00000001 00000018",
                "nfs.COMPOUND GETATTR");
    check_label(COMPOUND("01") SEQUENCE, "nfs.COMPOUND SEQUENCE");
    check_label(COMPOUND("01") "00000fff", "nfs.COMPOUND ?");
    check_label(COMPOUND("02") "00000016 000000ff", "nfs.COMPOUND PUTFH");
    check_label(CALL("01", NFS4("01")), "nfs.COMPOUND ?");
    // Encrypted, and signed.
    check_label("00000001 00000000 00000002 " NFS4(
                    "01") " 00000006 "
                          "[ 00000001 00000000 00000007 00000003 00000000 ] " NO_AUTH "[ aa*40 ]",
                "nfs.COMPOUND ?");
    check_label("00000001 00000000 00000002 " NFS4(
                    "01") " 00000006 "
                          "[ 00000001 00000000 00000007 00000002 00000000 ] " NO_AUTH
                          "00000014 00000007 [] 00000001 00000001 0000001c",
                "nfs.COMPOUND REMOVE");
}
END_TEST

START_TEST(statuses)
{
    check_status(CALL("01", NFS3("03")), REPLY("01", "00") "00002718", "NFS3ERR_JUKEBOX");
    check_status(CALL("01", NFS3("03")), REPLY("01", "00") "00001234", "4660");
    check_status(CALL("01", NFS3("00")), REPLY("01", "00") "00001234", "ok");
    check_status(CALL("01", NFS4("01")), REPLY("01", "00") "00002718", "NFS4ERR_DELAY");
    check_status(CALL("01", "000186a3 00000002 00000004"), REPLY("01", "00") "00000046",
                 "NFSERR_STALE");
    check_status(CALL("01", "000186a5 00000003 00000001"), REPLY("01", "00") "0000000d",
                 "MNT3ERR_ACCES");
    check_status(CALL("01", "000186a5 00000001 00000001"), REPLY("01", "00") "0000000d", "13");
    check_status(CALL("01", "000186a5 00000003 00000005"), REPLY("01", "00") "00000001", "ok");
    check_status(CALL("01", "000186b5 00000004 00000002"), REPLY("01", "00") "[ 'abcd' ] 00000003",
                 "LCK_BLOCKED");
    check_status(CALL("01", "000186b5 00000004 00000002"), REPLY("01", "00") "[ 'abcd' ] 00000000",
                 "ok");
    check_status(CALL("01", PORTMAP("01")), REPLY("01", "00") "00000000", "error");
    check_status(CALL("01", PORTMAP("01")), REPLY("01", "00") "00000001", "ok");
    check_status(CALL("01", "00018783 00000003 00000001"), REPLY("01", "00") "00002714",
                 "NFS3ERR_NOTSUPP");
    check_status(CALL("01", "000186b8 00000001 00000001"), REPLY("01", "00") "00000001", "error");
    check_status(CALL("01", NFS3("03")), REPLY("01", "05"), "SYSTEM_ERR");
    check_status(CALL("01", NFS3("03")), REPLY("01", "00"), "ok"); // the result was not seen
    check_status(CALL("01", NFS3("03")), "00000001 00000001 00000001 00000000 00000002 00000002",
                 "RPC_MISMATCH");
}
END_TEST

START_TEST(probes)
{
    const BbDecoder *d = &bb_decoder_oncrpc;
    ck_assert_int_eq(probe_octets(d, CALL("01", NFS3("01"))), BB_MATCH_REQUEST);
    ck_assert_int_eq(probe_octets(d, "80000028 " CALL("01", NFS3("00"))), BB_MATCH_REQUEST);
    ck_assert_int_eq(probe_octets(d, REPLY("01", "00")), BB_MATCH_LIKELY);
    ck_assert_int_eq(probe_octets(d, "80000018 " REPLY("01", "00")), BB_MATCH_LIKELY);
    ck_assert_int_eq(probe_octets(d, "80000027 " CALL("01", NFS3("00"))), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, "00000001 00000000 00000003 " NFS3("00")), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, CALL("01", "00000000 00000001 00000000")), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, CALL_BY("00000009 00000000", "01", NFS3("00"))), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, CALL_BY("00000001 00000191", "01", NFS3("00"))), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, CALL_BY("0005f396 00000000", "01", NFS3("00"))), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, CALL_BY("0005f399 00000000", "01", NFS3("00"))), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, REPLY("01", "06")), BB_MATCH_NO);
    g_autoptr(Octets) whole = record(CALL("01", NFS3("00")));
    for (gsize length = 0; length <= whole->len; length++) {
        g_autofree guint8 *copy = g_memdup2(whole->data, length);
        BbMatch match = d->probe(copy ? copy : (const guint8 *)"", length);
        ck_assert_int_eq(match, length < 4 + 24 ? BB_MATCH_MORE : BB_MATCH_REQUEST);
    }
    check_refusals(d);
}
END_TEST

TEST_MAIN("oncrpc", out_of_order, refusals, gluster, long_write, sent_again, id_used_anew,
          callbacks, lost_messages, lost_middle, cut_credentials, joined_midstream, damage,
          starts_tls, datagrams, sent_much_later, same_id, labels, compounds, statuses, probes)
