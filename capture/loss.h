// SPDX-License-Identifier: Apache-2.0
// Everything capture counts: what was seen, what was damaged, what was given up. One table gives
// each its name in the trace and its sentence for people; nothing is lost without a line here.
#pragma once

#include "data/counters.h"

// X(constant, name in the trace, what it means, is it a loss that lowers trust)
#define BB_LOSS_TABLE(X)                                                                           \
    X(BB_SEEN_FRAMES, "frames", "frames read", false)                                              \
    X(BB_SEEN_BYTES, "frame_bytes", "bytes on the wire of the frames read", false)                 \
    X(BB_SEEN_TCP, "tcp_packets", "TCP packets", false)                                            \
    X(BB_SEEN_UDP, "udp_packets", "UDP packets", false)                                            \
    X(BB_SEEN_CONNECTIONS, "connections", "TCP connections and UDP address pairs", false)          \
    X(BB_SKIP_NOT_IP, "skipped_not_ip", "frames that carry no IP (ARP, STP, LLDP, ...)", false)    \
    X(BB_SKIP_PROTOCOL, "skipped_not_tcp_udp", "IP packets of other protocols", false)             \
    X(BB_SKIP_LINK, "skipped_link_type", "frames of a link type that is not supported", true)      \
    X(BB_BAD_FRAME, "bad_frames", "frames whose headers make no sense", true)                      \
    X(BB_CUT_FRAME, "cut_headers", "frames cut by the snap length inside their headers", true)     \
    X(BB_CUT_PAYLOAD, "cut_payloads", "packets whose payload the snap length cut", true)           \
    X(BB_DEEP_FRAME, "too_deep", "frames with more nested layers than the limit", true)            \
    X(BB_TUNNELLED, "tunnelled", "tunnel headers passed (GRE, VXLAN, IP in IP, ...)", false)       \
    X(BB_FRAGMENTS, "ip_fragments", "IP fragments", false)                                         \
    X(BB_FRAGMENT_DONE, "ip_reassembled", "IP packets put together from fragments", false)         \
    X(BB_FRAGMENT_LOST, "ip_fragments_lost", "IP packets given up for want of fragments", true)    \
    X(BB_FRAGMENT_BAD, "ip_fragments_bad", "IP fragments that overlap or run too far", true)       \
    X(BB_TCP_ECHOED, "tcp_mirrored_twice", "TCP packets seen again at once", false)                \
    X(BB_NAT_JOINED, "nat_joined", "connections seen on both sides of a NAT, joined to one",       \
      false)                                                                                       \
    X(BB_NAT_PACKETS, "nat_packets", "packets of theirs left out, as seen twice", false)           \
    X(BB_NAT_SEEN_TWICE, "nat_seen_twice",                                                         \
      "connections seen on both sides of a NAT, and counted twice", false)                         \
    X(BB_NAT_PARTED, "nat_parted",                                                                 \
      "joined connections that became several again before they ended", true)                      \
    X(BB_NAT_LIMIT, "nat_limit",                                                                   \
      "connections that might have been joined with others, but for the limit", true)              \
    X(BB_TCP_RETRANSMITTED, "tcp_retransmitted", "TCP segments sent again", false)                 \
    X(BB_TCP_REORDERED, "tcp_reordered", "TCP segments that came out of order", false)             \
    X(BB_TCP_GAPS, "tcp_gaps", "holes in TCP streams", true)                                       \
    X(BB_TCP_GAP_BYTES, "tcp_gap_bytes", "bytes missing in TCP streams", true)                     \
    X(BB_TCP_MIDSTREAM, "tcp_midstream", "connections joined in the middle", false)                \
    X(BB_TCP_RESETS, "tcp_resets", "connections reset", false)                                     \
    X(BB_TCP_AFTER_RESET, "tcp_after_reset",                                                       \
      "TCP segments with data that crossed a reset, left out", false)                              \
    X(BB_TCP_ODD, "tcp_odd", "TCP segments outside of any window, ignored", false)                 \
    X(BB_TCP_BUFFER_LIMIT, "tcp_buffer_limit", "streams cut short by the memory limit", true)      \
    X(BB_EVICTED_CONNECTIONS, "connections_evicted", "connections forgotten at the limit", true)   \
    X(BB_DECODER_LOST, "decoder_resync", "times a decoder lost its place and found it again",      \
      true)                                                                                        \
    X(BB_DECODER_UNREAD, "decoder_unread_bytes",                                                   \
      "bytes passed over unread by decoders that had lost their place", true)                      \
    X(BB_DECODER_STRAYED, "decoder_strayed",                                                       \
      "sides of connections that no decoder found its place in again", true)                       \
    X(BB_REPLIES_PASSED, "replies_passed",                                                         \
      "parts of replies that answer nothing: behind a hole, or of calls that were abandoned",      \
      true)                                                                                        \
    X(BB_DECODER_GAVE_UP, "decoder_gave_up", "streams that turned out to be no such protocol",     \
      true)                                                                                        \
    X(BB_COMPRESSED_STREAMS, "compressed_streams", "streams of which compression hides the calls", \
      true)                                                                                        \
    X(BB_STREAM_MESSAGES, "stream_messages",                                                       \
      "messages inside of streaming calls, not written one by one", false)                         \
    X(BB_TLS_KEYS_UNKNOWN, "tls_keys_unknown",                                                     \
      "TLS connections whose secrets the key log does not have", false)                            \
    X(BB_TLS_UNDECRYPTED, "tls_undecrypted",                                                       \
      "TLS connections that could not be decrypted, or not to their end", true)                    \
    X(BB_KEYLOG_LIMIT, "keylog_limit", "connections of the key log forgotten at the limit", true)  \
    X(BB_KEYLOG_ODD, "keylog_odd", "lines of the key log that are no secrets, passed over", true)  \
    X(BB_MESSAGE_LIMIT, "message_limit", "streams whose message headers exceed the limit", true)   \
    X(BB_PENDING_LIMIT, "pending_limit", "open calls forgotten at the limit per connection", true) \
    X(BB_LABEL_LIMIT, "label_limit", "operation labels replaced by * at the limit", true)          \
    X(BB_NAMES_UNLEARNED, "names_unlearned", "names in DNS answers ignored at the limit", false)   \
    X(BB_NODES_MERGED, "nodes_merged", "connections whose host is called * at the limit", true)    \
    X(BB_NOT_FOLLOWED, "not_followed", "packets of nobody who is followed, left out", false)       \
    X(BB_FOLLOW_LIMIT, "follow_limit", "packets to hosts that are not followed at the limit",      \
      true)                                                                                        \
    X(BB_FOLLOW_FORGOTTEN, "follow_forgotten", "servers that following forgot at the limit",       \
      false)                                                                                       \
    X(BB_SERVERS_FORGOTTEN, "servers_forgotten",                                                   \
      "servers forgotten at the limit, of those that handshakes had shown", false)                 \
    X(BB_PROCESSES_UNKNOWN, "processes_unknown",                                                   \
      "connection ends at this host whose process was not found", false)                           \
    X(BB_PROCESSES_INFERRED, "processes_inferred",                                                 \
      "clients named after the only process seen to call the same server", false)                  \
    X(BB_CALLS, "calls", "calls", false)                                                           \
    X(BB_RETURNS, "returns", "returns", false)                                                     \
    X(BB_FREES, "free_messages", "free messages", false)                                           \
    X(BB_CALLS_UNRETURNED, "calls_unreturned", "calls whose return was not seen", true)            \
    X(BB_RETURNS_ORPHANED, "returns_orphaned", "returns whose call was not seen", true)            \
    X(BB_CALLS_CLOSED, "calls_closed",                                                             \
      "calls over which the connection was closed, before a return came", false)                   \
    X(BB_RETURNS_UNREAD, "returns_unread",                                                         \
      "returns that came when their caller had closed the connection, not read", false)            \
    X(BB_DATAGRAM_ECHOED, "udp_mirrored_twice", "UDP datagrams seen again at once", false)         \
    X(BB_REPEATED, "requests_repeated",                                                            \
      "requests and replies that were sent again (retries); each is written once", false)          \
    X(BB_NETWORK_LIMIT, "network_limit",                                                           \
      "connections whose network facts are left out at the limit", false)                          \
    X(BB_KERNEL_RECEIVED, "kernel_received", "packets that passed the filter in the kernel",       \
      false)                                                                                       \
    X(BB_KERNEL_DROPPED, "kernel_dropped", "packets dropped by the kernel for want of buffer",     \
      true)                                                                                        \
    X(BB_KERNEL_UNREAD, "kernel_unread", "packets left unread in the kernel's buffer", true)       \
    X(BB_INTERFACE_DROPPED, "interface_dropped", "packets dropped by the interface", true)         \
    X(BB_INTERFACE_OUTAGES, "interface_outages", "times an interface was down or gone", true)      \
    X(BB_CLOCK_SET_BACK, "clock_set_back",                                                         \
      "times the stamps of packets stepped back by more than a second", true)                      \
    X(BB_FRAMES_CROSSED, "frames_crossed", "frames given after later ones of another interface",   \
      false)                                                                                       \
    X(BB_SHED_RAISES, "shed_raised", "times less was kept, for want of speed", false)              \
    X(BB_SHED_TURNS, "shed_turned",                                                                \
      "times other flows were not kept in place of some, as that had not helped", false)           \
    X(BB_SHED_VAIN, "shed_in_vain", "times flows were kept again, as leaving out none helped",     \
      false)                                                                                       \
    X(BB_SHED_TRIMMING_MS, "shed_trimming_ms",                                                     \
      "milliseconds in which payload that decoders pass over was not copied", false)               \
    X(BB_SHED_FLOWS_MS, "shed_flows_ms", "milliseconds in which some flows were not kept", true)   \
    X(BB_SHED_TRIMMED, "shed_trimmed_packets", "packets of which payload was not copied", false)   \
    X(BB_SHED_TRIMMED_BYTES, "shed_trimmed_bytes", "bytes of payload that were not copied", false) \
    X(BB_SHED_PACKETS, "shed_packets", "packets of flows that were not kept", true)                \
    X(BB_SHED_CONNECTIONS, "shed_connections", "conversations broken off or not begun, about",     \
      true)                                                                                        \
    X(BB_SHED_CALLS, "shed_calls", "calls whose return was not waited for, of those", true)        \
    X(BB_SOURCE_CUT, "input_cut", "capture files that break off", true)                            \
    X(BB_MESSAGES_LATE, "messages_late", "messages written out of order", false)                   \
    X(BB_MESSAGES_UNWRITTEN, "messages_unwritten",                                                 \
      "messages lost because the trace could not be written", true)                                \
    X(BB_MESSAGES_DROPPED, "messages_dropped", "messages that bbtrace drop left out", true)

typedef enum {
#define X(constant, name, meaning, is_loss) constant,
    BB_LOSS_TABLE(X)
#undef X
        BB_LOSS_COUNT
} BbLossKind;

typedef struct BbLoss {
    guint64 count[BB_LOSS_COUNT];
} BbLoss;

// Name in the trace, sentence for people, and whether it lowers the trust in the trace. For a
// counter read from a trace, bb_loss_find returns its kind, or BB_LOSS_COUNT.
const char *bb_loss_name(BbLossKind kind);
const char *bb_loss_meaning(BbLossKind kind);
bool bb_loss_is_loss(BbLossKind kind);
BbLossKind bb_loss_find(const char *name);

// Adds the counts of loss to sum.
void bb_loss_add(BbLoss *sum, const BbLoss *loss);

// Adds all that are not zero to counters.
void bb_loss_publish(const BbLoss *loss, BbCounters *counters);
