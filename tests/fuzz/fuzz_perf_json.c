// SPDX-License-Identifier: Apache-2.0
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "config/vendor/perf_json.h"

// Any bytes are a file of pmu-events, or of intel/perfmon, that makes a catalog, with or without errors, or an error
// message. The first byte chooses the CPU and the form.

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const cpus[] = {"GenuineIntel-6-8F-4", "AuthenticAMD-26-2-1", "0x410fd4f0"};
    struct errors errors;
    struct catalog *catalog = NULL;
    if (size == 0)
        return 0;
    const struct perf_json_request request = {.cpuid = cpus[data[0] % 3],
                                              .trees = TOPDOWND_SOURCE "/specs/perf/trees.json",
                                              .all_events = data[0] / 3 % 2 == 0,
                                              .perfmon = data[0] / 6 % 2 == 1};
    memset(&errors, 0, sizeof errors);
    int r = perf_json_parse(&request, "fuzz.json", (const char *)data + 1, size - 1, &errors, &catalog);
    assert((r == 0) == (catalog != NULL));
    assert(r == 0 || errors.n > 0);
    for (size_t i = 0; i < errors.n; i++)
        assert(errors.items[i].text[0] != '\0' && !strchr(errors.items[i].text, '\n'));
    for (size_t m = 0; catalog && m < catalog->n_metrics; m++)
        assert(catalog->metrics[m].formula);
    catalog_free(catalog);
    return 0;
}
