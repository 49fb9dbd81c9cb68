// SPDX-License-Identifier: Apache-2.0
#include "daemon/command/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/memory/memory_nodes.h"
#include "collectors/uncore/memory_peak.h"
#include "daemon/base/options_error.h"
#include "daemon/base/run_folder.h"
#include "daemon/base/terminal.h"
#include "exporters/text/table.h"

static const char *const WORDS[] = {"save"};

static const struct table_column COLUMNS[] = {
    {"socket", "SOCKET", TABLE_NUMBER},
    {"channels", "CHANNELS", TABLE_NUMBER},
    {"channel_bytes_per_second", "CHANNEL BYTES/S", TABLE_NUMBER},
    {"peak_bytes_per_second", "PEAK BYTES/S", TABLE_NUMBER},
    {"peak_source", "SOURCE", TABLE_TEXT},
};

int memory_check(const struct options *options) {
    return options->word && strcmp(options->word, WORDS[0]) != 0
               ? options_refuse("there is nothing to do with memory called", options->word,
                                error_suggest(options->word, WORDS, 1))
               : 0;
}

static int fail(const char *path, int r) {
    (void)fprintf(stderr, "topdownd: %s: %s\n", path, strerror(-r));
    return EXIT_FAILURE;
}

// Without the tables, as in most virtual machines, there is nothing to save, and the service does without.
static int save(const struct host_roots *roots, const char *folder) {
    double bytes;
    int r = memory_peak_read_tables(roots, &bytes);
    if (r == -EACCES)
        return fail("/sys/firmware/dmi/tables/DMI is for root: run 'topdownd memory save' as root", r);
    if (r == -ENOENT) {
        (void)puts(
            "the firmware's tables do not tell how fast the memory is, so topdownd shows no peak of it, as in most "
            "virtual machines, unless they rate each NUMA node: uncore.peak in the configuration can say one");
        return EXIT_SUCCESS;
    }
    if (r == 0)
        r = memory_peak_save(folder, bytes);
    if (r < 0)
        return fail(folder, r);
    (void)printf("%s/" MEMORY_CHANNEL_FILE ": %.0f\n", folder, bytes);
    return EXIT_SUCCESS;
}

// Says why a peak is missing, and what to do.
static void explain(int of_tables, bool has_channels) {
    if (of_tables == -EACCES)
        (void)fputs(
            "topdownd: only root can read the speed of the memory: 'topdownd memory save' as root leaves it for "
            "others; topdownd-memory.service does so before the daemon starts\n",
            stderr);
    else if (of_tables < 0)
        (void)fputs(
            "topdownd: the firmware's tables do not tell how fast the memory is: uncore.peak in the configuration "
            "can say its peak\n",
            stderr);
    if (!has_channels)
        (void)fputs("topdownd: the kernel's EDAC driver does not tell which channels have memory: load the driver of "
                    "this host's memory controller, such as skx_edac, i10nm_edac or amd64_edac\n",
                    stderr);
}

static void add_number(struct table *table, double number) {
    if (number > 0)
        table_format(table, "%.0f", number);
    else
        table_text(table, NULL);
}

// Of a socket: what its channels make, or what the firmware rates it at.
static void add_row(struct table *table, unsigned package, unsigned channels, double channel_bytes, double rated) {
    double peak = channels * channel_bytes;
    table_format(table, "%u", package);
    add_number(table, channels);
    add_number(table, channels > 0 ? channel_bytes : 0);
    add_number(table, peak > 0 ? peak : rated);
    table_text(table, peak > 0 ? "host" : rated > 0 ? "firmware" : NULL);
}

static int print(struct table *table, bool json) {
    struct text out = {0};
    int r = json ? table_print_json(table, &out) : table_print(table, &out);
    r = r == 0 ? terminal_print(&out) : r;
    text_free(&out);
    return r == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int show(const struct host_roots *roots, const char *folder, bool json) {
    struct table table = {.columns = COLUMNS, .n_columns = sizeof COLUMNS / sizeof *COLUMNS};
    struct host_memory *memory = host_memory_new();
    unsigned channels[MEMORY_PACKAGES_MAX];
    double bytes = 0;
    bool any = false, has_channels = false;
    if (!memory)
        return fail("memory", -ENOMEM);
    int r = memory_peak_read_channel(roots, folder, &bytes);
    memory_peak_count_channels(roots, channels);
    memory_nodes_read(roots, memory);
    for (unsigned p = 0; p < MEMORY_PACKAGES_MAX; p++) {
        double rated = host_memory_rated(memory, p);
        has_channels = has_channels || channels[p] > 0;
        if (channels[p] == 0 && !(rated > 0))
            continue;
        any = true;
        add_row(&table, p, channels[p], bytes, rated);
    }
    host_memory_unref(memory);
    explain(r, has_channels);
    int status = EXIT_SUCCESS;
    if (any || json)
        status = print(&table, json);
    else if (puts("The peak of this host's memory is unknown.") < 0) // a heading without rows would say nothing
        status = EXIT_FAILURE;
    table_deinit(&table);
    return status;
}

int memory_run(const struct options *options) {
    const struct host_roots roots = {.sysfs = options->paths.sysfs, .procfs = options->paths.procfs};
    char *folder = run_folder_of(options->paths.run);
    int status = !folder         ? fail("memory", -ENOMEM)
                 : options->word ? save(&roots, folder)
                                 : show(&roots, folder, options->json);
    free(folder);
    return status;
}
