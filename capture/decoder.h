// SPDX-License-Identifier: Apache-2.0
// What a protocol decoder is: a line in the table of capture/protocols/decoders.c and one file. It
// is fed the bytes of a dialog in order, takes whole units off their front, and tells the dialog
// which calls, returns and free messages it saw (capture/dialog.h). It allocates nothing per
// message, but for what it unpacks or decrypts and for prepared statements that it remembers, which
// are bounded.
#pragma once

#include "capture/dialog.h"

typedef enum {
    BB_MATCH_NO,      // certainly not a message of this protocol
    BB_MATCH_MORE,    // cannot be told from so few bytes
    BB_MATCH_MAYBE,   // looks like it, but other protocols can look the same: the port decides
    BB_MATCH_LIKELY,  // has its structure, some 20 bits of it (lengths that fit, codes that exist):
                      // the port decides, or that the other side's answer is likely too
    BB_MATCH_REQUEST, // certainly this protocol, sent by the client
    BB_MATCH_REPLY,   // certainly this protocol, sent by the server
} BbMatch;

#define BB_PARSE_BAD (-1) // parse: these bytes are not this protocol

typedef struct BbDecoder {
    const char *name;  // protocol name of the trace (`proto=`): lower case, static
    const char *about; // for people: what it reads, and how returns are paired. One line
    bool tcp, udp;     // transports it runs on
    bool takes_turns;  // nobody asks ahead, while much of what is said is not answered at all
    guint16 ports[8];  // usual server ports, 0-terminated; they decide only BB_MATCH_MAYBE
    gsize state_size;  // bytes of zeroed state a dialog gets
    // TCP messages that say their own length: how they are cut. The state begins with BbFrames
    // then, and parse, gap and finish below are or call bb_frames_parse and its kin
    // (capture/protocols/framing.h).
    const struct BbFraming *framing;

    // Looks at the first bytes of a message. Must answer BB_MATCH_NO for random bytes; a
    // certain answer has checked 32 bits or more. Text a person typed to another text protocol must
    // be told apart, or the answer is MAYBE. NULL: it is never found by its bytes
    // (bb_dialog_switch_to).
    BbMatch (*probe)(const guint8 *data, gsize length);

    // Takes units off the front of view and returns how many bytes (0 = wait for more), or
    // BB_PARSE_BAD. Called again with what remains when more came, when a skip has ended (then also
    // with no bytes at all), and once with view->closed when no more bytes will come. A datagram
    // arrives whole, alone and with closed set; what is not taken of it is dropped.
    // Only the first unit needs to be taken; the dialog calls again while bytes are taken.
    gssize (*parse)(BbDialog *dialog, void *state, const BbView *view);

    // Bytes are missing before the next ones of this direction (TCP): end what was under way with
    // what was seen (a message whose start was seen is kept), and find the next start of a message
    // in the bytes to come. NULL: the dialog probes again at the next turn.
    // Not called where bb_dialog_skip covered the missing bytes.
    void (*gap)(BbDialog *dialog, void *state, BbDirection direction);

    // The dialog ends (both sides closed, reset, evicted, end of capture): emit what was under way.
    // May be NULL. Runs after the last parse with closed set.
    void (*finish)(BbDialog *dialog, void *state);

    // Bytes the state holds beyond state_size; they count to the memory limit of the capture. And
    // what is done at that limit: they are let go of, which may cost labels. NULL: there are none.
    gsize (*held)(const void *state);
    void (*let_go)(BbDialog *dialog, void *state);
} BbDecoder;

// All decoders, NULL-terminated, in order of probing; the last resort (turn-taking) is not in it.
// At most 64 of them.
extern const BbDecoder *const bb_decoders[];
extern const BbDecoder bb_decoder_turns;

// The decoder of that name, turn-taking by `turns`; NULL if there is none.
const BbDecoder *bb_decoder_find(const char *name);

// What people know better: whatever is said at this server port is of this protocol. Turn-taking
// so asked for is not probed again.
typedef struct BbDecodeAs {
    guint16 port;
    const BbDecoder *decoder;
} BbDecodeAs;

// A decoder takes over with a reply: what the client has said by now, in state of the turns, is a
// call.
void bb_turns_end_request(BbDialog *dialog, void *state);
// The other side has begun to speak, but its bytes are kept, since more of them may tell the
// protocol. Where both have spoken before, nothing they tell changes what the turn before is.
void bb_turns_keep(BbDialog *dialog, void *state);

extern const BbDecoder bb_decoder_afsrx;
extern const BbDecoder bb_decoder_ajp;
extern const BbDecoder bb_decoder_amqp;
extern const BbDecoder bb_decoder_cassandra;
extern const BbDecoder bb_decoder_dcerpc;
extern const BbDecoder bb_decoder_diameter;
extern const BbDecoder bb_decoder_dns;
extern const BbDecoder bb_decoder_dubbo;
extern const BbDecoder bb_decoder_fastcgi;
extern const BbDecoder bb_decoder_giop;
extern const BbDecoder bb_decoder_http;
extern const BbDecoder bb_decoder_http2;
extern const BbDecoder bb_decoder_jsonrpc;
extern const BbDecoder bb_decoder_kafka;
extern const BbDecoder bb_decoder_ldap;
extern const BbDecoder bb_decoder_memcached;
extern const BbDecoder bb_decoder_memcached_binary;
extern const BbDecoder bb_decoder_mongodb;
extern const BbDecoder bb_decoder_mqtt;
extern const BbDecoder bb_decoder_mysql;
extern const BbDecoder bb_decoder_nats;
extern const BbDecoder bb_decoder_ntp;
extern const BbDecoder bb_decoder_oncrpc;
extern const BbDecoder bb_decoder_postgres;
extern const BbDecoder bb_decoder_radius;
extern const BbDecoder bb_decoder_redis;
extern const BbDecoder bb_decoder_rmi;
extern const BbDecoder bb_decoder_scgi;
extern const BbDecoder bb_decoder_sip;
extern const BbDecoder bb_decoder_smb2;
extern const BbDecoder bb_decoder_smtp;
extern const BbDecoder bb_decoder_snmp;
extern const BbDecoder bb_decoder_stomp;
extern const BbDecoder bb_decoder_thrift;
extern const BbDecoder bb_decoder_tls;
extern const BbDecoder bb_decoder_uwsgi;
extern const BbDecoder bb_decoder_websocket;
extern const BbDecoder bb_decoder_zookeeper;
