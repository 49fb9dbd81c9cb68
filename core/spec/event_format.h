// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_SPEC_EVENT_FORMAT_H
#define TOPDOWND_CORE_SPEC_EVENT_FORMAT_H

// Encodes the text of an event, "event=0xc2,umask=0x1,inv,cmask=0x10", as the numbers of perf_event_attr.
//
// A PMU's format gives the bits and the number that each term fills, in the form of the kernel's files
// /sys/bus/event_source/devices/PMU/format/*: "config:0-7,32-35". The low bits of a value go to the low bits of the
// field. Fields of one PMU may overlap (Intel's offcore_rsp, ldlat and frontend do): an event uses only one of them.

#include <stddef.h>
#include <stdint.h>

#include "core/base/fault.h"
#include "core/spec/pmu_event.h"

enum { EVENT_FORMAT_FIELDS_MAX = 64, EVENT_FORMAT_NAME_MAX = 32, EVENT_FORMAT_WORDS = 3, EVENT_FORMAT_TERMS_MAX = 64 };

struct event_format_field {
    char name[EVENT_FORMAT_NAME_MAX];
    unsigned word; // 0: config, 1: config1, 2: config2
    uint64_t bits; // of that word; at least one
};

struct event_format;

// Returns 0 or -ENOMEM.
int event_format_new(struct event_format **out);
struct event_format *event_format_free(struct event_format *format);

// Adds a field in the form of the kernel's files: add("umask", "config:8-15"). White space at the end is ignored.
// Returns 0, or -EINVAL with *fault filled: a duplicate, a repeated bit, an unknown number, too many fields.
int event_format_add(struct event_format *format, const char *name, const char *text, struct fault *fault);

// NULL if the PMU has no such field.
const struct event_format_field *event_format_find(const struct event_format *format, const char *name);

size_t event_format_count(const struct event_format *format);
const struct event_format_field *event_format_at(const struct event_format *format, size_t i); // in order of addition

// Encodes terms in perf's form: names or name=value, separated by ','; a bare name is 1; values are decimal or 0x... A
// term of the format fills its field. config, config1 and config2 set a whole number, over which the fields are laid.
// Terms that perf accepts but that do not change the count (name, period ...) are ignored. Sets the three numbers of
// *out and leaves its pmu alone. Returns 0, or -EINVAL with *fault filled.
int event_format_encode(const struct event_format *format, const char *terms, struct pmu_event *out,
                        struct fault *fault);

#endif
