// SPDX-License-Identifier: Apache-2.0
#include "tests/build/vendor.h"

#include "core/spec/catalog_builder.h"

static int finish(int r, struct catalog_builder *builder, struct catalog **out) {
    if (r == 0)
        *out = catalog_builder_finish(builder);
    return r;
}

int vendor_load_spec(const char *path, const char *defaults, const struct environment *environment,
                     struct errors *errors, struct catalog **out) {
    struct catalog_builder *builder = NULL;
    int r = spec_json_read_vendor(path, defaults, environment, errors, &builder);
    return finish(r, builder, out);
}

int vendor_load_perf(const struct perf_json_request *request, struct errors *errors, struct catalog **out) {
    struct catalog_builder *builder = NULL;
    int r = perf_json_read(request, errors, &builder);
    return finish(r, builder, out);
}
