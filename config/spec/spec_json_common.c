// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/spec/spec_json_private.h"

void spec_take(const struct json_node *node, int result, const struct fault *fault) {
    if (result == -ENOMEM)
        json_fail_memory(node);
    else if (result < 0)
        json_fail(node, "%s", fault->text);
}

bool spec_parse_code(const char *text, uint64_t *code) {
    bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *digits = hexadecimal ? text + 2 : text;
    size_t length = strspn(digits, hexadecimal ? "0123456789abcdefABCDEF" : "0123456789");
    if (length == 0 || digits[length] != '\0')
        return false;
    errno = 0;
    *code = strtoull(digits, NULL, hexadecimal ? 16 : 10);
    return errno == 0;
}

size_t spec_known_names(const struct spec_reader *spec, const struct json_node *at, const char **names, size_t n,
                        int (*find)(const struct catalog *catalog, const char *name)) {
    size_t known = 0;
    for (size_t i = 0; i < n; i++) {
        if (find(spec->catalog, names[i]) >= 0)
            names[known++] = names[i];
        else
            json_fail(at, "names %.60s, which is wrong or missing", names[i]);
    }
    return known;
}
