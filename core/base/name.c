// SPDX-License-Identifier: Apache-2.0
#include "core/base/name.h"

#include <ctype.h>

static const char *skip(const char *s) {
    while (*s == '_' || *s == '-')
        s++;
    return s;
}

void name_fold(const char *name, char *out, size_t size) {
    size_t length = 0;
    for (name = skip(name); *name != '\0' && length + 1 < size; name = skip(name + 1))
        out[length++] = (char)tolower((unsigned char)*name);
    out[length] = '\0';
}

bool name_equal(const char *a, const char *b) {
    for (a = skip(a), b = skip(b); *a != '\0' && *b != '\0'; a = skip(a + 1), b = skip(b + 1))
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
    return *a == *b;
}
