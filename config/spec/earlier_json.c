// SPDX-License-Identifier: Apache-2.0
#include "config/spec/earlier_json.h"

#include <stdlib.h>
#include <unistd.h>

#include "config/json/json_reader.h"

enum { FILE_MAX = 1 << 16, DEPTH_MAX = 4, NAMES_MAX = 1024 };

static void read_document(const struct json_node *root, bool mark, struct catalog_builder *builder) {
    static const char *const keys[] = {"_comment", "may_be_zero"};
    const char **names;
    size_t n;
    json_check_keys(root, keys, sizeof keys / sizeof *keys);
    if (!json_get_texts(root, "may_be_zero", JSON_REQUIRED, NAMES_MAX, &names, &n))
        return;
    catalog_builder_set_may_be_zero(builder, names, n, mark);
    free(names);
}

int earlier_json_mark(const char *path, bool mark, struct errors *errors, struct catalog_builder *builder) {
    struct json_reader reader = {.file = path, .errors = errors};
    if (access(path, F_OK) < 0)
        return 0;
    cJSON *document = json_load(&reader, FILE_MAX, DEPTH_MAX);
    if (document) {
        const struct json_node root = json_root(&reader, document);
        read_document(&root, mark, builder);
    }
    cJSON_Delete(document);
    return reader.status;
}
