// SPDX-License-Identifier: Apache-2.0
#include <assert.h>
#include <string.h>

#include "config/spec/uncore_kinds_json.h"

// Any bytes are a list of kinds or an error message.

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct errors errors;
    struct uncore_kinds kinds = {0};
    memset(&errors, 0, sizeof errors);
    int r = uncore_kinds_json_parse("kinds.json", (const char *)data, size, &errors, &kinds);
    assert((r == 0) == (errors.n == 0));
    assert(r == 0 || kinds.n == 0);
    for (size_t k = 0; k < kinds.n; k++) {
        const struct uncore_kind *kind = &kinds.kinds[k];
        assert(kind->name[0] != '\0' && strlen(kind->name) < UNCORE_NAME_MAX);
        assert(kind->spec[0] != '\0' && !strchr(kind->spec, '/') && !strchr(kind->spec, '.'));
        assert(kind->pattern && kind->cpus && kind->group[0] != '\0');
    }
    uncore_kinds_json_deinit(&kinds);
    return 0;
}
