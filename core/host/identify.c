// SPDX-License-Identifier: Apache-2.0
#include "core/host/identify.h"

#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"

// MIDR_EL1: implementer 31:24, variant 23:20, architecture 19:16, part 15:4, revision 3:0. A core's counters and their
// errata can change with variant and revision. Facts about one release hold for later ones until a spec says otherwise.

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

// Even a short pattern may need a state machine of any size ("((a{255}){255}){255}") or take years to match ("\\1").
static bool is_affordable(const char *pattern) {
    return strlen(pattern) <= CPUID_PATTERN_MAX && strpbrk(pattern, "{\\") == NULL;
}

bool cpuid_matches(const char *pattern, const char *cpuid) {
    char text[64];
    size_t length = strlen(cpuid);
    regex_t regex;
    regmatch_t match;
    if (length >= sizeof text || !is_affordable(pattern))
        return false;
    memcpy(text, cpuid, length + 1);
    if (dashes_in(pattern) != 3 && dashes_in(text) == 3)
        *strrchr(text, '-') = '\0';
    if (!strpbrk(pattern, ".[()*+?|^$")) // plain text, like half of the vendors' patterns
        return strcmp(pattern, text) == 0;
    if (regcomp(&regex, pattern, REG_EXTENDED) != 0)
        return false;
    bool matches = regexec(&regex, text, 1, &match, 0) == 0 && match.rm_so == 0 && text[match.rm_eo] == '\0';
    regfree(&regex);
    return matches;
}

// ---- lists ----

// Reads VALUE or VALUE/MASK. False: it is neither.
static bool parse_midr(const char *entry, uint32_t *value, uint32_t *mask) {
    static const char DIGITS[] = "0123456789abcdefABCDEF";
    char *end = NULL;
    *mask = UINT32_MAX;
    if (strncmp(entry, "0x", 2) != 0 || strspn(entry + 2, DIGITS) != 8)
        return false;
    *value = (uint32_t)strtoul(entry, &end, 16);
    if (*end == '\0')
        return true;
    if (strncmp(end, "/0x", 3) != 0 || strspn(end + 3, DIGITS) != 8 || strlen(end) != strlen("/0xffffffff"))
        return false;
    *mask = (uint32_t)strtoul(end + 1, NULL, 16);
    return (*value & ~*mask) == 0;
}

bool cpu_is_listed(const char *entry, const char *cpuid) {
    uint32_t value, mask;
    bool arm = strncmp(cpuid, "0x", 2) == 0;
    if (parse_midr(entry, &value, &mask))
        return arm && ((uint32_t)strtoull(cpuid, NULL, 16) & mask) == value;
    return !arm && cpuid[0] != '\0' && cpuid_matches(entry, cpuid);
}

static int check_cpuid(const char *pattern, struct fault *fault) {
    regex_t regex;
    if (strlen(pattern) >= CPU_MAP_TEXT_MAX || regcomp(&regex, pattern, REG_EXTENDED) != 0)
        return fault_set(fault, "'%.80s' is not an extended regular expression of at most %d characters", pattern,
                         CPU_MAP_TEXT_MAX - 1);
    regfree(&regex);
    return 0;
}

int cpu_check_entry(const char *entry, struct fault *fault) {
    uint32_t value, mask;
    if (strncmp(entry, "0x", 2) != 0)
        return check_cpuid(entry, fault);
    return parse_midr(entry, &value, &mask)
               ? 0
               : fault_set(fault, "'%.40s' is not a MIDR_EL1 of 8 digits such as 0x410fd4f0, nor VALUE/MASK of two",
                           entry);
}

// ---- the map ----

static void row_deinit(struct cpu_row *row) {
    for (size_t i = 0; i < row->n_cpuids; i++)
        free(row->cpuids[i]);
    for (size_t i = 0; i < row->n_known_as; i++)
        free(row->known_as[i]);
    for (size_t i = 0; i < row->n_sold_as; i++)
        free(row->sold_as[i]);
    for (size_t i = 0; i < row->n_shows; i++)
        free(row->shows[i]);
    free(row->shows);
    free(row->sold_as);
    free(row->known_as);
    free(row->core);
    free(row->vendor);
    free(row->pmu);
    free(row->cpuids);
    free(row->midrs);
    free(row->spec);
}

void cpu_map_deinit(struct cpu_map *map) {
    while (map->n > 0)
        row_deinit(&map->rows[--map->n]);
    while (map->n_files > 0)
        row_deinit(&map->files[--map->n_files]);
    free(map->files);
    free(map->rows);
    map->files = map->rows = NULL;
}

static bool has_midr(const struct cpu_row *row, size_t n, uint32_t midr) {
    for (size_t i = 0; i < n; i++)
        if (row->midrs[i] == midr)
            return true;
    return false;
}

static int check_midr(const struct cpu_map *map, const struct cpu_row *row, size_t i, struct fault *fault) {
    uint32_t midr = row->midrs[i];
    bool twice = has_midr(row, i, midr);
    // every 64-bit core has 0xf in the architecture field, so this rejects short forms such as 0x41d49
    if ((midr >> 16 & 0xf) != 0xf)
        return fault_set(fault, "0x%08x is not a whole MIDR_EL1: its fifth hexadecimal digit from the right must be f",
                         midr);
    for (size_t r = 0; r < map->n && !twice; r++)
        twice = has_midr(&map->rows[r], map->rows[r].n_midrs, midr);
    return twice ? fault_set(fault, "the MIDR 0x%08x stands twice: remove one", midr) : 0;
}

static int check_row(const struct cpu_map *map, const struct cpu_row *row, struct fault *fault) {
    int r = 0;
    if ((row->n_midrs > 0) + (row->n_cpuids > 0) + (row->pmu != NULL) != 1)
        return fault_set(fault,
                         "matches no CPU, or says in several ways which: it needs one of midr, cpuid and generic");
    if (row->core && row->n_cpuids == 0)
        return fault_set(fault, "a core belongs to cpuid only: the others know theirs");
    if (row->vendor && !row->pmu)
        return fault_set(fault, "a vendor belongs to generic only: the others know theirs");
    if (row->n_shows > 0 && !row->pmu)
        return fault_set(fault, "shows belongs to generic only: the others know their events");
    if (map->n == CPU_MAP_ROWS_MAX || row->n_midrs > CPU_MAP_ENTRIES_MAX || row->n_cpuids > CPU_MAP_ENTRIES_MAX)
        return fault_set(fault, "there are more than %d rows, or more than %d entries in one", CPU_MAP_ROWS_MAX,
                         CPU_MAP_ENTRIES_MAX);
    for (size_t i = 0; i < row->n_midrs && r == 0; i++)
        r = check_midr(map, row, i, fault);
    for (size_t i = 0; i < row->n_cpuids && r == 0; i++)
        r = check_cpuid(row->cpuids[i], fault);
    return r;
}

// False if out of memory; the row then holds the texts copied so far.
static bool copy_texts(char *const *from, size_t n, char ***to, size_t *n_to) {
    *to = calloc(n + 1, sizeof **to);
    for (; *to && *n_to < n; (*n_to)++)
        if (!((*to)[*n_to] = strdup(from[*n_to])))
            return false;
    return *to != NULL;
}

static bool copy_row(const struct cpu_row *row, struct cpu_row *out) {
    out->spec = strdup(row->spec);
    out->midrs = calloc(row->n_midrs + 1, sizeof *out->midrs);
    out->pmu = row->pmu ? strdup(row->pmu) : NULL;
    out->vendor = strdup(row->vendor ? row->vendor : "");
    out->core = strdup(row->core ? row->core : "");
    if (!out->spec || !out->midrs || (row->pmu && !out->pmu) || !out->vendor || !out->core)
        return false;
    if (row->n_midrs > 0)
        memcpy(out->midrs, row->midrs, row->n_midrs * sizeof *out->midrs);
    out->n_midrs = row->n_midrs;
    return copy_texts(row->cpuids, row->n_cpuids, &out->cpuids, &out->n_cpuids) &&
           copy_texts(row->known_as, row->n_known_as, &out->known_as, &out->n_known_as) &&
           copy_texts(row->sold_as, row->n_sold_as, &out->sold_as, &out->n_sold_as) &&
           copy_texts(row->shows, row->n_shows, &out->shows, &out->n_shows);
}

int cpu_map_add(struct cpu_map *map, const struct cpu_row *row, struct fault *fault) {
    int r = check_row(map, row, fault);
    if (r < 0)
        return r;
    struct cpu_row copy = {0}, *rows = array_grow(map->rows, map->n, sizeof *rows);
    if (rows)
        map->rows = rows;
    if (!rows || !copy_row(row, &copy)) {
        row_deinit(&copy);
        return -ENOMEM;
    }
    map->rows[map->n++] = copy;
    return 0;
}

int cpu_map_add_files(struct cpu_map *map, const struct cpu_row *row, struct fault *fault) {
    struct cpu_map files = {.rows = map->files, .n = map->n_files};
    int r = cpu_map_add(&files, row, fault);
    map->files = files.rows;
    map->n_files = files.n;
    return r;
}

static const struct cpu_row *choose_midr(const struct cpu_map *map, uint32_t midr) {
    const struct cpu_row *best = NULL;
    uint32_t best_release = 0;
    for (size_t i = 0; i < map->n; i++)
        for (size_t j = 0; j < map->rows[i].n_midrs; j++) {
            uint32_t entry = map->rows[i].midrs[j];
            if (!midr_matches(entry, midr) || (best && release_of(entry) <= best_release))
                continue;
            best = &map->rows[i];
            best_release = release_of(entry);
        }
    return best;
}

static bool has_cpuid(const struct cpu_row *row, const char *cpuid) {
    for (size_t i = 0; i < row->n_cpuids; i++)
        if (cpuid_matches(row->cpuids[i], cpuid))
            return true;
    return false;
}

// The cores of a hybrid host share their CPUID. Where the kernel has one PMU for all of them, the first row, which is
// that of the larger cores, is the right one: the others are switched off.
static const struct cpu_row *choose_cpuid(const struct cpu_map *map, const char *cpuid, const char *core) {
    const struct cpu_row *first = NULL;
    for (size_t i = 0; i < map->n; i++) {
        const struct cpu_row *row = &map->rows[i];
        if ((first && row->core[0] == '\0') || !has_cpuid(row, cpuid))
            continue;
        if (row->core[0] == '\0' || (core && strcmp(row->core, core) == 0))
            return row;
        first = first ? first : row;
    }
    return first;
}

// Of a CPU that no PMU is known for, nothing is shown.
static bool shows_all(const struct cpu_identity *identity, const struct cpu_row *row) {
    size_t shown = 0;
    while (shown < row->n_shows && identity->core && identity->shows &&
           identity->shows(identity->context, identity->core, row->shows[shown]))
        shown++;
    return shown == row->n_shows;
}

static const struct cpu_row *choose_generic(const struct cpu_map *map, const struct cpu_identity *identity) {
    const char *vendor = identity->vendor ? identity->vendor : "";
    for (size_t i = 0; i < map->n; i++) {
        const struct cpu_row *row = &map->rows[i];
        if (row->pmu && (row->vendor[0] == '\0' || strcmp(row->vendor, vendor) == 0) &&
            identity->has_pmu(identity->context, row->pmu) && shows_all(identity, row))
            return row;
    }
    return NULL;
}

const struct cpu_row *cpu_map_choose(const struct cpu_map *map, const struct cpu_identity *identity) {
    const struct cpu_row *row = identity->has_midr ? choose_midr(map, identity->midr) : NULL;
    if (!row && identity->cpuid)
        row = choose_cpuid(map, identity->cpuid, identity->core);
    return row ? row : choose_generic(map, identity);
}

// True if the vendor has hybrid CPUs with this PMU.
static bool vendor_has_pmu(const struct cpu_map *map, const char *vendor, const char *pmu) {
    for (size_t i = 0; i < map->n; i++)
        for (size_t j = 0; j < map->rows[i].n_cpuids; j++)
            if (strcmp(map->rows[i].core, pmu) == 0 && strncmp(map->rows[i].cpuids[j], vendor, strlen(vendor)) == 0)
                return true;
    return false;
}

static bool generic_fits_pmu(const struct cpu_map *map, const struct cpu_row *row, const char *pmu, bool hybrid) {
    size_t length = strlen(row->pmu);
    if (hybrid)
        return strcmp(row->pmu, "cpu") == 0 && vendor_has_pmu(map, row->vendor, pmu);
    if (length > 0 && row->pmu[length - 1] == '*')
        return strncmp(row->pmu, pmu, length - 1) == 0;
    return strcmp(row->pmu, pmu) == 0;
}

// On x86 the kernel has the PMU "cpu", or on hybrid hosts "cpu_core", "cpu_atom" and "cpu_lowpower" instead.
static bool row_fits_pmu(const struct cpu_map *map, const struct cpu_row *row, const char *pmu) {
    bool hybrid = strncmp(pmu, "cpu_", 4) == 0, x86 = hybrid || strcmp(pmu, "cpu") == 0;
    if (row->pmu)
        return generic_fits_pmu(map, row, pmu, hybrid);
    if (row->n_midrs > 0)
        return !x86;
    return hybrid ? strcmp(row->core, pmu) == 0 : x86;
}

bool cpu_map_fits_pmu(const struct cpu_map *map, const char *spec, const char *pmu) {
    bool listed = false, fits = false;
    for (size_t i = 0; i < map->n && !fits; i++) {
        bool of_spec = strcmp(map->rows[i].spec, spec) == 0;
        listed = listed || of_spec;
        fits = of_spec && row_fits_pmu(map, &map->rows[i], pmu);
    }
    return fits || !listed;
}

const struct cpu_row *cpu_map_find_generic(const struct cpu_map *map, const char *spec) {
    for (size_t i = 0; i < map->n; i++)
        if (map->rows[i].pmu && strcmp(map->rows[i].spec, spec) == 0)
            return &map->rows[i];
    return NULL;
}

const char *cpu_map_find_files(const struct cpu_map *map, const struct cpu_identity *identity) {
    const struct cpu_map files = {.rows = map->files, .n = map->n_files};
    const struct cpu_row *row = identity->has_midr ? choose_midr(&files, identity->midr) : NULL;
    if (!row && identity->cpuid)
        row = choose_cpuid(&files, identity->cpuid, identity->core);
    return row ? row->spec : NULL;
}
