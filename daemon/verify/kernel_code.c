// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "daemon/verify/kernel.h"

// A block of a cache line holds four instructions that do nothing and a jump to the next one. The order of the blocks
// is shuffled, so that neither prefetching nor a table of branches of the usual size helps.

enum { LINE = 64 };

#if defined(__x86_64__)
static void write_block(uint8_t *block, const uint8_t *next) {
    int32_t distance = (int32_t)(next - (block + 9));
    memset(block, 0x90, 4);
    block[4] = 0xe9;
    memcpy(block + 5, &distance, sizeof distance);
}
static void write_return(uint8_t *block) { block[0] = 0xc3; }
static const bool KNOWN = true;
#elif defined(__aarch64__)
static void write_block(uint8_t *block, const uint8_t *next) {
    uint32_t words[KERNEL_CODE_INSTRUCTIONS] = {0xd503201f, 0xd503201f, 0xd503201f, 0xd503201f};
    words[4] = 0x14000000 | ((uint32_t)((next - (block + 16)) / 4) & 0x3ffffff);
    memcpy(block, words, sizeof words);
}
static void write_return(uint8_t *block) {
    const uint32_t word = 0xd65f03c0;
    memcpy(block, &word, sizeof word);
}
static const bool KNOWN = true;
#else
static void write_block(uint8_t *block, const uint8_t *next) { (void)block, (void)next; }
static void write_return(uint8_t *block) { (void)block; }
static const bool KNOWN = false;
#endif

int kernel_code_new(size_t blocks, void **code, size_t *bytes) {
    size_t size = (blocks + 1) * LINE;
    size_t *order = calloc(blocks + 1, sizeof *order);
    uint8_t *at =
        KNOWN && order ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
    if (at == MAP_FAILED) {
        free(order);
        return KNOWN ? -ENOMEM : -EOPNOTSUPP;
    }
    for (size_t i = 0; i <= blocks; i++)
        order[i] = i;
    for (size_t i = blocks - 1; i > 1; i--) { // the first and the last stay where they are
        size_t other = 1 + (size_t)random() % i, kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    for (size_t i = 0; i < blocks; i++)
        write_block(at + order[i] * LINE, at + order[i + 1] * LINE);
    write_return(at + blocks * LINE);
    free(order);
    __builtin___clear_cache((char *)at, (char *)at + size);
    if (mprotect(at, size, PROT_READ | PROT_EXEC) < 0) {
        int r = -errno;
        (void)munmap(at, size);
        return r;
    }
    *code = at;
    *bytes = size;
    return 0;
}
