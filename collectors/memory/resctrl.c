// SPDX-License-Identifier: Apache-2.0
#include "collectors/memory/resctrl.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "collectors/host/host_file.h"
#include "collectors/memory/memory_text.h"
#include "core/base/array.h"

enum { TEXT_BYTES = 64, LIST_BYTES = 4096, MOUNTS_BYTES = 1 << 17, L3 = 3, CACHES_MAX = 8, GROUP_MAX = 256 };

// What a group has counted in a domain, as of the last reading. The inode tells a group from another one that got its
// name, and knows it again under another name.
struct counted {
    ino_t group;
    size_t domain;
    double total, local; // local NaN: not told apart
    bool seen;           // in this pass
};

struct domain {
    unsigned id;
    int socket;
    struct host_memory_bytes bytes;
};

struct resctrl {
    const struct host_roots *roots;
    struct domain domains[HOST_MEMORY_DOMAINS_MAX];
    size_t n_domains;
    struct counted *counted;
    size_t n_counted;
    char mount[PATH_MAX / 4];
};

struct resctrl *resctrl_new(const struct host_roots *roots) {
    struct resctrl *resctrl = calloc(1, sizeof *resctrl);
    if (resctrl)
        resctrl->roots = roots;
    return resctrl;
}

struct resctrl *resctrl_free(struct resctrl *resctrl) {
    if (resctrl)
        free(resctrl->counted);
    free(resctrl);
    return NULL;
}

// ---- where ----

static bool find_mount(struct resctrl *resctrl) {
    char path[PATH_MAX], *text = malloc(MOUNTS_BYTES);
    (void)snprintf(path, sizeof path, "%s/self/mountinfo", resctrl->roots->procfs);
    bool found = text && host_file_read(path, text, MOUNTS_BYTES) > 0 &&
                 memory_text_resctrl(text, resctrl->mount, sizeof resctrl->mount);
    free(text);
    return found;
}

// The CPU's last-level cache has the number of its domain; -1: the kernel does not tell.
static long long cache_of(const struct host_roots *roots, unsigned cpu) {
    char path[PATH_MAX];
    for (unsigned i = 0; i < CACHES_MAX; i++) {
        (void)snprintf(path, sizeof path, "%s/devices/system/cpu/cpu%u/cache/index%u/level", roots->sysfs, cpu, i);
        if (host_file_number(path, 0) != L3)
            continue;
        (void)snprintf(path, sizeof path, "%s/devices/system/cpu/cpu%u/cache/index%u/id", roots->sysfs, cpu, i);
        return host_file_number(path, -1);
    }
    return -1;
}

static int socket_of(const struct host_roots *roots, unsigned domain) {
    char path[PATH_MAX], text[LIST_BYTES];
    struct cpuset online;
    (void)snprintf(path, sizeof path, "%s/devices/system/cpu/online", roots->sysfs);
    if (host_file_read(path, text, sizeof text) <= 0 || cpuset_parse(text, &online) < 0)
        return -1;
    for (unsigned cpu = 0; cpu < CPUSET_MAX; cpu++) {
        if (!cpuset_has(&online, cpu) || cache_of(roots, cpu) != domain)
            continue;
        (void)snprintf(path, sizeof path, "%s/devices/system/cpu/cpu%u/topology/physical_package_id", roots->sysfs,
                       cpu);
        return (int)host_file_number(path, -1);
    }
    return -1;
}

// The domain's place; n_domains: there is no room.
static size_t find_domain(struct resctrl *resctrl, unsigned id) {
    size_t i = 0;
    while (i < resctrl->n_domains && resctrl->domains[i].id != id)
        i++;
    if (i == resctrl->n_domains && i < HOST_MEMORY_DOMAINS_MAX)
        resctrl->domains[resctrl->n_domains++] = (struct domain){
            .id = id, .socket = socket_of(resctrl->roots, id), .bytes = {.local = NAN, .remote = NAN, .all = NAN}};
    return i;
}

// ---- one pass ----

struct pass {
    struct resctrl *resctrl;
    struct host_memory *out;
    unsigned n_groups, n_files;
    bool too_many;
};

// Reads a file of a domain. False: there is none, or it has no number now; *missing tells which.
static bool read_bytes(struct pass *pass, const char *folder, const char *name, double *out, bool *missing) {
    char path[PATH_MAX], text[TEXT_BYTES];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    ssize_t length = host_file_read(path, text, sizeof text);
    *missing = length == -ENOENT;
    pass->n_files += length != -ENOENT;
    enum memory_text_bytes kind = length > 0 ? memory_text_bytes(text, out) : MEMORY_TEXT_UNAVAILABLE;
    struct host_memory *memory = pass->out;
    if (kind == MEMORY_TEXT_WRONG && memory->problem[0] == '\0')
        (void)snprintf(memory->problem, sizeof memory->problem,
                       "%.256s does not hold a number of bytes, which are missing", path);
    return kind == MEMORY_TEXT_BYTES;
}

static double growth(double now, double before) { return now > before ? now - before : 0; }

static void grow(double *total, double by) { *total = isnan(*total) ? by : *total + by; }

// Adds what has come since `before`. The files of a domain are read one after the other, so that local bytes may be
// ahead of all.
static void add_growth(struct host_memory_bytes *bytes, const struct counted *now, const struct counted *before) {
    double total = growth(now->total, before->total);
    if (isnan(now->local)) {
        grow(&bytes->all, total);
        return;
    }
    double local = growth(now->local, before->local);
    bool fell = now->total < before->total || now->local < before->local;
    grow(&bytes->local, fell ? 0 : local);
    grow(&bytes->remote, fell ? 0 : growth(total, local));
}

// Where a group's last count is kept; NULL: out of memory.
static struct counted *find_counted(struct resctrl *resctrl, ino_t group, size_t domain) {
    size_t i = 0;
    while (i < resctrl->n_counted && (resctrl->counted[i].group != group || resctrl->counted[i].domain != domain))
        i++;
    if (i < resctrl->n_counted)
        return &resctrl->counted[i];
    struct counted *counted = array_grow(resctrl->counted, resctrl->n_counted, sizeof *counted);
    if (!counted)
        return NULL;
    resctrl->counted = counted;
    counted[resctrl->n_counted] = (struct counted){.group = group, .domain = domain};
    return &counted[resctrl->n_counted++];
}

// Bytes count only where both files have a number, so that a difference never takes one for the other.
static void read_domain(struct pass *pass, const char *folder, ino_t group, unsigned id) {
    struct resctrl *resctrl = pass->resctrl;
    struct counted now = {.local = NAN};
    bool no_total, no_local;
    size_t domain = find_domain(resctrl, id);
    pass->too_many = pass->too_many || domain == HOST_MEMORY_DOMAINS_MAX || pass->n_files >= RESCTRL_FILES_MAX;
    struct counted *before = pass->too_many ? NULL : find_counted(resctrl, group, domain);
    if (!before)
        return;
    before->seen = true;
    if (!read_bytes(pass, folder, "mbm_total_bytes", &now.total, &no_total))
        return;
    if (!read_bytes(pass, folder, "mbm_local_bytes", &now.local, &no_local) && !no_local)
        return;
    add_growth(&resctrl->domains[domain].bytes, &now, before);
    before->total = now.total;
    before->local = isnan(now.local) ? 0 : now.local;
}

// Of a host with sub-NUMA clusters, mon_L3_NN has the sum of its parts.
static void read_group(struct pass *pass, const char *folder) {
    char path[PATH_MAX / 2], domain[PATH_MAX];
    struct stat status;
    (void)snprintf(path, sizeof path, "%s/mon_data", folder);
    DIR *entries = opendir(path);
    if (!entries || stat(folder, &status) < 0) {
        if (entries)
            closedir(entries);
        return;
    }
    pass->too_many = pass->too_many || pass->n_groups++ == RESCTRL_GROUPS_MAX;
    for (const struct dirent *entry = readdir(entries); entry && !pass->too_many; entry = readdir(entries)) {
        unsigned id;
        int end = 0;
        if (sscanf(entry->d_name, "mon_L3_%9u%n", &id, &end) != 1 || entry->d_name[end] != '\0')
            continue;
        (void)snprintf(domain, sizeof domain, "%s/%s", path, entry->d_name);
        read_domain(pass, domain, status.st_ino, id);
    }
    closedir(entries);
}

// The root is a control group, too; its other folders are info, mon_data and mon_groups.
static void read_groups(struct pass *pass, const char *mount) {
    char path[PATH_MAX / 4 + GROUP_MAX + 2];
    DIR *entries = opendir(mount);
    read_group(pass, mount);
    for (const struct dirent *entry = entries ? readdir(entries) : NULL; entry && !pass->too_many;
         entry = readdir(entries)) {
        if (entry->d_name[0] == '.' || strcmp(entry->d_name, "info") == 0 || strcmp(entry->d_name, "mon_data") == 0 ||
            strcmp(entry->d_name, "mon_groups") == 0)
            continue;
        (void)snprintf(path, sizeof path, "%s/%s", mount, entry->d_name);
        read_group(pass, path);
    }
    if (entries)
        closedir(entries);
}

// Groups that are gone do not come back: another one has another inode.
static void forget_gone(struct resctrl *resctrl) {
    size_t kept = 0;
    for (size_t i = 0; i < resctrl->n_counted; i++) {
        if (resctrl->counted[i].seen)
            resctrl->counted[kept++] = resctrl->counted[i];
    }
    if (kept == 0) {
        free(resctrl->counted);
        resctrl->counted = NULL;
    }
    resctrl->n_counted = kept;
}

static bool is_known(const struct host_memory_bytes *bytes) { return !isnan(bytes->local) || !isnan(bytes->all); }

unsigned resctrl_read(struct resctrl *resctrl, struct host_memory *out) {
    struct pass pass = {.resctrl = resctrl, .out = out};
    out->resctrl = RESCTRL_NOT_MOUNTED;
    for (size_t i = 0; i < resctrl->n_counted; i++)
        resctrl->counted[i].seen = false;
    bool mounted = find_mount(resctrl);
    if (mounted)
        read_groups(&pass, resctrl->mount);
    if (!pass.too_many)
        forget_gone(resctrl);
    if (!mounted)
        return 0;
    out->resctrl = pass.too_many ? RESCTRL_TOO_MANY : RESCTRL_NOT_COUNTING;
    for (size_t i = 0; i < resctrl->n_domains && !pass.too_many; i++) {
        const struct domain *domain = &resctrl->domains[i];
        out->domains[out->n_domains++] = (struct host_memory_domain){
            .id = domain->id, .socket = domain->socket, .bytes = domain->bytes, .before = {NAN, NAN, NAN}};
        if (is_known(&domain->bytes))
            out->resctrl = RESCTRL_COUNTING;
    }
    return pass.n_files;
}
