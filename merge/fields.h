// SPDX-License-Identifier: Apache-2.0
// The fields of a message as columns with names: what JSON Lines and CSV have in common.
#pragma once

#include "data/message.h"
#include "data/stamp.h"

typedef enum {
    BB_FIELD_TIME,   // nanoseconds since 1970
    BB_FIELD_NUMBER, // of bytes, below 2^64 - 1
    BB_FIELD_FRAME,  // of a packet, 1 to 2^32 - 1
    BB_FIELD_NAME,   // any text
    BB_FIELD_ID,     // a call or a path
    BB_FIELD_KIND,   // call, return or message
    BB_FIELD_SIDE,   // sender or receiver
    BB_FIELD_TEXT,   // any text, lent by the message
} BbFieldForm;

typedef struct BbField {
    const char *name;   // as people call it
    const char *column; // as files call it: a time has its unit
    BbFieldForm form;
    gsize offset;    // in BbMessage
    bool write_only; // never read back
} BbField;

// In the order of columns.
const BbField *bb_field_at(gsize index);        // NULL behind the last
const BbField *bb_field_find(const char *name); // by name; NULL if there is none

// Whether the text of such a field is a whole number.
bool bb_field_is_number(const BbField *field);

// Appends the text of a message's field, as it is. Returns false, and appends nothing, where the
// message has none.
bool bb_field_append(const BbField *field, const BbMessage *message, const BbNames *names,
                     GString *out);

// Puts text into a field. unit is that of a time. Empty text is no value. Text of BB_FIELD_TEXT is
// lent to the message. Returns NULL, or the static reason why the text is none for this field.
const char *bb_field_take(const BbField *field, const char *text, BbStampUnit unit, BbNames *names,
                          BbMessage *message);
