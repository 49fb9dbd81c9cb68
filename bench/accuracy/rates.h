// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_BENCH_ACCURACY_RATES_H
#define TOPDOWND_BENCH_ACCURACY_RATES_H

// How often each event happens a second in each mix of work (load.h), from the spec's file in this folder.

#include "core/spec/catalog.h"

// Returns [mix][catalog event], which the caller frees. Ends the program where the file has an error.
double *rates_load(const struct catalog *catalog, const char *spec);

#endif
