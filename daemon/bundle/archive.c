// SPDX-License-Identifier: Apache-2.0
#include "daemon/bundle/archive.h"

#include <stdio.h>
#include <string.h>

enum { BLOCK = 512 };

// The fields of a header that are not 0; their places are those of the standard.
struct header {
    char name[100], mode[8], user[8], group[8], size[12], modified[12], checksum[8], kind, target[100];
    char magic[8], rest[247];
};

_Static_assert(sizeof(struct header) == BLOCK, "a header is a block");

static void pad(struct text *archive, size_t length) {
    static const char zeros[BLOCK] = "";
    text_append(archive, zeros, (BLOCK - length % BLOCK) % BLOCK);
}

void archive_add(struct text *archive, const char *name, const void *data, size_t length, time_t modified) {
    struct header header = {.kind = '0', .magic = "ustar"};
    unsigned sum = 0;
    (void)snprintf(header.name, sizeof header.name, "%s", name);
    memcpy(header.mode, "0000600", sizeof header.mode);
    memcpy(header.user, "0000000", sizeof header.user);
    memcpy(header.group, "0000000", sizeof header.group);
    (void)snprintf(header.size, sizeof header.size, "%011llo", (unsigned long long)length);
    (void)snprintf(header.modified, sizeof header.modified, "%011llo", (unsigned long long)modified);
    memcpy(header.magic + 6, "00", 2);
    memset(header.checksum, ' ', sizeof header.checksum); // as the standard computes the sum
    for (size_t i = 0; i < sizeof header; i++)
        sum += ((const unsigned char *)&header)[i];
    (void)snprintf(header.checksum, sizeof header.checksum, "%06o", sum);
    text_append(archive, &header, sizeof header);
    text_append(archive, data, length);
    pad(archive, length);
}

void archive_end(struct text *archive) {
    static const char zeros[2 * BLOCK] = "";
    text_append(archive, zeros, sizeof zeros);
}
