// SPDX-License-Identifier: Apache-2.0
#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/memory/memory_text.h"

// Any bytes are a file of the kernel about memory; nothing outside of it is read, and no value is negative.

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    double hit = NAN, local = NAN, bytes = NAN;
    const struct memory_row rows[] = {{"numa_hit", &hit}, {"numa_hint_faults_local", &local}};
    char path[32], *text = malloc(size + 1); // as long as the text, so that the sanitizer sees a byte too far
    if (!text)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    (void)memory_text_rows(text, rows, 2);
    assert((isnan(hit) || hit >= 0) && (isnan(local) || local >= 0));
    double total = memory_text_size(text, "MemTotal");
    assert(isnan(total) || total >= 0);
    assert((memory_text_bytes(text, &bytes) == MEMORY_TEXT_BYTES) == !isnan(bytes));
    if (memory_text_resctrl(text, path, sizeof path))
        assert(path[0] != '\0' && strlen(path) < sizeof path);
    unsigned domain = UINT_MAX;
    if (!memory_text_domain(text, &domain))
        assert(domain == UINT_MAX); // untouched
    if (!memory_text_part(text, &domain) && !memory_text_domain(text, &domain))
        assert(domain == UINT_MAX);
    (void)memory_text_unassigned(text, "mbm_total_bytes", 0);
    (void)memory_text_counts_all(text);
    (void)memory_text_dax(text);
    free(text);
    return 0;
}
