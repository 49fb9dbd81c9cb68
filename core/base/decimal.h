// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_BASE_DECIMAL_H
#define TOPDOWND_CORE_BASE_DECIMAL_H

// Numbers as people write them. strtod would accept too much (hexadecimal, "inf", white space) and depends on the
// locale.

#include <stdbool.h>
#include <stdint.h>

// digits / 10^places. At most 15 digits, which are exact in a double.
struct decimal {
    uint64_t digits;
    unsigned places;
};

// Reads "200" or "0.25" at the start of *text, and moves *text past it.
bool decimal_read(const char **text, struct decimal *out);
double decimal_value(struct decimal decimal);

// Reads a whole text such as "200ms" or "1.5h": a number and ms, s, m or h. Returns 0, -EINVAL if it is not a duration,
// or -EDOM if it is a number without a unit.
int decimal_read_duration(const char *text, double *out_ns);

// Reads a whole text such as "256M": a number and M or G, which are MiB and GiB. Returns 0, or -EINVAL.
int decimal_read_size(const char *text, double *out_bytes);

enum { DECIMAL_SIZE_MAX = 32 };
// Writes bytes for people, in the unit that leaves few digits: "24 KiB", "42 MiB". Returns out.
const char *decimal_write_size(double bytes, char out[DECIMAL_SIZE_MAX]);

#endif
