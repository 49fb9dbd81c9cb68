// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "core/base/decimal.h"
#include "daemon/bundle/archive.h"
#include "daemon/bundle/bundle_parts.h"

enum { NAME_BYTES_MAX = 100 };

void bundle_add_bytes(struct bundle *bundle, const char *name, const char *why, const void *bytes, size_t n) {
    char path[NAME_BYTES_MAX], size[DECIMAL_SIZE_MAX];
    if (snprintf(path, sizeof path, "%s/%s", BUNDLE_FOLDER, name) >= (int)sizeof path)
        return;
    archive_add(&bundle->archive, path, bytes, n, bundle->now);
    text_format(&bundle->manifest, "%-28s  %10s  %s\n", name, decimal_write_size((double)n, size), why);
}

void bundle_add_text(struct bundle *bundle, const char *name, const char *why, struct text *text) {
    struct text clean = {0};
    if (text->failed)
        bundle->archive.failed = true;
    else
        redaction_text(&bundle->redaction, text->data ? text->data : "", text->length, &clean);
    bundle->archive.failed |= clean.failed;
    bundle_add_bytes(bundle, name, why, clean.data ? clean.data : "", clean.length);
    text_free(&clean);
    text_free(text);
    *text = (struct text){0};
}

void bundle_miss(struct bundle *bundle, const char *name, const char *why_not) {
    text_format(&bundle->manifest, "%-28s  %10s  %s\n", name, "missing", why_not);
}
