// SPDX-License-Identifier: Apache-2.0
#include "core/identify.h"

#include <regex.h>
#include <string.h>

// MIDR_EL1: implementer 31:24, variant 23:20, architecture 19:16, part 15:4, revision 3:0. A core's counters and their
// errata can change with variant and revision, and what is true of one release holds for the later ones until a spec
// says otherwise.

static uint32_t model_of(uint32_t midr) { return midr & 0xff0ffff0; }

// Variant and revision as one number that grows from release to release.
static uint32_t release_of(uint32_t midr) { return (midr >> 16 & 0xf0) | (midr & 0xf); }

bool midr_matches(uint32_t entry, uint32_t midr) {
    return model_of(entry) == model_of(midr) && release_of(entry) <= release_of(midr);
}

static size_t dashes_in(const char *text) {
    size_t n = 0;
    for (; *text != '\0'; text++)
        n += *text == '-';
    return n;
}

// A short pattern may stand for a machine of any size ("((a{255}){255}){255}"), or be matched for years ("\\1").
static bool is_affordable(const char *pattern) {
    return strlen(pattern) <= CPUID_PATTERN_MAX && strpbrk(pattern, "{\\") == NULL;
}

bool cpuid_matches(const char *pattern, const char *cpuid) {
    char text[64];
    size_t length = strlen(cpuid);
    regex_t regex;
    regmatch_t match;
    if (length >= sizeof text || !is_affordable(pattern) || regcomp(&regex, pattern, REG_EXTENDED) != 0)
        return false;
    memcpy(text, cpuid, length + 1);
    if (dashes_in(pattern) != 3 && dashes_in(text) == 3)
        *strrchr(text, '-') = '\0';
    bool matches = regexec(&regex, text, 1, &match, 0) == 0 && match.rm_so == 0 && text[match.rm_eo] == '\0';
    regfree(&regex);
    return matches;
}

const struct catalog *catalog_choose_midr(const struct catalog *const *catalogs, size_t n, uint32_t midr) {
    const struct catalog *best = NULL, *generic = NULL;
    uint32_t best_release = 0;
    for (size_t i = 0; i < n; i++) {
        const struct catalog_product *product = &catalogs[i]->product;
        if (product->generic && !generic)
            generic = catalogs[i];
        for (size_t j = 0; j < product->n_midrs; j++) {
            uint32_t entry = product->midrs[j];
            if (!midr_matches(entry, midr) || (best && release_of(entry) <= best_release))
                continue;
            best = catalogs[i];
            best_release = release_of(entry);
        }
    }
    return best ? best : generic;
}
