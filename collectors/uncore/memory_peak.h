// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_UNCORE_MEMORY_PEAK_H
#define TOPDOWND_COLLECTORS_UNCORE_MEMORY_PEAK_H

// How fast the memory of a socket can be: channels in use times what a channel can move.
//
// EDAC's files tell everybody which channels have modules (/sys/devices/system/edac/mc). What a channel can move is the
// modules' width times their configured speed. Only root can read it in the firmware's tables; `topdownd memory save`
// does before the service starts, and leaves it in the runtime folder.

#include <stddef.h>

#include "collectors/host/host_linux.h"

// The file in the runtime folder: bytes per second of one channel, a decimal number.
#define MEMORY_CHANNEL_FILE "memory-channel-bytes-per-second"

// Bytes per second of one channel as the firmware's tables say it. -ENOENT: there are no tables, or no known speed;
// -EACCES: they are for root.
int memory_peak_read_tables(const struct host_roots *roots, double *out);

// The same from the file in `folder`. -ENOENT: it is not there, -EINVAL: it holds no such number.
int memory_peak_read_saved(const char *folder, double *out);

// What the tables say, or else what root has saved in `folder`, which may be NULL. Returns 0, or why the tables say
// nothing.
int memory_peak_read_channel(const struct host_roots *roots, const char *folder, double *out);

// Writes the file, which everybody may read. It replaces a link instead of following it: root writes into a folder that
// is the service's. Returns 0 or a negative errno.
int memory_peak_save(const char *folder, double channel_bytes_per_second);

enum { MEMORY_PACKAGES_MAX = 64 };

// The channels with modules of each package (physical_package_id), out[0] to out[MEMORY_PACKAGES_MAX - 1]; 0: unknown.
void memory_peak_count_channels(const struct host_roots *roots, unsigned out[MEMORY_PACKAGES_MAX]);

// What these channels can move, bytes per second; 0: unknown. `folder` as for memory_peak_read_channel.
void memory_peak_find(const struct host_roots *roots, const char *folder, double out[MEMORY_PACKAGES_MAX]);

#endif
