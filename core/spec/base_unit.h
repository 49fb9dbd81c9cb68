// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_SPEC_BASE_UNIT_H
#define TOPDOWND_CORE_SPEC_BASE_UNIT_H

// Vendors give some metrics in units such as GHz and GB per second. Exported values are in base units, and
// shares run from 0 to 1.

struct base_unit {
    const char *unit;   // the vendor's
    const char *base;   // the exported one
    const char *suffix; // of the exported name
    double factor;      // base units in one of the vendor's
};

// NULL if the unit is a base unit already, or none.
const struct base_unit *base_unit_find(const char *unit);

// What people read behind a percentage: "of operations" of the exported units "ratio of operations" and "share of
// operations", "" of "ratio". Points into `unit`. NULL: values in this unit are no percentages.
const char *base_unit_whole(const char *unit);

#endif
