// SPDX-License-Identifier: Apache-2.0
// SMB2 and SMB3: MessageIds, compounds, interim responses, encryption, compression, loss.
#include "capture/dialog_state.h"
#include "capture/protocols/smb2_pipe.h"
#include "tests/unit/octets.h"

enum { NEGOTIATE = 0, TREE_CONNECT = 3, CREATE = 5, CLOSE = 6, READ = 8, WRITE = 9, IOCTL = 11 };
enum { CANCEL = 12, CHANGE_NOTIFY = 15, OPLOCK_BREAK = 18 };
enum { RESPONSE = 1, ASYNC = 2 };
#define PENDING 0x00000103u

// ---- messages -----------------------------------------------------------------------------------

// A header with a body of so many bytes; next: offset of the one behind it in a compound.
static Octets *message(guint command, guint64 id, guint flags, guint32 status, guint32 next,
                       gsize body)
{
    Octets *out = octets("fe 'SMB'");
    g_autofree guint8 *zeros = g_malloc0(body + 16);
    octets_le(out, 64, 2);
    octets_le(out, 1, 2);
    octets_le(out, status, 4);
    octets_le(out, command, 2);
    octets_le(out, 1, 2);
    octets_le(out, flags, 4);
    octets_le(out, next, 4);
    octets_le(out, id, 8);
    octets_le(out, 0x0102030405060708, 8);
    octets_le(out, 77, 8);
    octets_put(out, zeros, 16);
    octets_put(out, zeros, body);
    return out;
}

// In a frame of its own. Takes inside.
static Octets *framed(Octets *inside)
{
    Octets *out = g_byte_array_new();
    octets_be(out, inside->len, 4);
    return octets_join(out, inside);
}

static void ask(Steps *s, guint command, guint64 id, gsize body)
{
    step(s, SAY_UP, framed(message(command, id, 0, 0, 0, body)));
}

static void answer(Steps *s, guint command, guint64 id, guint32 status, gsize body)
{
    step(s, SAY_DOWN, framed(message(command, id, RESPONSE, status, 0, body)));
}

// ---- conversations ------------------------------------------------------------------------------

START_TEST(by_message_id)
{
    g_autoptr(Steps) s = steps_new(10445);
    ask(s, NEGOTIATE, 0, 36);
    answer(s, NEGOTIATE, 0, 0, 64);
    ask(s, CREATE, 1, 56);
    ask(s, TREE_CONNECT, 2, 8);
    answer(s, TREE_CONNECT, 2, 0xc00000cc, 9);
    answer(s, CREATE, 1, 0xc0000034, 9);
    answer(s, CLOSE, 9, 0xc0001234, 9);
    steps_check(s, "CALL 1 smb2 NEGOTIATE 104\nRET 1 smb2 ok 132\n"
                   "CALL 2 smb2 CREATE 124\nCALL 3 smb2 TREE_CONNECT 76\n"
                   "RET 3 smb2 BAD_NETWORK_NAME 77\nRET 2 smb2 OBJECT_NAME_NOT_FOUND 77\n"
                   "RET - smb2 0xC0001234 77\n");
}
END_TEST

START_TEST(compounds)
{
    g_autoptr(Steps) s = steps_new(445);
    Octets *all = octets_join(message(CREATE, 3, 0, 0, 120, 56), message(READ, 4, 4, 0, 72, 8));
    step(s, SAY_UP, framed(octets_join(all, message(CLOSE, 5, 4, 0, 0, 24))));
    all = octets_join(message(CREATE, 3, RESPONSE, 0, 72, 8),
                      message(READ, 4, RESPONSE, 0xc0000011, 72, 8));
    step(s, SAY_DOWN, framed(octets_join(all, message(CLOSE, 5, RESPONSE, 0, 0, 60))));
    steps_check(s, "CALL 1 smb2 CREATE 124\nCALL 2 smb2 READ 72\nCALL 3 smb2 CLOSE 88\n"
                   "RET 1 smb2 ok 76\nRET 2 smb2 END_OF_FILE 72\nRET 3 smb2 ok 124\n");
}
END_TEST

START_TEST(interim_responses_and_one_way)
{
    g_autoptr(Steps) s = steps_new(445);
    ask(s, CHANGE_NOTIFY, 6, 32);
    step(s, SAY_DOWN, framed(message(CHANGE_NOTIFY, 6, RESPONSE | ASYNC, PENDING, 0, 9)));
    step(s, SAY_DOWN, framed(message(OPLOCK_BREAK, G_MAXUINT64, RESPONSE, 0, 0, 24)));
    ask(s, OPLOCK_BREAK, 7, 24);
    answer(s, OPLOCK_BREAK, 7, 0, 24);
    step(s, SAY_UP, framed(message(CANCEL, 6, ASYNC, 0, 0, 4)));
    step(s, SAY_DOWN, framed(message(CHANGE_NOTIFY, 6, RESPONSE | ASYNC, 0xc0000120, 0, 9)));
    step(s, SAY_DOWN, octets("85000000")); // keepalive
    steps_check(s, "CALL 1 smb2 CHANGE_NOTIFY 100\nMSG < smb2 OPLOCK_BREAK 92\n"
                   "CALL 2 smb2 OPLOCK_BREAK 92\nRET 2 smb2 ok 92\nMSG > smb2 CANCEL 72\n"
                   "RET 1 smb2 CANCELLED 77\n");
}
END_TEST

START_TEST(controls)
{
    g_autoptr(Steps) s = steps_new(445);
    Octets *known = message(IOCTL, 1, 0, 0, 0, 56), *unknown = message(IOCTL, 2, 0, 0, 0, 56);
    octets_patch_le(known, 64, 57, 2);
    octets_patch_le(known, 68, 0x0011c017, 4);
    octets_patch_le(unknown, 64, 57, 2);
    octets_patch_le(unknown, 68, 0x12345678, 4);
    step(s, SAY_UP, framed(known));
    step(s, SAY_UP, framed(unknown));
    answer(s, IOCTL, 2, 0xc0000010, 9);
    answer(s, IOCTL, 1, 0x80000005, 48);
    steps_check(s, "CALL 1 smb2 IOCTL PIPE_TRANSCEIVE 124\nCALL 2 smb2 IOCTL 124\n"
                   "RET 2 smb2 INVALID_DEVICE_REQUEST 77\nRET 1 smb2 BUFFER_OVERFLOW 116\n");
}
END_TEST

#define SMB1_NEGOTIATE_REQUEST "[ff 'SMB' 72 00000000 18 0128 00*20 00 0c00 02 'NT LM 0.12' 00]"
#define SMB1_NEGOTIATE_REPLY "[ff 'SMB' 72 00000000 98 0128 00*20 11 00*20]"

START_TEST(negotiation_by_smb1)
{
    g_autoptr(Steps) s = steps_new(445);
    up(s, SMB1_NEGOTIATE_REQUEST);
    answer(s, NEGOTIATE, 0, 0, 64);
    ask(s, NEGOTIATE, 1, 36);
    answer(s, NEGOTIATE, 1, 0, 64);
    steps_check(s, "CALL 1 smb2 NEGOTIATE 51\nRET 1 smb2 ok 132\n"
                   "CALL 2 smb2 NEGOTIATE 104\nRET 2 smb2 ok 132\n");
}
END_TEST

// Both agree on SMB1: what follows is none of ours.
START_TEST(smb1_only)
{
    g_autoptr(Steps) s = steps_new(445);
    up(s, SMB1_NEGOTIATE_REQUEST);
    down(s, SMB1_NEGOTIATE_REPLY);
    up(s, "[ff 'SMB' 73 00000000 18 0128 00*30]");
    down(s, "[ff 'SMB' 73 00000000 98 0128 00*30]");
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert(g_str_has_prefix(converse_result(c), "CALL 1 smb2 NEGOTIATE 51\nRET 1 smb2 ok 57\n"));
    ck_assert_ptr_null(strstr(converse_result(c), "CALL 2 smb2"));
}
END_TEST

static bool ignore(const BbMessage *one, gpointer user, GError **error)
{
    return true;
}

// A gap ends the message after which others take over; before they see a byte, another one comes.
START_TEST(smb1_in_gaps)
{
    static const guint8 address[4] = {10, 0, 0, 1};
    BbLoss loss = {0};
    BbEndpoints ends = {.address = {bb_address_v4(address), bb_address_v4(address)},
                        .port = {40000, 445}};
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNodes) nodes = bb_nodes_new(names, false);
    g_autoptr(BbContext) context = bb_context_new(names, nodes, &loss, ignore, NULL);
    g_autoptr(Octets) asked = octets(SMB1_NEGOTIATE_REQUEST);
    g_autoptr(Octets) reply = octets(SMB1_NEGOTIATE_REPLY);
    octets_patch_be(reply, 0, 300, 4); // the end of it is missing, and more
    BbPiece pieces[] = {
        {.data = asked->data, .length = asked->len, .seq = 1, .ack = 1, .has_ack = true},
        {.data = reply->data, .length = reply->len, .seq = 1, .ack = 1000, .has_ack = true},
    };
    BbDialog *dialog = bb_dialog_new(context, &ends, true, 0, true);
    for (guint side = 0; side < 2; side++)
        bb_dialog_feed(dialog, side, &pieces[side]);
    bb_dialog_gap(dialog, 1, 1 + reply->len, 500);
    ck_assert_ptr_null(dialog->decoder); // its turn is over: the next bytes choose
    bb_dialog_gap(dialog, 1, 501 + reply->len, 500);
    bb_dialog_free(dialog);
    ck_assert_uint_eq(loss.count[BB_CALLS], 1);
    ck_assert_uint_eq(loss.count[BB_RETURNS], 1);
}
END_TEST

START_TEST(netbios_sessions)
{
    g_autoptr(Steps) s = steps_new(139);
    up(s, "81000044 20 41*32 00 20 42*32 00");
    down(s, "82000000");
    ask(s, NEGOTIATE, 0, 36);
    answer(s, NEGOTIATE, 0, 0, 64);
    steps_check(s, "CALL 1 smb2 NEGOTIATE 104\nRET 1 smb2 ok 132\n");
}
END_TEST

// ---- what is hidden -----------------------------------------------------------------------------

#define ENCRYPTED "[fd 'SMB' 01*16 02*16 74000000 0000 0100 0000000000000007 ee*116]"

START_TEST(encryption)
{
    g_autoptr(Steps) s = steps_new(445);
    ask(s, NEGOTIATE, 0, 36);
    answer(s, NEGOTIATE, 0, 0, 64);
    up(s, ENCRYPTED);
    down(s, ENCRYPTED);
    up(s, ENCRYPTED ENCRYPTED);
    down(s, ENCRYPTED);
    down(s, ENCRYPTED);
    steps_check(s, "CALL 1 smb2 NEGOTIATE 104\nRET 1 smb2 ok 132\n"
                   "CALL 2 smb2 ? 172\nRET 2 smb2 - 172\n"
                   "CALL 3 smb2 ? 172\nMSG > smb2 ? 172\nRET 3 smb2 - 172\nMSG < smb2 ? 172\n");
}
END_TEST

// Its answer may be among what is missing: the next one is not taken for it.
START_TEST(encryption_with_loss)
{
    g_autoptr(Steps) s = steps_new(445);
    ask(s, NEGOTIATE, 0, 36);
    answer(s, NEGOTIATE, 0, 0, 64);
    up(s, ENCRYPTED);
    step(s, LOSE_DOWN, octets(ENCRYPTED));
    down(s, ENCRYPTED);
    up(s, ENCRYPTED);
    down(s, ENCRYPTED);
    steps_check(s, "CALL 1 smb2 NEGOTIATE 104\nRET 1 smb2 ok 132\n"
                   "CALL 2 smb2 ? 172\nMSG < smb2 ? 172\nCALL 3 smb2 ? 172\nRET 3 smb2 - 172\n");
}
END_TEST

// Windows leaves the header in the clear; a chained payload that is compressed has none to see.
START_TEST(compression)
{
    g_autoptr(Steps) s = steps_new(445);
    ask(s, READ, 5, 48);
    Octets *inside = octets("fc 'SMB' 00100000 0200 0000 50000000");
    inside = octets_join(inside, message(READ, 5, RESPONSE, 0, 0, 16));
    step(s, SAY_DOWN, framed(octets_join(inside, octets("cc*200"))));
    up(s, "[fc 'SMB' 00100000 0200 0100 00000000 dd*100]");
    down(s, "[fc 'SMB' 00100000 0200 0000 00000000 dd*100]");
    steps_check(s,
                "CALL 1 smb2 READ 116\nRET 1 smb2 ok 300\nCALL 2 smb2 ? 120\nRET 2 smb2 - 120\n");
}
END_TEST

// The first payload of a chain need not be compressed, and has the header then.
START_TEST(chained_compression)
{
    g_autoptr(Steps) s = steps_new(445);
    ask(s, READ, 5, 48);
    Octets *inside = octets("fc 'SMB' 00100000 0000 0100 50000000");
    inside = octets_join(inside, message(READ, 5, RESPONSE, 0, 0, 16));
    step(s, SAY_DOWN,
         framed(octets_join(inside, octets("0400 0000 08000000 64 00 0000 00100000"))));
    ask(s, READ, 6, 48);
    down(s, "[fc 'SMB' 00100000 0000 0100 10000000 dd*16 0400 0000 08000000 64 00 0000 00100000]");
    steps_check(s, "CALL 1 smb2 READ 116\nRET 1 smb2 ok 116\n"
                   "CALL 2 smb2 READ 116\nMSG < smb2 ? 52\n");
}
END_TEST

// The offset of its second part is larger than what is left of it.
START_TEST(compressed_compound)
{
    g_autoptr(Steps) s = steps_new(445);
    ask(s, READ, 5, 48);
    Octets *inside = octets("fc 'SMB' 00200000 0200 0000 50000000");
    inside = octets_join(inside, message(READ, 5, RESPONSE, 0, 0x1050, 16));
    step(s, SAY_DOWN, framed(octets_join(inside, octets("cc*20"))));
    steps_check(s, "CALL 1 smb2 READ 116\nRET 1 smb2 ok 120\n");
}
END_TEST

// ---- named pipes --------------------------------------------------------------------------------

#define NDR "045d888a eb1c c911 9fe8 08002b104860 0200 0000"
#define SRVSVC "c84f324b 7016 d301 1278 5a47bf6ee188 0300 0000"
#define BIND \
    "05000b03 10000000 4800 0000 01000000 d016 d016 00000000 01 000000 0000 01 00" SRVSVC NDR
#define BIND_ACK                                                                                 \
    "05000c03 10000000 3c00 0000 01000000 d016 d016 01000000 0400 '135' 00 0000 01 000000 0000 " \
    "0000" NDR
#define SHARES(id, flags) "050000" flags "10000000 2800 0000" id "000000 10000000 0000 0f00 aa*16"
#define SHARES_REPLY(id) "05000203 10000000 6400 0000" id "000000 4c000000 0000 00 00 bb*76"
enum { PIPE = 0x11, FILE_A = 0x22, TRANSCEIVE = 0x0011c017 };
#define OVERFLOW 0x80000005

// Zeros, at whose begin is StructureSize, with a FileId at `at`, and data behind.
static Octets *body(guint16 size, gsize length, guint at, guint8 file, const char *data)
{
    g_autofree guint8 *zeros = g_malloc0(length);
    g_autoptr(Octets) tail = octets(data);
    Octets *out = g_byte_array_new();
    octets_put(out, zeros, length);
    octets_patch_le(out, 0, size, 2);
    if (file)
        octets_patch_le(out, at, file, 1);
    octets_put(out, tail->data, tail->len);
    return out;
}

static Octets *with(guint command, guint64 id, guint flags, guint32 status, Octets *inside)
{
    return octets_join(message(command, id, flags, status, 0, 0), inside);
}

static void write_file(Steps *s, guint64 id, guint8 file, const char *data)
{
    Octets *inside = body(49, 48, 16, file, data);
    octets_patch_le(inside, 2, 112, 2);
    octets_patch_le(inside, 4, inside->len - 48, 4);
    step(s, SAY_UP, framed(with(WRITE, id, 0, 0, inside)));
}

static void read_file(Steps *s, guint64 id, guint8 file)
{
    step(s, SAY_UP, framed(with(READ, id, 0, 0, body(49, 49, 16, file, ""))));
}

static Octets *read_reply(guint64 id, guint32 status, const char *data)
{
    Octets *inside = body(17, 16, 0, 0, data);
    octets_patch_le(inside, 2, 80, 1);
    octets_patch_le(inside, 4, inside->len - 16, 4);
    return framed(with(READ, id, RESPONSE, status, inside));
}

static void transceive(Steps *s, guint64 id, guint8 file, const char *data)
{
    Octets *inside = body(57, 56, 8, file, data);
    octets_patch_le(inside, 4, TRANSCEIVE, 4);
    octets_patch_le(inside, 24, 120, 4);
    octets_patch_le(inside, 28, inside->len - 56, 4);
    step(s, SAY_UP, framed(with(IOCTL, id, 0, 0, inside)));
}

static Octets *transceive_reply(guint64 id, guint32 status, const char *data)
{
    Octets *inside = body(49, 48, 8, 0xee, data);
    octets_patch_le(inside, 4, TRANSCEIVE, 4);
    octets_patch_le(inside, 32, 112, 4);
    octets_patch_le(inside, 36, inside->len - 48, 4);
    return framed(with(IOCTL, id, RESPONSE, status, inside));
}

static void bind_pipe(Steps *s)
{
    write_file(s, 1, PIPE, BIND);
    answer(s, WRITE, 1, 0, 17);
    read_file(s, 2, PIPE);
    step(s, SAY_DOWN, read_reply(2, 0, BIND_ACK));
}

#define BOUND                                                                 \
    "CALL 1 smb2 WRITE 188\nCALL 2 dcerpc bind srvsvc 72\nRET 1 smb2 ok 85\n" \
    "CALL 3 smb2 READ 117\nRET 2 dcerpc ok 60\nRET 3 smb2 ok 144\n"

static gint by_text(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static char *sorted_lines(const char *text)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    qsort(lines, g_strv_length(lines), sizeof *lines, by_text);
    return g_strjoinv("\n", lines);
}

// In small segments what is inside begins later than what carries it: the order is another one.
static void check_inside(const Steps *s, const char *expected)
{
    static const gsize segments[] = {1, 2, 7, 64};
    g_autoptr(Converse) whole = steps_play(s, 1460);
    g_autofree char *lines = sorted_lines(expected);
    ck_assert_str_eq(converse_result(whole), expected);
    for (guint i = 0; i < G_N_ELEMENTS(segments); i++) {
        g_autoptr(Converse) c = steps_play(s, segments[i]);
        g_autofree char *found = sorted_lines(converse_result(c));
        ck_assert_str_eq(found, lines);
    }
}

// By writes and reads, and both in one; a reply that does not fit goes on in a read.
START_TEST(calls_in_a_pipe)
{
    g_autoptr(Steps) s = steps_new(445);
    bind_pipe(s);
    transceive(s, 3, PIPE, SHARES("02", "03"));
    step(s, SAY_DOWN, framed(message(IOCTL, 3, RESPONSE | ASYNC, PENDING, 0, 9)));
    step(s, SAY_DOWN, transceive_reply(3, 0, SHARES_REPLY("02")));
    transceive(s, 4, PIPE, SHARES("03", "03"));
    step(s, SAY_DOWN, transceive_reply(4, OVERFLOW, "05000203 10000000 6400 0000 03000000 bb*34"));
    read_file(s, 5, PIPE);
    step(s, SAY_DOWN, read_reply(5, 0, "bb*50"));
    check_inside(s, BOUND "CALL 4 smb2 IOCTL PIPE_TRANSCEIVE 164\nCALL 5 dcerpc srvsvc.15 40\n"
                          "RET 5 dcerpc ok 100\nRET 4 smb2 ok 216\n"
                          "CALL 6 smb2 IOCTL PIPE_TRANSCEIVE 164\nCALL 7 dcerpc srvsvc.15 40\n"
                          "RET 6 smb2 BUFFER_OVERFLOW 166\nRET 7 dcerpc ok 100\n"
                          "CALL 8 smb2 READ 117\nRET 8 smb2 ok 134\n");
}
END_TEST

// Files are none, also where one is open; what a file holds is not looked at.
START_TEST(files_besides_a_pipe)
{
    g_autoptr(Steps) s = steps_new(445);
    write_file(s, 9, FILE_A, "0500000310 00*50");
    answer(s, WRITE, 9, 0, 17);
    bind_pipe(s);
    read_file(s, 6, FILE_A);
    step(s, SAY_DOWN, read_reply(6, 0, BIND_ACK));
    step(s, SAY_UP, framed(with(CLOSE, 7, 0, 0, body(24, 24, 8, PIPE, ""))));
    read_file(s, 8, PIPE);
    step(s, SAY_DOWN, read_reply(8, 0, BIND_ACK));
    check_inside(s, "CALL 1 smb2 WRITE 171\nRET 1 smb2 ok 85\nCALL 2 smb2 WRITE 188\n"
                    "CALL 3 dcerpc bind srvsvc 72\nRET 2 smb2 ok 85\nCALL 4 smb2 READ 117\n"
                    "RET 3 dcerpc ok 60\nRET 4 smb2 ok 144\nCALL 5 smb2 READ 117\n"
                    "RET 5 smb2 ok 144\nCALL 6 smb2 CLOSE 92\nCALL 7 smb2 READ 117\n"
                    "RET 7 smb2 ok 144\n");
}
END_TEST

// It stands for the file of the operation before, of any compound.
START_TEST(a_file_id_of_all_ones_is_no_pipe)
{
    g_autoptr(Steps) s = steps_new(445);
    bind_pipe(s);
    for (guint id = 6; id < 8; id++) {
        Octets *inside = body(49, 48, 16, 0, id == 6 ? BIND : SHARES("02", "03"));
        octets_patch_le(inside, 2, 112, 2);
        octets_patch_le(inside, 4, inside->len - 48, 4);
        octets_patch_le(inside, 16, G_MAXUINT64, 8);
        octets_patch_le(inside, 24, G_MAXUINT64, 8);
        step(s, SAY_UP, framed(with(WRITE, id, 0, 0, inside)));
        answer(s, WRITE, id, 0, 17);
    }
    check_inside(s, BOUND "CALL 4 smb2 WRITE 188\nRET 4 smb2 ok 85\n"
                          "CALL 5 smb2 WRITE 156\nRET 5 smb2 ok 85\n");
}
END_TEST

// Each pipe has call ids of its own; at the limit the oldest is forgotten.
START_TEST(many_pipes)
{
    g_autoptr(Steps) s = steps_new(445);
    for (guint i = 0; i < BB_SMB2_PIPES + 1; i++)
        write_file(s, i + 1, (guint8)(i + 1), BIND);
    for (guint i = 0; i < BB_SMB2_PIPES + 1; i++)
        read_file(s, 100 + i, (guint8)(i + 1));
    for (guint i = BB_SMB2_PIPES + 1; i-- > 0;)
        step(s, SAY_DOWN, read_reply(100 + i, 0, BIND_ACK));
    g_autoptr(Converse) c = steps_play(s, 1460);
    guint answered = 0;
    for (const char *at = converse_result(c); (at = strstr(at, "dcerpc ok 60")); at++)
        answered++;
    ck_assert_uint_eq(answered, BB_SMB2_PIPES);
    ck_assert_ptr_null(strstr(converse_result(c), "RET - dcerpc"));
}
END_TEST

// A lost reply costs its own call; a lost bind costs the name.
START_TEST(pipes_with_loss)
{
    g_autoptr(Steps) s = steps_new(445);
    step(s, SAY_DOWN, read_reply(1, 0, BIND_ACK));
    transceive(s, 3, PIPE, SHARES("02", "03"));
    step(s, LOSE_DOWN, transceive_reply(3, 0, SHARES_REPLY("02")));
    transceive(s, 4, PIPE, SHARES("03", "03"));
    step(s, SAY_DOWN, transceive_reply(4, 0, SHARES_REPLY("03")));
    s->midstream = true;
    check_inside(s, "RET - smb2 ok 144\n"
                    "CALL 1 smb2 IOCTL PIPE_TRANSCEIVE 164\nCALL 2 dcerpc ?.15 40\n"
                    "CALL 3 smb2 IOCTL PIPE_TRANSCEIVE 164\nCALL 4 dcerpc ?.15 40\n"
                    "RET 4 dcerpc ok 100\nRET 3 smb2 ok 216\n");
}
END_TEST

// ---- loss ---------------------------------------------------------------------------------------

START_TEST(large_bodies_are_passed_over)
{
    g_autoptr(Steps) s = steps_new(445);
    ask(s, WRITE, 5, 1000000);
    answer(s, WRITE, 5, 0, 16);
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert_str_eq(converse_result(c), "CALL 1 smb2 WRITE 1000068\nRET 1 smb2 ok 84\n");
    ck_assert_uint_eq(converse_loss(c, BB_MESSAGE_LIMIT), 0);
}
END_TEST

START_TEST(lost_middle)
{
    g_autoptr(Steps) s = steps_new(445);
    ask(s, READ, 5, 48);
    ask(s, READ, 6, 48);
    Octets *all = framed(message(READ, 5, RESPONSE, 0, 0, 6000));
    Octets *tail = g_byte_array_new();
    octets_put(tail, all->data + 4000, all->len - 4000);
    g_byte_array_set_size(all, 1000);
    step(s, SAY_DOWN, all);
    step(s, LOSE_DOWN, octets("00*3000"));
    step(s, SAY_DOWN, tail);
    answer(s, READ, 6, 0, 100);
    steps_check(s, "CALL 1 smb2 READ 116\nCALL 2 smb2 READ 116\nRET 1 smb2 ok 3068\n"
                   "RET 2 smb2 ok 168\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 0);
}
END_TEST

START_TEST(lost_messages)
{
    g_autoptr(Steps) s = steps_new(445);
    ask(s, READ, 5, 48);
    answer(s, READ, 5, 0, 48);
    step(s, LOSE_UP, framed(message(READ, 6, 0, 0, 0, 48)));
    answer(s, READ, 6, 0, 48);
    ask(s, READ, 7, 48);
    step(s, LOSE_DOWN, framed(message(READ, 7, RESPONSE, 0, 0, 48)));
    ask(s, READ, 8, 48);
    answer(s, READ, 8, 0xc0000128, 9);
    steps_check(s, "CALL 1 smb2 READ 116\nRET 1 smb2 ok 116\nRET - smb2 ok 116\n"
                   "CALL 2 smb2 READ 116\nCALL 3 smb2 READ 116\nRET 3 smb2 FILE_CLOSED 77\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 2);
}
END_TEST

// The gap is inside of a compound: what is left of it is passed over up to the next frame.
// The snap length ends within the headers, behind all that matters.
static void cut(Steps *s, StepKind said, StepKind lost, Octets *all)
{
    Octets *head = g_byte_array_new(), *tail = g_byte_array_new();
    octets_put(head, all->data, 36);
    octets_put(tail, all->data + 36, all->len - 36);
    step(s, said, head);
    step(s, lost, tail);
    g_byte_array_unref(all);
}

START_TEST(cut_headers)
{
    g_autoptr(Steps) s = steps_new(445);
    cut(s, SAY_UP, LOSE_UP, framed(message(CREATE, 3, 0, 0, 0, 56)));
    cut(s, SAY_UP, LOSE_UP, framed(message(READ, 4, 0, 0, 0, 49)));
    cut(s, SAY_DOWN, LOSE_DOWN, framed(message(READ, 4, RESPONSE, 0xc0000011, 0, 9)));
    cut(s, SAY_DOWN, LOSE_DOWN, framed(message(CREATE, 3, RESPONSE, 0, 0, 89)));
    steps_check(s, "CALL 1 smb2 CREATE 36\nCALL 2 smb2 READ 36\n"
                   "RET 2 smb2 END_OF_FILE 36\nRET 1 smb2 ok 36\n");
}
END_TEST

START_TEST(lost_end_of_a_compound)
{
    g_autoptr(Steps) s = steps_new(445);
    Octets *all =
        framed(octets_join(message(CREATE, 3, 0, 0, 264, 200), message(CLOSE, 4, 0, 0, 0, 24)));
    g_byte_array_set_size(all, 200);
    step(s, SAY_UP, all);
    step(s, LOSE_UP, octets("00*100"));
    step(s, SAY_UP, octets("00*56"));
    ask(s, READ, 5, 48);
    answer(s, READ, 5, 0, 48);
    steps_check(s, "CALL 1 smb2 CREATE 200\nCALL 2 smb2 READ 116\nRET 2 smb2 ok 116\n");
    ck_assert_uint_eq(steps_count(s, BB_CALLS_UNRETURNED), 1);
}
END_TEST

START_TEST(joined_midstream)
{
    g_autoptr(Steps) s = steps_new(40445);
    s->midstream = true;
    step(s, SAY_DOWN, octets("00*400")); // the end of something
    ask(s, READ, 5, 48);
    answer(s, READ, 5, 0, 48);
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert_ptr_nonnull(strstr(converse_result(c), "smb2 READ 116\nRET"));
}
END_TEST

START_TEST(damage)
{
    g_autoptr(Steps) s = steps_new(445);
    ask(s, READ, 5, 48);
    Octets *bad = framed(message(READ, 5, RESPONSE, 0, 9, 48)); // the next one inside of this one
    step(s, SAY_DOWN, bad);
    answer(s, READ, 5, 0, 48);
    steps_check(s, "CALL 1 smb2 READ 116\nRET 1 smb2 ok 116\n");
    g_autoptr(Steps) other = steps_new(445);
    up(other, "00000100 'no file server'");
    ck_assert_uint_eq(steps_count(other, BB_FREES), 1);
}
END_TEST

START_TEST(probes)
{
    const BbDecoder *d = &bb_decoder_smb2;
    g_autoptr(Octets) request = framed(message(READ, 5, 0, 0, 0, 48));
    for (gsize length = 0; length <= request->len; length++) {
        g_autofree guint8 *copy = g_memdup2(request->data, length);
        BbMatch match = d->probe(copy ? copy : (const guint8 *)"", length);
        ck_assert_int_eq(match, length < 36 ? BB_MATCH_MORE : BB_MATCH_REQUEST);
    }
    g_autoptr(Octets) reply = framed(message(READ, 5, RESPONSE, 0, 0, 48));
    ck_assert_int_eq(d->probe(reply->data, reply->len), BB_MATCH_REPLY);
    octets_patch_le(reply, 16, 20, 2); // a command that there is not
    ck_assert_int_eq(d->probe(reply->data, reply->len), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, SMB1_NEGOTIATE_REQUEST), BB_MATCH_REQUEST);
    ck_assert_int_eq(probe_octets(d, SMB1_NEGOTIATE_REPLY), BB_MATCH_REPLY);
    ck_assert_int_eq(probe_octets(d, "[ff 'SMB' 73 00000000 18 0128 00*30]"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, ENCRYPTED), BB_MATCH_LIKELY);
    ck_assert_int_eq(probe_octets(d, "81000044 20 41*32 00"), BB_MATCH_MAYBE);
    ck_assert_int_eq(probe_octets(d, "85000000"), BB_MATCH_NO);
    check_refusals(d);
}
END_TEST

START_TEST(statuses)
{
    char out[40];
    ck_assert_uint_eq(bb_smb2_status_format(0, out, sizeof out), 2);
    ck_assert_str_eq(out, "ok");
    bb_smb2_status_format(0xc0000022, out, sizeof out);
    ck_assert_str_eq(out, "ACCESS_DENIED");
    ck_assert_uint_eq(bb_smb2_status_format(0xc000fffe, out, sizeof out), 10);
    ck_assert_str_eq(out, "0xC000FFFE");
}
END_TEST

TEST_MAIN("smb2", by_message_id, compounds, interim_responses_and_one_way, controls,
          negotiation_by_smb1, smb1_only, smb1_in_gaps, netbios_sessions, encryption,
          encryption_with_loss, compression, chained_compression, compressed_compound,
          calls_in_a_pipe, files_besides_a_pipe, a_file_id_of_all_ones_is_no_pipe, many_pipes,
          pipes_with_loss, large_bodies_are_passed_over, lost_middle, lost_messages, cut_headers,
          lost_end_of_a_compound, joined_midstream, damage, probes, statuses)
