// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_BASE_START_MEMORY_H
#define TOPDOWND_DAEMON_BASE_START_MEMORY_H

// Makes the C library return what is freed: all threads share one heap, whose unused memory can be given back
// everywhere, and a large block, such as a page or a snapshot of a thousand CPUs, is never part of it. Call it before
// there is a second thread.
void start_memory_init(void);

// Gives memory back that only the start needed: freed memory that the C library keeps, such as that of the parsed
// files, and the pages of program and libraries that were mapped to link and to initialise them, more than half of all.
// What is still needed is mapped again from the page cache when it is next used, without reading a disk.
void start_memory_give_back(void);

#endif
