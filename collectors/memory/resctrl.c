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

enum { TEXT_BYTES = 64, LIST_BYTES = 4096, FILTER_BYTES = 4096, L3 = 3, CACHES_MAX = 8, GROUP_MAX = 256 };

// What a group has counted in a domain, as of the last reading that gave a number. The inode tells a group from another
// one that got its name, and knows it again under another name.
struct counted {
    ino_t group;
    size_t domain;
    double total, local; // local NaN: not told apart
    bool seen;           // in this pass
    bool fresh;          // in no pass before it
    bool waits;          // it was there without a number, and has never had one
    bool readable;       // it had a number in the pass before
};

// What the two files of a domain say.
enum meaning {
    MEANING_APART, // the total less local bytes is what other nodes' memory moved
    MEANING_ALL,   // the total is everything, and says nothing of nodes
    MEANING_PART   // somebody has chosen to count less
};

struct domain {
    unsigned id;
    int socket;
    struct host_memory_bytes bytes;
    bool uneven; // in this pass, as in struct host_memory_domain
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

// Line by line: a host of many containers has megabytes of mounts.
static bool find_mount(struct resctrl *resctrl) {
    char path[PATH_MAX], *line = NULL;
    size_t size = 0;
    bool found = false;
    (void)snprintf(path, sizeof path, "%s/self/mountinfo", resctrl->roots->procfs);
    FILE *mounts = fopen(path, "re");
    while (mounts && !found && getline(&line, &size, mounts) > 0)
        found = memory_text_resctrl(line, resctrl->mount, sizeof resctrl->mount);
    if (mounts)
        (void)fclose(mounts);
    free(line);
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
    enum meaning meaning;
};

// AMD's events can be chosen, for all domains (event_configs, Linux 6.18) or for each (mbm_total_bytes_config, Linux
// 6.3), and there dirty lines that leave the cache for local memory are part of the total, not of the local bytes: what
// is not local is not remote. Intel's hosts and Arm's have no such file. Reading the older one makes a CPU of each
// domain answer.
static enum meaning read_meaning(struct pass *pass) {
    char path[PATH_MAX], text[FILTER_BYTES];
    const char *mount = pass->resctrl->mount;
    (void)snprintf(path, sizeof path, "%s/info/L3_MON/event_configs/mbm_total_bytes/event_filter", mount);
    bool found = host_file_read(path, text, sizeof text) > 0;
    if (!found) {
        (void)snprintf(path, sizeof path, "%s/info/L3_MON/mbm_total_bytes_config", mount);
        found = host_file_read(path, text, sizeof text) > 0;
        pass->n_files += found ? (unsigned)pass->resctrl->n_domains : 0;
    }
    return !found ? MEANING_APART : memory_text_counts_all(text) ? MEANING_ALL : MEANING_PART;
}

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
    counted[resctrl->n_counted] = (struct counted){.group = group, .domain = domain, .fresh = true};
    return &counted[resctrl->n_counted++];
}

// Bytes count only where both files have a number, so that a difference never takes one for the other.
static bool read_now(struct pass *pass, const char *folder, struct counted *now) {
    bool missing;
    if (!read_bytes(pass, folder, "mbm_total_bytes", &now->total, &missing))
        return false;
    return pass->meaning != MEANING_APART || read_bytes(pass, folder, "mbm_local_bytes", &now->local, &missing) ||
           missing;
}

// Adds what a group has counted. All that a new one counted came since it was made. One that was there without a
// number, such as without a counter, may have counted for days: it counts from its first number on.
static void take(struct domain *domain, struct counted *before, const struct counted *now) {
    bool begins = before->waits || (isnan(before->local) && !isnan(now->local));
    add_growth(&domain->bytes, now, begins ? now : before);
    before->total = now->total;
    before->local = now->local;
    before->waits = false;
}

static void read_domain(struct pass *pass, const char *folder, ino_t group, unsigned id) {
    struct resctrl *resctrl = pass->resctrl;
    struct counted now = {.local = NAN};
    size_t place = find_domain(resctrl, id);
    pass->too_many = pass->too_many || place == HOST_MEMORY_DOMAINS_MAX || pass->n_files >= RESCTRL_FILES_MAX;
    struct counted *before = pass->too_many ? NULL : find_counted(resctrl, group, place);
    if (!before)
        return;
    struct domain *domain = &resctrl->domains[place];
    bool readable = read_now(pass, folder, &now);
    if (readable)
        take(domain, before, &now);
    else
        before->waits = before->waits || before->fresh;
    domain->uneven = domain->uneven || (!before->fresh && readable != before->readable);
    before->readable = readable;
    before->fresh = false;
    before->seen = true;
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
        if (!memory_text_domain(entry->d_name, &id))
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

static void show_domains(const struct resctrl *resctrl, struct host_memory *out) {
    for (size_t i = 0; i < resctrl->n_domains; i++) {
        const struct domain *domain = &resctrl->domains[i];
        out->domains[out->n_domains++] = (struct host_memory_domain){.id = domain->id,
                                                                     .socket = domain->socket,
                                                                     .bytes = domain->bytes,
                                                                     .before = {NAN, NAN, NAN},
                                                                     .uneven = domain->uneven};
        if (is_known(&domain->bytes))
            out->resctrl = RESCTRL_COUNTING;
    }
}

unsigned resctrl_read(struct resctrl *resctrl, struct host_memory *out) {
    struct pass pass = {.resctrl = resctrl, .out = out};
    out->resctrl = RESCTRL_NOT_MOUNTED;
    for (size_t i = 0; i < resctrl->n_counted; i++)
        resctrl->counted[i].seen = false;
    for (size_t i = 0; i < resctrl->n_domains; i++)
        resctrl->domains[i].uneven = false;
    bool mounted = find_mount(resctrl);
    pass.meaning = mounted ? read_meaning(&pass) : MEANING_APART;
    if (mounted && pass.meaning != MEANING_PART)
        read_groups(&pass, resctrl->mount);
    if (!pass.too_many && pass.meaning != MEANING_PART) // else not all groups were looked at
        forget_gone(resctrl);
    if (!mounted)
        return 0;
    out->resctrl = pass.too_many                  ? RESCTRL_TOO_MANY
                   : pass.meaning == MEANING_PART ? RESCTRL_OTHER_EVENTS
                                                  : RESCTRL_NOT_COUNTING;
    if (out->resctrl == RESCTRL_NOT_COUNTING)
        show_domains(resctrl, out);
    return pass.n_files;
}
