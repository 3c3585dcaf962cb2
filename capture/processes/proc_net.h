// SPDX-License-Identifier: Apache-2.0
// The sockets and addresses of a network namespace, from the text of /proc/PID/net: proc_net(5).
// The text is not trusted: a line that is none is passed over.
#pragma once

#include "capture/processes/socket.h"

// Of tcp, tcp6, udp and udp6: appends BbSocket, up to max of them in all.
void bb_proc_net_sockets(const char *text, gsize length, guint8 protocol, GArray *sockets,
                         guint max);

// Of fib_trie (IPv4) and if_inet6: appends BbAddress, up to max of them in all, each once.
void bb_proc_net_fib_trie(const char *text, gsize length, GArray *addresses, guint max);
void bb_proc_net_if_inet6(const char *text, gsize length, GArray *addresses, guint max);
