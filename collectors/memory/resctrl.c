// SPDX-License-Identifier: Apache-2.0
#include "collectors/memory/resctrl.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "collectors/host/host_file.h"
#include "collectors/memory/memory_text.h"
#include "collectors/memory/resctrl_where.h"
#include "core/base/array.h"
#include "core/memory/resctrl_sum.h"

enum { TEXT_BYTES = 64, FILTER_BYTES = 4096, LISTED_MAX = 4096, MOUNT_MAX = PATH_MAX / 4 };

// What a group has counted in a place.
struct counted {
    ino_t group;
    size_t domain;
    int part;
    struct resctrl_count count;
    bool seen; // in this pass
};

// And in a domain.
struct row {
    ino_t group;
    size_t domain;
    struct resctrl_sum sum;
    bool seen, readable; // in this pass
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
    struct resctrl_sum sum;
};

struct resctrl {
    const struct host_roots *roots;
    struct domain domains[HOST_MEMORY_DOMAINS_MAX];
    size_t n_domains;
    struct counted *counted;
    size_t n_counted;
    struct row *rows;
    size_t n_rows;
    struct resctrl_listed *groups; // of the last pass that looked at all
    size_t n_groups;
    bool whole; // control groups were read alone, with what is in them
    double implausible;
    char mount[MOUNT_MAX];
};

struct resctrl *resctrl_new(const struct host_roots *roots) {
    struct resctrl *resctrl = calloc(1, sizeof *resctrl);
    if (resctrl)
        resctrl->roots = roots;
    return resctrl;
}

struct resctrl *resctrl_free(struct resctrl *resctrl) {
    if (resctrl) {
        free(resctrl->groups);
        free(resctrl->rows);
        free(resctrl->counted);
    }
    free(resctrl);
    return NULL;
}

// ---- what is kept ----

// The domain's place; n_domains: there is no room.
static size_t find_domain(struct resctrl *resctrl, unsigned id) {
    size_t i = 0;
    while (i < resctrl->n_domains && resctrl->domains[i].id != id)
        i++;
    if (i == resctrl->n_domains && i < HOST_MEMORY_DOMAINS_MAX) {
        struct domain *domain = &resctrl->domains[resctrl->n_domains++];
        *domain = (struct domain){.id = id, .socket = resctrl_socket_of(resctrl->roots, id)};
        resctrl_sum_init(&domain->sum);
        resctrl_sum_begin(&domain->sum);
    }
    return i;
}

// A group's last count; NULL: there is none.
static struct counted *look_up(const struct resctrl *resctrl, ino_t group, size_t domain, int part) {
    for (size_t i = 0; i < resctrl->n_counted; i++) {
        struct counted *counted = &resctrl->counted[i];
        if (counted->group == group && counted->domain == domain && counted->part == part)
            return counted;
    }
    return NULL;
}

// Where it is kept; NULL: out of memory.
static struct counted *find_counted(struct resctrl *resctrl, ino_t group, size_t domain, int part) {
    struct counted *counted = look_up(resctrl, group, domain, part);
    if (counted)
        return counted;
    counted = array_grow(resctrl->counted, resctrl->n_counted, sizeof *counted);
    if (!counted)
        return NULL;
    resctrl->counted = counted;
    counted[resctrl->n_counted] = (struct counted){.group = group, .domain = domain, .part = part};
    return &counted[resctrl->n_counted++];
}

static struct row *find_row(struct resctrl *resctrl, ino_t group, size_t domain) {
    for (size_t i = 0; i < resctrl->n_rows; i++)
        if (resctrl->rows[i].group == group && resctrl->rows[i].domain == domain)
            return &resctrl->rows[i];
    struct row *rows = array_grow(resctrl->rows, resctrl->n_rows, sizeof *rows);
    if (!rows)
        return NULL;
    resctrl->rows = rows;
    rows[resctrl->n_rows] = (struct row){.group = group, .domain = domain};
    resctrl_sum_init(&rows[resctrl->n_rows].sum);
    resctrl_sum_begin(&rows[resctrl->n_rows].sum);
    return &rows[resctrl->n_rows++];
}

static void begin_pass(struct resctrl *resctrl) {
    for (size_t i = 0; i < resctrl->n_counted; i++)
        resctrl->counted[i].seen = false;
    for (size_t i = 0; i < resctrl->n_rows; i++) {
        resctrl->rows[i].seen = resctrl->rows[i].readable = false;
        resctrl_sum_begin(&resctrl->rows[i].sum);
    }
    for (size_t i = 0; i < resctrl->n_domains; i++)
        resctrl_sum_begin(&resctrl->domains[i].sum);
}

// Groups that are gone do not come back: another one has another inode. What they counted since the last pass is lost.
static void forget_gone(struct resctrl *resctrl) {
    size_t kept = 0;
    for (size_t i = 0; i < resctrl->n_counted; i++) {
        const struct counted *counted = &resctrl->counted[i];
        if (counted->seen)
            resctrl->counted[kept++] = *counted;
        else if (counted->count.readable)
            resctrl_sum_note(&resctrl->domains[counted->domain].sum, RESCTRL_GAP_GROUPS);
    }
    resctrl->n_counted = kept;
    kept = 0;
    for (size_t i = 0; i < resctrl->n_rows; i++)
        if (resctrl->rows[i].seen)
            resctrl->rows[kept++] = resctrl->rows[i];
    resctrl->n_rows = kept;
    if (resctrl->n_counted == 0) { // array_grow begins anew
        free(resctrl->counted);
        resctrl->counted = NULL;
    }
    if (resctrl->n_rows == 0) {
        free(resctrl->rows);
        resctrl->rows = NULL;
    }
}

static const struct resctrl_listed *find_group(const struct resctrl_listed *groups, size_t n, ino_t inode) {
    for (size_t i = 0; i < n; i++)
        if (groups[i].inode == inode)
            return &groups[i];
    return NULL;
}

// A group that was made anew under the name of one that is gone goes on with its totals.
static void inherit(struct resctrl *resctrl, const struct resctrl_listed *groups, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (find_group(resctrl->groups, resctrl->n_groups, groups[i].inode))
            continue;
        for (size_t k = 0; k < resctrl->n_groups; k++) {
            const struct resctrl_listed *old = &resctrl->groups[k];
            if (strcmp(old->group.name, groups[i].group.name) != 0 || find_group(groups, n, old->inode))
                continue;
            for (size_t r = 0; r < resctrl->n_rows; r++)
                if (resctrl->rows[r].group == old->inode)
                    resctrl->rows[r].group = groups[i].inode;
        }
    }
}

// ---- one pass ----

struct pass {
    struct resctrl *resctrl;
    struct host_memory *out;
    struct resctrl_moment now;
    struct resctrl_listed *groups;
    size_t n_groups;
    unsigned n_files;
    bool too_many, anew;
    bool unknown; // what there is cannot be told now
    enum meaning meaning;
};

// AMD's events can be chosen, for all domains (event_configs, Linux 6.18) or for each (mbm_total_bytes_config, Linux
// 6.3), and there dirty lines that leave the cache for local memory are part of the total, not of the local bytes: what
// is not local is not remote. Intel's hosts have no such file. Arm's count bytes with assigned counters only, and have
// event_filter, which nobody can write (fs/resctrl, "Create 'event_filter' files read only if they're not
// configurable"): it says nothing that somebody chose. Reading the older file makes a CPU of each domain answer.
static enum meaning read_meaning(struct pass *pass) {
    char path[PATH_MAX], text[FILTER_BYTES];
    struct stat status;
    const char *mount = pass->resctrl->mount;
    (void)snprintf(path, sizeof path, "%s/info/L3_MON/event_configs/mbm_total_bytes/event_filter", mount);
    bool found = host_file_read(path, text, sizeof text) > 0;
    if (found && stat(path, &status) == 0 && (status.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)) == 0)
        return MEANING_ALL;
    if (!found) {
        (void)snprintf(path, sizeof path, "%s/info/L3_MON/mbm_total_bytes_config", mount);
        found = host_file_read(path, text, sizeof text) > 0;
        pass->n_files += found ? (unsigned)pass->resctrl->n_domains : 0;
    }
    return !found ? MEANING_APART : memory_text_counts_all(text) ? MEANING_ALL : MEANING_PART;
}

// False: there is no such file.
static bool read_bytes(struct pass *pass, const char *folder, const char *name, double *out, bool *unassigned) {
    char path[PATH_MAX], text[TEXT_BYTES];
    struct host_memory *memory = pass->out;
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    ssize_t length = host_file_read(path, text, sizeof text);
    *out = NAN;
    if (length == -ENOENT)
        return false;
    pass->n_files++;
    enum memory_text_bytes kind = length > 0 ? memory_text_bytes(text, out) : MEMORY_TEXT_UNAVAILABLE;
    *unassigned = *unassigned || kind == MEMORY_TEXT_UNASSIGNED;
    if (kind == MEMORY_TEXT_WRONG && memory->problem[0] == '\0')
        (void)snprintf(memory->problem, sizeof memory->problem,
                       "%.256s does not hold a number of bytes, which are missing", path);
    return true;
}

// False: the group has no such files in this place.
static bool read_place(struct pass *pass, const struct resctrl_listed *group, const struct resctrl_place *place,
                       struct resctrl_said *said) {
    char folder[PATH_MAX - TEXT_BYTES];
    size_t length = resctrl_folder(pass->resctrl->mount, group->group.name, folder, sizeof folder);
    (void)snprintf(folder + length, sizeof folder - length, "/mon_data/%s", place->folder);
    *said = (struct resctrl_said){NAN, NAN, false, false};
    bool exists = read_bytes(pass, folder, "mbm_total_bytes", &said->total, &said->unassigned);
    if (exists && pass->meaning == MEANING_APART)
        said->tells_local = read_bytes(pass, folder, "mbm_local_bytes", &said->local, &said->unassigned);
    return exists;
}

// Takes in what a group has counted in a place.
static void take(struct pass *pass, const struct resctrl_listed *group, const struct resctrl_place *place,
                 const struct resctrl_seen *seen) {
    struct resctrl *resctrl = pass->resctrl;
    size_t domain = find_domain(resctrl, place->domain);
    struct counted *counted = find_counted(resctrl, group->inode, domain, place->part);
    struct row *row = find_row(resctrl, group->inode, domain);
    if (!counted || !row)
        return;
    counted->count.seen = counted->count.seen || pass->anew;
    struct resctrl_growth growth = resctrl_count_take(&counted->count, seen, pass->now);
    struct resctrl_sum *sums[] = {&row->sum, &resctrl->domains[domain].sum};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        if (seen->number && counted->count.known)
            resctrl_sum_add(sums[i], &growth, !isnan(seen->local));
        else
            resctrl_sum_note(sums[i], growth.gap);
    }
    resctrl->implausible += growth.gap == RESCTRL_GAP_IMPLAUSIBLE;
    counted->seen = row->seen = true;
    row->readable = row->readable || counted->count.readable;
}

// With assignable counters (AMD's ABMC), a group without one has a sum of its monitoring groups all the same.
static bool is_unassigned(const struct pass *pass, const struct resctrl_listed *group,
                          const struct resctrl_place *place) {
    char path[PATH_MAX], text[FILTER_BYTES];
    size_t length = resctrl_folder(pass->resctrl->mount, group->group.name, path, sizeof path);
    (void)snprintf(path + length, sizeof path - length, "/mbm_L3_assignments");
    return host_file_read(path, text, sizeof text) > 0 &&
           (memory_text_unassigned(text, "mbm_total_bytes", place->domain) ||
            (pass->meaning == MEANING_APART && memory_text_unassigned(text, "mbm_local_bytes", place->domain)));
}

// The monitoring groups follow their control group in the list.
static size_t count_children(const struct pass *pass, size_t control) {
    size_t n = 0;
    while (control + 1 + n < pass->n_groups && pass->groups[control + 1 + n].group.monitoring)
        n++;
    return n;
}

// Reads all of them before any is taken in, so that they are read as soon after one another as possible.
static struct resctrl_children read_children(struct pass *pass, size_t control, const struct resctrl_place *place) {
    struct resctrl_children children = {.set = 0};
    size_t n = count_children(pass, control), domain = find_domain(pass->resctrl, place->domain);
    const struct resctrl_listed *groups = &pass->groups[control + 1];
    struct child {
        struct resctrl_said said;
        bool exists;
    } *all = n > 0 ? calloc(n, sizeof *all) : NULL;
    for (size_t i = 0; i < n && all; i++) {
        all[i].exists = read_place(pass, &groups[i], place, &all[i].said);
        const struct counted *counted = look_up(pass->resctrl, groups[i].inode, domain, place->part);
        bool fresh = !pass->anew && !(counted && counted->count.seen);
        resctrl_children_add(&children, groups[i].inode, &all[i].said, fresh);
    }
    for (size_t i = 0; i < n && all; i++) {
        const struct resctrl_seen seen = resctrl_see_group(&all[i].said);
        if (all[i].exists)
            take(pass, &groups[i], place, &seen);
    }
    free(all);
    return children;
}

// A control group with what is in it, of which only the names are known.
static void read_whole(struct pass *pass, size_t control, const struct resctrl_place *place) {
    struct resctrl_said said;
    if (!read_place(pass, &pass->groups[control], place, &said))
        return;
    struct resctrl_seen seen = resctrl_see_group(&said);
    struct resctrl_children children = {.set = 0};
    for (size_t n = count_children(pass, control), i = 0; i < n; i++)
        resctrl_children_add(&children, pass->groups[control + 1 + i].inode, &(struct resctrl_said){.total = 0}, false);
    seen.set = seen.old = children.set;
    seen.whole = true;
    take(pass, &pass->groups[control], place, &seen);
}

// A control group, and the monitoring groups in it.
static void read_control(struct pass *pass, size_t control, const struct resctrl_place *place) {
    const struct resctrl_listed *group = &pass->groups[control];
    struct resctrl_said first, again;
    bool unassigned = is_unassigned(pass, group, place);
    if (!read_place(pass, group, place, &first))
        return;
    first.unassigned = first.unassigned || unassigned;
    struct resctrl_children children = read_children(pass, control, place);
    if (children.n == 0)
        again = first;
    else
        (void)read_place(pass, group, place, &again);
    const struct resctrl_seen seen = resctrl_see_part(&first, &again, &children);
    take(pass, group, place, &seen);
}

// Reading all groups takes too many files: then control groups are read alone, if that takes few enough. Once they are,
// there must be an eighth less to go back, so that no group that comes and goes costs all of them an interval.
static void choose_depth(struct pass *pass) {
    struct resctrl *resctrl = pass->resctrl;
    struct resctrl_place places[RESCTRL_PLACES_MAX];
    size_t n_control = 0;
    for (size_t i = 0; i < pass->n_groups; i++)
        n_control += !pass->groups[i].group.monitoring;
    ssize_t n_places = resctrl_list_places(resctrl->mount, places);
    pass->unknown = pass->unknown || n_places < 0;
    size_t files = (size_t)(n_places > 0 ? n_places : 0) * (pass->meaning == MEANING_APART ? 2 : 1);
    size_t again = n_control < pass->n_groups ? n_control : 0; // those with monitoring groups
    size_t slack = resctrl->whole ? 8 : SIZE_MAX;
    bool whole = pass->n_groups > RESCTRL_GROUPS_MAX - RESCTRL_GROUPS_MAX / slack ||
                 (pass->n_groups + again) * files > RESCTRL_FILES_MAX - RESCTRL_FILES_MAX / slack;
    pass->too_many = pass->too_many || n_control > RESCTRL_GROUPS_MAX || n_control * files > RESCTRL_FILES_MAX;
    if (pass->unknown || pass->too_many)
        return;
    pass->anew = whole != resctrl->whole && resctrl->n_counted > 0;
    if (pass->anew) { // what was counted is of other sums
        for (size_t i = 0; i < resctrl->n_domains; i++)
            resctrl_sum_note(&resctrl->domains[i].sum, RESCTRL_GAP_GROUPS);
        free(resctrl->counted);
        free(resctrl->rows);
        resctrl->counted = NULL;
        resctrl->rows = NULL;
        resctrl->n_counted = resctrl->n_rows = 0;
    }
    resctrl->whole = whole;
}

static void read_groups(struct pass *pass) {
    struct resctrl_place places[RESCTRL_PLACES_MAX];
    char folder[PATH_MAX];
    choose_depth(pass);
    for (size_t i = 0; i < pass->n_groups && !pass->too_many && !pass->unknown; i++) {
        if (pass->groups[i].group.monitoring)
            continue;
        (void)resctrl_folder(pass->resctrl->mount, pass->groups[i].group.name, folder, sizeof folder);
        ssize_t n = resctrl_list_places(folder, places);
        pass->unknown = n < 0;
        pass->too_many = pass->too_many || n > RESCTRL_PLACES_MAX;
        for (ssize_t p = 0; p < n && !pass->too_many; p++) {
            pass->too_many = find_domain(pass->resctrl, places[p].domain) == HOST_MEMORY_DOMAINS_MAX ||
                             pass->n_files >= RESCTRL_FILES_MAX;
            if (!pass->too_many)
                (pass->resctrl->whole ? read_whole : read_control)(pass, i, &places[p]);
        }
    }
}

// ---- what is shown ----

static bool is_known(const struct host_memory_bytes *bytes) { return !isnan(bytes->local) || !isnan(bytes->all); }

static void show_domains(const struct resctrl *resctrl, struct host_memory *out) {
    for (size_t i = 0; i < resctrl->n_domains; i++) {
        const struct domain *domain = &resctrl->domains[i];
        out->domains[out->n_domains++] = (struct host_memory_domain){.id = domain->id,
                                                                     .socket = domain->socket,
                                                                     .bytes = domain->sum.bytes,
                                                                     .before = resctrl_sum_before(&domain->sum),
                                                                     .gap = domain->sum.gap};
        if (is_known(&domain->sum.bytes))
            out->resctrl = RESCTRL_COUNTING;
    }
}

// Where memory is short, the groups are not shown; nor where control groups are read with what is in them.
static void show_groups(const struct pass *pass, struct host_memory *out) {
    const struct resctrl *resctrl = pass->resctrl;
    if (resctrl->whole)
        return;
    out->groups = calloc(pass->n_groups, sizeof *out->groups);
    out->parts = calloc(resctrl->n_rows, sizeof *out->parts);
    for (size_t i = 0; i < pass->n_groups && out->groups && out->parts; i++) {
        for (size_t r = 0; r < resctrl->n_rows; r++) {
            const struct row *row = &resctrl->rows[r];
            if (row->group == pass->groups[i].inode)
                out->parts[out->n_parts++] = (struct host_memory_part){.group = out->n_groups,
                                                                       .domain = row->domain,
                                                                       .bytes = row->sum.bytes,
                                                                       .before = resctrl_sum_before(&row->sum),
                                                                       .gap = row->sum.gap,
                                                                       .readable = row->readable};
        }
        out->groups[out->n_groups++] = pass->groups[i].group;
    }
}

static void end_pass(struct pass *pass) {
    struct resctrl *resctrl = pass->resctrl;
    forget_gone(resctrl);
    free(resctrl->groups);
    resctrl->groups = pass->groups;
    resctrl->n_groups = pass->n_groups;
}

unsigned resctrl_read(struct resctrl *resctrl, struct resctrl_moment now, struct host_memory *out) {
    struct pass pass = {.resctrl = resctrl, .out = out, .now = now};
    out->resctrl = RESCTRL_NOT_MOUNTED;
    begin_pass(resctrl);
    int found_mount = resctrl_find_mount(resctrl->roots, resctrl->mount, sizeof resctrl->mount);
    bool mounted = found_mount > 0;
    pass.unknown = found_mount < 0;
    pass.meaning = mounted ? read_meaning(&pass) : MEANING_APART;
    if (mounted && pass.meaning != MEANING_PART) {
        ssize_t found = resctrl_list_groups(resctrl->mount, LISTED_MAX, &pass.groups);
        pass.unknown = found < 0;
        pass.too_many = found > LISTED_MAX;
        pass.n_groups = found < 0 ? 0 : found > LISTED_MAX ? LISTED_MAX : (size_t)found;
        inherit(resctrl, pass.groups, pass.n_groups);
        read_groups(&pass);
    }
    out->resctrl = pass.unknown                   ? RESCTRL_NOT_COUNTING
                   : !mounted                     ? RESCTRL_NOT_MOUNTED
                   : pass.too_many                ? RESCTRL_TOO_MANY
                   : pass.meaning == MEANING_PART ? RESCTRL_OTHER_EVENTS
                                                  : RESCTRL_NOT_COUNTING;
    if (pass.unknown || pass.too_many || pass.meaning == MEANING_PART) { // not all groups were looked at
        free(pass.groups);
        return pass.n_files;
    }
    end_pass(&pass);
    if (out->resctrl == RESCTRL_NOT_COUNTING) {
        show_domains(resctrl, out);
        show_groups(&pass, out);
        out->implausible = resctrl->implausible;
    }
    return pass.n_files;
}
