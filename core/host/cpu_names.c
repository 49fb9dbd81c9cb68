// SPDX-License-Identifier: Apache-2.0
#include "core/host/cpu_names.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

enum { FOLDED_MAX = 128 };

// Words that say nothing about which CPU it is. "r", "tm" and "c" are what trademark signs leave.
static bool is_noise(const char *word, size_t length) {
    static const char *const noise[] = {
        "r",         "tm",         "c",        "intel",  "amd",    "arm",    "nvidia",  "ampere",  "huawei",
        "hisilicon", "microsoft",  "aws",      "amazon", "azure",  "google", "fujitsu", "alibaba", "cpu",
        "processor", "processors", "platinum", "gold",   "silver", "bronze", "series"};
    for (size_t i = 0; i < sizeof noise / sizeof *noise; i++)
        if (strlen(noise[i]) == length && strncmp(word, noise[i], length) == 0)
            return true;
    return false;
}

static bool is_part(char c) { return isalnum((unsigned char)c) || c == '+'; }

void cpu_name_fold(const char *name, char *out, size_t size) {
    size_t n = 0;
    for (const char *c = name; *c != '\0' && *c != '@';) {
        char word[FOLDED_MAX];
        size_t length = 0;
        while (*c != '\0' && *c != '@' && !is_part(*c))
            c++;
        for (; is_part(*c); c++)
            if (length + 1 < sizeof word)
                word[length++] = (char)tolower((unsigned char)*c);
        if (length == 4 && strncmp(word, "with", 4) == 0)
            break;
        for (size_t i = 0; i < length && !is_noise(word, length) && n + 1 < size; i++)
            out[n++] = word[i];
    }
    out[n] = '\0';
}

bool cpu_row_is_called(const struct cpu_row *row, const char *name) {
    char folded[FOLDED_MAX], known[FOLDED_MAX];
    cpu_name_fold(name, folded, sizeof folded);
    for (size_t i = 0; i < row->n_known_as && folded[0] != '\0'; i++) {
        cpu_name_fold(row->known_as[i], known, sizeof known);
        if (strcmp(folded, known) == 0)
            return true;
    }
    for (size_t i = 0; i < row->n_sold_as && folded[0] != '\0'; i++)
        if (fnmatch(row->sold_as[i], folded, 0) == 0)
            return true;
    return false;
}

const char *cpu_map_files_called(const struct cpu_map *map, const char *name) {
    char folded[FOLDED_MAX], known[FOLDED_MAX];
    cpu_name_fold(name, folded, sizeof folded);
    for (size_t i = 0; i < map->n_files && folded[0] != '\0'; i++) {
        const char *slash = strrchr(map->files[i].spec, '/');
        cpu_name_fold(slash ? slash + 1 : map->files[i].spec, known, sizeof known);
        if (strcmp(folded, known) == 0)
            return map->files[i].spec;
    }
    return NULL;
}
