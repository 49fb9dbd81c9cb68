// SPDX-License-Identifier: Apache-2.0
#include "daemon/source/tape.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/recording/recording_file.h"
#include "core/recording/recording_catalog.h"
#include "daemon/base/log.h"
#include "daemon/source/source_vendor.h"
#include "daemon/source/tape_log.h"

enum { SIBLINGS_TEXT_MAX = 400 };

// ---- files ----

static bool is_recording(const char *folder, const char *name) {
    char path[PATH_MAX];
    struct recording_reader *reader;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path ||
        recording_reader_new(path, &reader) < 0)
        return false;
    bool is = recording_reader_check(reader) > 0;
    recording_reader_free(reader);
    return is;
}

// FILE.core_type; FILE.1, FILE.core_type.1 are older parts.
static bool names_type(const char *name, const char *file) {
    size_t length = strlen(file);
    const char *last = strrchr(name, '.');
    return strncmp(name, file, length) == 0 && name[length] == '.' && last[1 + strspn(last + 1, "0123456789")] != '\0';
}

// Lists the recordings FILE.core_type beside the missing FILE, of a host with several core types. False: there is none.
static bool list_types(const char *path, char *out, size_t size) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char folder[PATH_MAX];
    (void)snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    DIR *entries = opendir(folder[0] != '\0' ? folder : "/");
    size_t length = 0;
    for (const struct dirent *entry; entries && length < size && (entry = readdir(entries));)
        if (names_type(entry->d_name, name) && is_recording(folder, entry->d_name))
            length += (size_t)snprintf(out + length, size - length, "%s%.*s%s", length > 0 ? ", " : "",
                                       (int)(name - path), path, entry->d_name);
    if (entries)
        closedir(entries);
    return length > 0;
}

static int explain_missing(const char *path, struct errors *errors) {
    char types[SIBLINGS_TEXT_MAX];
    return list_types(path, types, sizeof types)
               ? errors_add(errors, path, 0, 0,
                            "there is no such file. Its host had several core types, with a file for each; name one of "
                            "them: %s",
                            types)
               : errors_add(errors, path, 0, 0, "cannot be read: %s", strerror(ENOENT));
}

static int explain_file(const char *path, int r, struct errors *errors) {
    switch (r) {
    case -ENOMEM:
        return r;
    case -ENOENT:
        return explain_missing(path, errors);
    case -EINVAL:
        return errors_add(errors, path, 0, 0, "is not a regular file");
    default:
        return errors_add_failure(errors, path, "cannot be read", r);
    }
}

static int first_header(struct recording_reader *reader, struct recording_header *out) {
    struct recording_record record;
    int r = recording_reader_next(reader, &record) == 1 ? recording_get_header(&record, out) : -EBADMSG;
    recording_reader_rewind(reader);
    return r;
}

// The name of the file that is `back` files before this one: FILE.1 is before FILE, and FILE.3 before FILE.2.
static void name_former(const struct tape *tape, size_t back, char *out, size_t size) {
    size_t length = strlen(tape->path), digits = 0, number = 0;
    while (digits < length && strchr("0123456789", tape->path[length - 1 - digits]))
        digits++;
    if (digits > 0 && digits <= 2 && length > digits && tape->path[length - 1 - digits] == '.') {
        number = strtoul(tape->path + length - digits, NULL, 10);
        length -= digits + 1;
    }
    (void)snprintf(out, size, "%.*s.%zu", (int)length, tape->path, number + back);
}

// Opens the file with part `part` of the recording; NULL if it is missing.
static struct recording_reader *open_former(const struct tape *tape, const char *path, unsigned part,
                                            struct recording_header *header) {
    struct recording_reader *reader;
    if (recording_reader_new(path, &reader) < 0)
        return NULL;
    if (first_header(reader, header) < 0 || header->id != tape->header.id || header->part != part)
        return recording_reader_free(reader);
    return reader;
}

// Opens the files before this one, back to the first of the recording or to a missing one.
static void open_formers(struct tape *tape) {
    char path[PATH_MAX];
    struct recording_header header;
    while (tape->header.part > 0 && tape->n_files < TAPE_FILES_MAX) {
        name_former(tape, tape->n_files, path, sizeof path);
        struct recording_reader *reader = open_former(tape, path, tape->header.part - 1, &header);
        if (!reader)
            break;
        tape->files[tape->n_files++] = reader;
        tape->header = header;
    }
    tape->present = tape->n_files - 1;
    if (tape->n_files == 1)
        return;
    name_former(tape, tape->n_files - 1, path, sizeof path);
    log_info("%s is replayed before %s, and what is between them", path, tape->path);
}

bool tape_is_log(const struct tape *tape) { return tape->n_files == 0; }

// What boxes have counted is on tapes of their own. Exchanges a record of this tape's boxes for the one that it holds.
static bool belongs(const struct tape *tape, struct recording_record *record) {
    char name[RECORDING_TEXT_MAX + 1];
    bool of_boxes = record->kind == RECORDING_BOXES;
    if (!tape->boxes || !of_boxes)
        return tape->boxes == of_boxes;
    struct recording_record within;
    if (recording_get_boxes(record, name, &within) < 0 || strcmp(name, tape->header.pmu) != 0)
        return false;
    *record = within;
    return true;
}

static int next_of_files(struct tape *tape, struct recording_record *out) {
    char path[PATH_MAX];
    for (;;) {
        int r = recording_reader_next(tape->files[tape->present], out);
        if (r > 0 || tape->present == 0)
            return r;
        name_former(tape, tape->present, path, sizeof path);
        if (r < 0 && !tape->boxes)
            log_warning("%s: what follows byte %llu cannot be read: the replay goes on with the next file", path,
                        (unsigned long long)tape_at(tape));
        tape->present--;
    }
}

int tape_next(struct tape *tape, struct recording_record *out) {
    if (tape_is_log(tape))
        return recording_next(tape->bytes.bytes, tape->bytes.n, &tape->at, out);
    int r = next_of_files(tape, out);
    while (r > 0 && !belongs(tape, out))
        r = next_of_files(tape, out);
    return r;
}

uint64_t tape_at(const struct tape *tape) {
    return tape_is_log(tape) ? tape->at : recording_reader_at(tape->files[tape->present]);
}

static void rewind_tape(struct tape *tape) {
    for (size_t i = 0; i < tape->n_files; i++)
        recording_reader_rewind(tape->files[i]);
    tape->present = tape->n_files > 0 ? tape->n_files - 1 : 0;
    tape->at = 0;
}

// ---- a recording ----

static int make_of_vendors(const struct tape *tape, const struct tape_request *request,
                           const struct environment *environment, struct errors *errors, struct catalog_builder **out) {
    const struct recording_catalog *of = &tape->header.catalog;
    char reason[2 * RECORDING_TEXT_MAX];
    if (!request->vendor || !request->vendor->path)
        return errors_add(
            errors, tape->path, 0, 0,
            "was recorded with the vendor's files of %.100s: have `specs:` of the configuration name them",
            of->vendor_path);
    const struct vendor_request vendor = {.specs = request->vendor,
                                          .data = request->data,
                                          .cpuid = of->vendor_cpuid,
                                          .pmu = of->vendor_pmu[0] != '\0' ? of->vendor_pmu : NULL,
                                          .environment = environment,
                                          .all_events = tape->header.simulated};
    int r = source_vendor_read(&vendor, errors, reason, sizeof reason, out);
    return r == 1
               ? errors_add(errors, tape->path, 0, 0, "was recorded with other files of the vendor's: %.250s", reason)
               : r;
}

// Reads the catalog that the recording itself has. Returns 1, -EINVAL with the reason in `errors`, -ENOMEM.
static int read_catalog(const struct tape *tape, const struct recording_header *header,
                        const struct recording_record *record, struct errors *errors, struct catalog **out) {
    struct environment environment;
    recording_environment(header, &environment);
    int r = recording_get_catalog(record, &environment, out);
    return r == -EBADMSG ? errors_add(errors, tape->path, 0, 0,
                                      "holds a catalog (%.60s) that makes no sense, though its checksum is right",
                                      header->catalog.spec)
           : r < 0       ? r
                         : 1;
}

// The cores' stands right after their header. Returns 0 if it has none.
static int find_catalog(struct tape *tape, struct errors *errors, struct catalog **out) {
    struct recording_reader *reader = tape->files[0];
    struct recording_record record;
    bool there = recording_reader_next(reader, &record) == 1 && recording_reader_next(reader, &record) == 1 &&
                 record.kind == RECORDING_CATALOG;
    int r = there ? read_catalog(tape, &tape->header, &record, errors, out) : 0;
    recording_reader_rewind(reader);
    return r;
}

// Makes the same catalog as on the recorded host.
static int make_catalog(struct tape *tape, const struct tape_request *request, struct errors *errors,
                        struct catalog **out) {
    const struct recording_catalog *of = &tape->header.catalog;
    struct environment environment;
    struct catalog_builder *builder;
    int r = find_catalog(tape, errors, out);
    if (r != 0)
        return r < 0 ? r : 0;
    recording_environment(&tape->header, &environment);
    if (of->vendor_path[0] == '\0' && !specs_has(request->specs, of->spec))
        return errors_add(errors, tape->path, 0, 0,
                          "was recorded with the spec '%.100s', which is not among those here", of->spec);
    r = of->vendor_path[0] != '\0' ? make_of_vendors(tape, request, &environment, errors, &builder)
                                   : specs_read(request->specs, of->spec, &environment, errors, &builder);
    if (r < 0)
        return r;
    if (of->topdown_dropped)
        catalog_builder_drop_topdown(builder);
    r = specs_make_recorded(request->specs, of->hash, tape->header.format < RECORDING_ZEROS_VERSION, errors, builder);
    if (r == 0)
        *out = catalog_builder_finish(builder);
    else
        catalog_builder_free(builder);
    return r;
}

static int open_recording(struct tape *tape, const struct tape_request *request, struct errors *errors,
                          struct catalog **out) {
    if (request->spec)
        return errors_add(errors, tape->path, 0, 0,
                          "is a recording, which says itself what spec it is of: --spec is for logs of perf");
    int r = first_header(tape->files[0], &tape->header);
    if (r == -EPROTONOSUPPORT)
        return errors_add(errors, tape->path, 0, 0,
                          "was recorded in a later version of the format: use a newer topdownd");
    if (r < 0)
        return errors_add(errors, tape->path, 0, 0, "is damaged at its beginning: nothing of it can be replayed");
    r = make_catalog(tape, request, errors, out);
    if (r < 0)
        return r;
    if (tape->header.format < RECORDING_ZEROS_VERSION)
        catalog_doubt_zeros(*out);
    tape->catalog = *out;
    tape_compare_catalog(tape);
    open_formers(tape);
    return 0;
}

void tape_compare_catalog(const struct tape *tape) {
    const struct recording_catalog *of = &tape->header.catalog;
    if (!tape->catalog->product.chosen && catalog_hash(tape->catalog) != of->hash)
        log_warning("%s: recorded with another version of the spec %s (topdownd %s): its events are taken by name, and "
                    "values may differ from what was shown then",
                    tape->path, of->spec, tape->header.version);
}

// ---- boxes ----

static bool is_known(const struct recording_header *known, size_t n, const char *name) {
    bool is = false;
    for (size_t i = 0; i < n && !is; i++)
        is = strcmp(known[i].pmu, name) == 0;
    return is;
}

// Gets the next record of boxes in the beginning of a file, which has all kinds that are in it. False at its end, or
// where it is damaged.
static bool next_of_boxes(struct recording_reader *reader, char *name, struct recording_record *within) {
    struct recording_record record;
    while (recording_reader_next(reader, &record) == 1 && record.kind != RECORDING_CORES)
        if (record.kind == RECORDING_BOXES && recording_get_boxes(&record, name, within) == 0)
            return within->kind != RECORDING_CORES;
    return false;
}

int tape_boxes(struct tape *tape, struct recording_header *out, size_t max) {
    char name[RECORDING_TEXT_MAX + 1];
    struct recording_record within;
    size_t n = 0;
    for (size_t i = tape->n_files; i-- > 0;)
        while (next_of_boxes(tape->files[i], name, &within)) {
            bool begins = within.kind == RECORDING_HEADER && n < max && !is_known(out, n, name);
            if (begins && recording_get_header(&within, &out[n]) == 0 && strcmp(out[n].pmu, name) == 0)
                n++;
        }
    rewind_tape(tape);
    return (int)n;
}

static bool is_listed(char (*names)[RECORDING_TEXT_MAX + 1], size_t n, const char *name) {
    bool is = false;
    for (size_t i = 0; i < n && !is; i++)
        is = strcmp(names[i], name) == 0;
    return is;
}

size_t tape_missing(struct tape *tape, char (*out)[RECORDING_TEXT_MAX + 1], size_t max) {
    char name[RECORDING_TEXT_MAX + 1];
    struct recording_record within;
    size_t n = 0;
    for (size_t i = tape->n_files; i-- > 0;)
        while (next_of_boxes(tape->files[i], name, &within))
            if (within.kind == RECORDING_MISSING && n < max && !is_listed(out, n, name))
                memcpy(out[n++], name, sizeof name);
    rewind_tape(tape);
    return n;
}

int tape_definition(struct tape *tape, const char *kind, struct recording_definition *out) {
    char name[RECORDING_TEXT_MAX + 1];
    struct recording_record within;
    int r = 0;
    for (size_t i = tape->n_files; i-- > 0 && r == 0;)
        while (r == 0 && next_of_boxes(tape->files[i], name, &within))
            if (within.kind == RECORDING_DEFINITION && strcmp(name, kind) == 0)
                r = recording_get_definition(&within, out) == 0;
    rewind_tape(tape);
    return r;
}

int tape_catalog(struct tape *tape, const struct recording_header *header, struct errors *errors,
                 struct catalog **out) {
    char name[RECORDING_TEXT_MAX + 1];
    struct recording_record within;
    int r = 0;
    for (size_t i = tape->n_files; i-- > 0 && r == 0;)
        while (r == 0 && next_of_boxes(tape->files[i], name, &within))
            if (within.kind == RECORDING_CATALOG && strcmp(name, header->pmu) == 0)
                r = read_catalog(tape, header, &within, errors, out);
    rewind_tape(tape);
    return r;
}

int tape_open_boxes(const struct tape *of, const struct recording_header *header, const struct catalog *catalog,
                    struct tape **out) {
    struct tape *tape = calloc(1, sizeof *tape);
    struct recording_header first;
    char path[PATH_MAX];
    if (!tape)
        return -ENOMEM;
    *tape = (struct tape){.path = of->path, .boxes = true, .header = of->header, .catalog = catalog};
    for (; tape->n_files < of->n_files; tape->n_files++) {
        unsigned part = of->header.part + (unsigned)(of->n_files - 1 - tape->n_files);
        if (tape->n_files > 0)
            name_former(of, tape->n_files, path, sizeof path);
        else
            (void)snprintf(path, sizeof path, "%s", of->path);
        tape->files[tape->n_files] = open_former(tape, path, part, &first);
        if (!tape->files[tape->n_files])
            break;
    }
    tape->header = *header;
    tape->present = tape->n_files > 0 ? tape->n_files - 1 : 0;
    *out = tape;
    return 0;
}

// ---- both ----

static int open_either(struct tape *tape, const struct tape_request *request, struct errors *errors,
                       struct catalog **catalog) {
    int r = recording_reader_new(tape->path, &tape->files[0]);
    if (r < 0)
        return explain_file(tape->path, r, errors);
    tape->n_files = 1;
    r = recording_reader_check(tape->files[0]);
    if (r < 0)
        return explain_file(tape->path, r, errors);
    if (r > 0)
        return open_recording(tape, request, errors, catalog);
    tape->files[0] = recording_reader_free(tape->files[0]);
    tape->n_files = 0;
    return tape_log_open(tape, request, errors, catalog);
}

int tape_open(const struct tape_request *request, struct errors *errors, struct catalog **catalog, struct tape **out) {
    struct catalog *found = NULL;
    struct tape *tape = calloc(1, sizeof *tape);
    if (!tape)
        return -ENOMEM;
    tape->path = request->path;
    int r = open_either(tape, request, errors, &found);
    if (r < 0) {
        catalog_free(found);
        tape_free(tape);
        return r;
    }
    *catalog = found;
    *out = tape;
    return 0;
}

struct tape *tape_free(struct tape *tape) {
    if (tape) {
        topology_free(tape->topology);
        plan_free(tape->plan);
        tape_log_deinit(&tape->log);
        recording_buffer_deinit(&tape->bytes);
        for (size_t i = 0; i < tape->n_files; i++)
            recording_reader_free(tape->files[i]);
        free(tape);
    }
    return NULL;
}

int tape_explain_plan(const struct tape *tape, int r, const char *missing, struct errors *errors) {
    if (r == -ENOMEM)
        return r;
    if (r == -ENOENT)
        return errors_add(
            errors, tape->path, 0, 0,
            "needs %.100s, which the spec %.100s does not have here: replay it with topdownd %.50s, which "
            "recorded it",
            missing, tape->header.catalog.spec, tape->header.version);
    return errors_add(errors, tape->path, 0, 0, "holds a plan that makes no sense, though its checksum is right");
}

static int take_facts(struct tape *tape, const struct recording_record *record) {
    char missing[RECORDING_TEXT_MAX + 1];
    struct recording_facts *facts = malloc(sizeof *facts);
    struct adapt_report *report = NULL;
    int r = facts ? recording_get_facts(record, tape->catalog, missing, facts, &report) : -ENOMEM;
    if (r == 0)
        tape->adaptive = report != NULL;
    if (r == 0)
        adapt_report_free(report);
    free(facts);
    return r == -ENOMEM ? r : 0; // its mistakes are reported when it is played
}

static int find_plan(struct tape *tape, struct errors *errors) {
    struct recording_record record;
    while (tape_next(tape, &record) == 1) {
        struct recording_plan plan;
        char missing[RECORDING_TEXT_MAX + 1];
        int r = record.kind == RECORDING_FACTS ? take_facts(tape, &record) : 0;
        if (r < 0)
            return r;
        if (record.kind != RECORDING_PLAN)
            continue;
        r = recording_get_plan(&record, tape->catalog, missing, &plan);
        if (r == 0 && plan.topology->boxes != tape->boxes) {
            topology_free(plan.topology);
            plan_free(plan.plan);
            r = -EBADMSG;
        }
        if (r < 0)
            return tape_explain_plan(tape, r, missing, errors);
        plan.plan->added_up = tape->added_up;
        tape->topology = plan.topology;
        tape->plan = plan.plan;
        rewind_tape(tape);
        return 0;
    }
    return errors_add(errors, tape->path, 0, 0, "ends before its first plan: there is nothing to replay");
}

int tape_load(struct tape *tape, const struct plan_selection *selections, size_t n_selections, struct errors *errors) {
    int r = tape->log.log ? tape_log_load(tape, selections, n_selections, errors) : 0;
    return r == 0 ? find_plan(tape, errors) : r;
}
