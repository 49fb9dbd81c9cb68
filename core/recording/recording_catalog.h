// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_RECORDING_RECORDING_CATALOG_H
#define TOPDOWND_CORE_RECORDING_RECORDING_CATALOG_H

// A whole catalog in a record, for a recording whose catalog is not made from a shipped spec: the vendor's files and
// the kernel's own names of events are not on the machine that replays it.
//
// Events are stored as they were encoded on the recorded host. Formulas are stored as texts, and compiled again for the
// facts of that host, which the recording's header has.

#include "core/recording/recording.h"

// The flags of an event.
enum recording_event_flag {
    RECORDING_EVENT_FREE = 1,
    RECORDING_EVENT_EXCLUSIVE = 2,
    RECORDING_EVENT_FIXED = 4,
    RECORDING_EVENT_SAMPLING_ONLY = 8,
    RECORDING_EVENT_MAY_BE_ZERO = 16,
    RECORDING_EVENT_MUST_COUNT = 32, // from version 7 on
    RECORDING_EVENT_DEAD = 64,       // likewise; a text follows, why it is
    RECORDING_EVENT_FLAGS = 127
};

// Added to a metric's constraint where a sibling includes the metric: then the sibling follows.
enum { RECORDING_METRIC_INCLUDED = 8 };

// Added to whether level 1 is there where what follows from metrics stands after it.
enum { RECORDING_LEVEL1_CONCLUSIONS = 2 };

// Appends a record. Returns 0, or -ENOMEM if nothing was added.
int recording_put_catalog(struct recording_buffer *out, const struct catalog *catalog);

// The same catalog again, which catalog_free frees. Returns 0; -EBADMSG if the record is malformed or makes no sense;
// -ENOMEM.
int recording_get_catalog(const struct recording_record *record, const struct environment *environment,
                          struct catalog **out);

#endif
