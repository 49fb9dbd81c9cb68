// SPDX-License-Identifier: Apache-2.0
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "config/spec_json.h"

// Any bytes are a spec or an error in words, never both and never neither.

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct errors errors;
    struct catalog *catalog = NULL;
    memset(&errors, 0, sizeof errors);
    int r = spec_json_parse("fuzz.json", (const char *)data, size, NULL, &errors, &catalog);
    assert((r == 0) == (catalog != NULL));
    assert((r == 0) == (errors.n == 0));
    for (size_t i = 0; i < errors.n; i++)
        assert(errors.items[i].text[0] != '\0' && !strchr(errors.items[i].text, '\n'));
    catalog_free(catalog);
    return 0;
}
