// SPDX-License-Identifier: Apache-2.0
// The table of decoders, in order of probing: those with the strictest signature first.
#include "capture/decoder.h"

#include <string.h>

const BbDecoder *const bb_decoders[] = {
    &bb_decoder_http2,
    &bb_decoder_websocket,
    &bb_decoder_tls,
    &bb_decoder_amqp,
    &bb_decoder_fastcgi,
    &bb_decoder_ajp,
    &bb_decoder_scgi,
    &bb_decoder_giop,
    &bb_decoder_oncrpc,
    &bb_decoder_rmi,
    &bb_decoder_thrift,
    &bb_decoder_dubbo,
    &bb_decoder_zookeeper,
    &bb_decoder_mqtt,
    &bb_decoder_smb2,
    &bb_decoder_cassandra,
    &bb_decoder_dcerpc,
    &bb_decoder_ldap,
    &bb_decoder_snmp,
    &bb_decoder_diameter,
    &bb_decoder_sip,
    &bb_decoder_http,
    &bb_decoder_dns,
    &bb_decoder_postgres,
    &bb_decoder_uwsgi,
    &bb_decoder_mysql,
    &bb_decoder_mongodb,
    &bb_decoder_memcached_binary,
    &bb_decoder_redis,
    &bb_decoder_smtp,
    &bb_decoder_memcached,
    &bb_decoder_afsrx,
    &bb_decoder_radius,
    &bb_decoder_ntp,
    &bb_decoder_nats,
    &bb_decoder_stomp,
    &bb_decoder_jsonrpc,
    &bb_decoder_kafka,
    NULL,
};

// capture/choice.c has a bit for each.
G_STATIC_ASSERT(G_N_ELEMENTS(bb_decoders) - 1 <= 64);

const BbDecoder *bb_decoder_find(const char *name)
{
    for (guint i = 0; bb_decoders[i]; i++)
        if (strcmp(bb_decoders[i]->name, name) == 0)
            return bb_decoders[i];
    return strcmp(name, bb_decoder_turns.name) == 0 ? &bb_decoder_turns : NULL;
}
