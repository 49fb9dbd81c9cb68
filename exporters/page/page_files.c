// SPDX-License-Identifier: Apache-2.0
#include "exporters/page/page_files.h"

#include <string.h>

const struct page_file *page_files_find(const char *name) {
    for (size_t i = 0; i < page_files_n; i++)
        if (strcmp(page_files[i].name, name) == 0)
            return &page_files[i];
    return NULL;
}
