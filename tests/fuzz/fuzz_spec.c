// SPDX-License-Identifier: Apache-2.0
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "config/spec/spec_family.h"
#include "config/spec/spec_json.h"

// Any bytes are a spec or an error message. A shipped spec is never both; a vendor's spec may have errors in its
// entries.

#define DEFAULTS TOPDOWND_SOURCE "/specs/arm/defaults.json"

// Of every spec that names one.
static const char FAMILY[] =
    "{\"events\": {\"CYCLES\": {\"code\": \"0x11\", \"topdownd\": {\"must_count\": true}}, \"WORK\": {\"code\": 8}},"
    "\"metrics\": {\"ipc\": {\"formula\": \"WORK / CYCLES\", \"units\": \"per cycle\"}},"
    "\"groups\": {\"metrics\": {\"General\": {\"metrics\": [\"ipc\"]}}}}";

static void check_errors(const struct errors *errors) {
    for (size_t i = 0; i < errors->n; i++)
        assert(errors->items[i].text[0] != '\0' && !strchr(errors->items[i].text, '\n'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct errors errors;
    struct catalog *catalog = NULL, *vendors = NULL;
    memset(&errors, 0, sizeof errors);
    const struct spec_family_text family = {.text = FAMILY, .length = sizeof FAMILY - 1};
    int r = spec_json_parse_with("fuzz.json", (const char *)data, size, &family, NULL, &errors, &catalog);
    assert((r == 0) == (catalog != NULL));
    assert((r == 0) == (errors.n == 0));
    check_errors(&errors);
    catalog_free(catalog);
    memset(&errors, 0, sizeof errors);
    r = spec_json_parse_vendor("fuzz.json", (const char *)data, size, DEFAULTS, NULL, &errors, &vendors);
    assert((r == 0) == (vendors != NULL));
    assert(r == 0 || errors.n > 0);
    check_errors(&errors);
    catalog_free(vendors);
    return 0;
}
