// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_IDENTIFY_H
#define TOPDOWND_CORE_IDENTIFY_H

// Which spec is for which CPU.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/catalog.h"

enum { CPUID_PATTERN_MAX = 255 };

// True where a spec's entry covers a CPU with this MIDR_EL1 (Arm Architecture Reference Manual, MIDR_EL1): implementer,
// architecture and part are the same, and variant and revision (r<variant>p<revision>) are the entry's or later.
bool midr_matches(uint32_t entry, uint32_t midr);

// True where `pattern` describes an x86 CPU, written as perf writes it: vendor-family-model-stepping, family decimal,
// model and stepping hexadecimal ("GenuineIntel-6-8F-4"). The pattern is a POSIX extended regular expression for the
// whole text; unless it has three '-' it describes all steppings, ranges such as [0-9A-F] counted as perf counts them
// (tools/perf/arch/x86/util/header.c). One that is longer than CPUID_PATTERN_MAX or has '{' or '\\' describes none.
bool cpuid_matches(const char *pattern, const char *cpuid);

// The spec for a CPU: of all entries that cover it the latest variant and revision wins, where two specs have the same
// one the first. Where there is none it is the first generic spec, and NULL where there is no generic one either. Every
// architecture has a generic spec of its own, so `catalogs` are to be those whose PMU this host has.
const struct catalog *catalog_choose_midr(const struct catalog *const *catalogs, size_t n, uint32_t midr);

#endif
