// SPDX-License-Identifier: Apache-2.0
// A made-up conversation for tests of decoders: packets of one connection go through the whole of
// capture/ (layers excepted), and what was understood comes back as text.
#pragma once

#include "capture/dialog.h"

typedef struct Converse Converse;

// A connection 10.0.0.1:40000 -> 10.0.0.2:server_port. TCP begins with a handshake.
Converse *converse_tcp(guint16 server_port);
Converse *converse_udp(guint16 server_port);
// TCP joined in the middle: no handshake is seen.
Converse *converse_tcp_midstream(guint16 server_port);

// TCP where the capture may hold only so many bytes.
Converse *converse_tcp_held(guint16 server_port, gsize max_held_bytes);

// TCP, with the secrets of TLS connections, which are lent.
struct BbTlsKeylog;
Converse *converse_tcp_keylog(guint16 server_port, struct BbTlsKeylog *keylog);

// Nobody says anything for so long.
void converse_wait(Converse *converse, guint ms);

// From now on TCP segments hold at most this many bytes (default 1460). Tests run every script
// whole and with 1 byte a segment: the result must be the same but for times.
void converse_segment_size(Converse *converse, gsize bytes);

// Sends bytes from one side; each packet is 1 ms later than the one before, and acknowledges all
// that the other side has sent so far.
void converse_say(Converse *converse, BbDirection direction, const void *bytes, gsize length);
void converse_text(Converse *converse, BbDirection direction, const char *text);
// The same, but the capture does not see it.
void converse_lose(Converse *converse, BbDirection direction, gsize length);
// Sends so many bytes in segments of 1 MiB, of which the snap length leaves nothing.
void converse_cut(Converse *converse, BbDirection direction, guint64 length);
// Sends bytes that were lost again, the first of which is so far behind what comes next.
void converse_late(Converse *converse, BbDirection direction, gsize behind, const void *bytes,
                   gsize length);
// From now on the capture sees every packet twice, as a mirror of both directions shows it.
void converse_mirror_twice(Converse *converse);
// FIN from that side.
void converse_close(Converse *converse, BbDirection direction);

// Ends the capture and tells what was understood, one line a message in order of time:
//   CALL <id> <proto> <op or -> <bytes>
//   RET <id or -> <proto> <status or -> <bytes>
//   MSG <> or <> <proto> <op or -> <bytes>       (> to the server, < to the client)
// Lent until converse_free.
const char *converse_result(Converse *converse);
// Value of a counter after converse_result.
guint64 converse_loss(Converse *converse, int kind);
// Times in ms after the first packet of the n-th line's message (first byte, last byte).
gint64 converse_first_ms(Converse *converse, guint line);
gint64 converse_last_ms(Converse *converse, guint line);
void converse_free(Converse *converse);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Converse, converse_free)
