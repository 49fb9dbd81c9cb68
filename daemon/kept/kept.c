// SPDX-License-Identifier: Apache-2.0
#include "daemon/kept/kept.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <systemd/sd-id128.h>

#include "core/base/hash.h"
#include "core/kept/kept_bytes.h"
#include "daemon/base/log.h"
#include "daemon/kept/kept_file.h"
#include "exporters/history/shown_history.h"

// Verdicts are small; a history takes some hundred KiB.
#define VERDICTS_EVERY_NS UINT64_C(60000000000)
#define HISTORIES_EVERY_NS UINT64_C(300000000000)

struct kept {
    struct kept_file *verdicts_file, *histories_file;
    struct shown_history *history; // of the server
    struct kept_stamp stamp;
    struct kept_verdicts verdicts;      // that the engines go on with
    uint64_t verdicts_ns, histories_ns; // when they were written last
};

// ---- whose it is ----

static int64_t wall_offset_ns(void) {
    return (int64_t)(clocks_kernel.realtime_seconds(clocks_kernel.context) * 1e9) - (int64_t)clocks_now_ns();
}

// "" where the kernel does not tell: nothing is believed then.
static void read_boot(const char *procfs, char out[KEPT_STAMP_MAX]) {
    char path[4096];
    out[0] = '\0';
    if (snprintf(path, sizeof path, "%s/sys/kernel/random/boot_id", procfs ? procfs : "/proc") >= (int)sizeof path)
        return;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, out, KEPT_STAMP_MAX - 1) : 0;
    out[n > 0 ? n : 0] = '\0';
    out[strcspn(out, "\n")] = '\0';
    if (fd >= 0)
        (void)close(fd);
}

// A file has no control characters.
static void clean(char *text) {
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = '?';
}

// A hash of the machine's identifier, which is confidential (machine-id(5)), and of the host's name: a disk that was
// copied to another host has at least one of the two from where it was. "" where there is no such identifier.
static void name_host(const struct setup *setup, char out[KEPT_HOST_MAX]) {
    sd_id128_t machine;
    out[0] = '\0';
    if (sd_id128_get_machine(&machine) < 0)
        return;
    uint64_t hash = hash_bytes(HASH_BEGIN, machine.bytes, sizeof machine.bytes);
    (void)snprintf(out, KEPT_HOST_MAX, "%016" PRIx64, hash_bytes(hash, setup->hostname, strlen(setup->hostname)));
}

static struct kept_stamp stamp_of(const struct options *options, const struct setup *setup) {
    struct kept_stamp stamp = {.boot = ""};
    const struct source *source = setup->types[0].source;
    read_boot(options->paths.procfs, stamp.boot);
    if (options->pmu == PMU_SIM)
        (void)snprintf(stamp.origin, sizeof stamp.origin, "sim:%.50s", options->scenario ? options->scenario : "demo");
    else
        strcpy(stamp.origin, "host");
    name_host(setup, stamp.host);
    (void)snprintf(stamp.cpu, sizeof stamp.cpu, "%.60s %.180s", source->cpu.vendor, source->cpu.model);
    clean(stamp.cpu);
    return stamp;
}

// The first of systemd's folders; NULL: nothing is to be kept, or out of memory.
static char *folder_of(const char *named) {
    const char *folders = named ? named : getenv("STATE_DIRECTORY");
    if (!folders || !*folders)
        return NULL;
    return strndup(folders, named ? strlen(named) : strcspn(folders, ":"));
}

// ---- reading ----

static const char *why(int r) {
    switch (r) {
    case -ENOMSG:
        return "it is no file of topdownd";
    case -EPROTO:
        return "it is of a later version of topdownd";
    case -EBADMSG:
        return "it is damaged";
    case -EFBIG:
        return "it is larger than any that topdownd writes";
    case -EINVAL:
    case -ELOOP:
        return "it is no regular file";
    default:
        return strerror(-r);
    }
}

static void log_refusal(const struct kept_file *file, int r) {
    if (r == -ETIMEDOUT)
        log_warning("%s could not be read: the disk takes too long. topdownd begins anew, and leaves it as %s.unread",
                    kept_file_path(file), kept_file_path(file));
    else if (r < 0 && r != -ENOENT)
        log_warning("%s cannot be used: %s. topdownd begins anew, and will write over it", kept_file_path(file),
                    why(r));
}

static void read_verdicts(struct kept *kept) {
    struct kept_stamp stamp = {.boot = ""};
    uint8_t *bytes = NULL;
    size_t n = 0;
    int r = kept_file_read(kept->verdicts_file, KEPT_VERDICTS_BYTES_MAX, &bytes, &n);
    if (r == 0)
        r = kept_read_verdicts(bytes, n, &stamp, &kept->verdicts);
    free(bytes);
    log_refusal(kept->verdicts_file, r);
    if (r < 0 || kept_relation(&stamp, &kept->stamp) != KEPT_THIS_BOOT) // what ran before a boot does not run any more
        kept->verdicts.n = 0;
    else
        kept_follow_clock(&kept->verdicts, &stamp, kept->stamp.wall_offset_ns);
}

// They are of an earlier boot, whose clock was another one.
static void follow_boot(struct kept *kept, const struct kept_stamp *stamp, struct kept_histories *histories) {
    size_t n = 0;
    for (size_t i = 0; i < histories->n; i++) {
        struct kept_history *moved = kept_history_reboot(histories->all[i], stamp->wall_offset_ns,
                                                         kept->stamp.wall_offset_ns, (int64_t)clocks_now_ns());
        kept_history_free(histories->all[i]);
        if (moved)
            histories->all[n++] = moved;
    }
    histories->n = n;
}

// What nothing has gone on with for a day, such as that of a PMU that is gone.
static void drop_old(struct kept_histories *histories) {
    size_t n = 0;
    for (size_t i = 0; i < histories->n; i++)
        if (histories->all[i]->end_ns < (int64_t)clocks_now_ns() - HISTORY_COARSE_N * HISTORY_COARSE_NS)
            kept_history_free(histories->all[i]);
        else
            histories->all[n++] = histories->all[i];
    histories->n = n;
}

static void log_others(const struct kept_file *file) {
    log_info(
        "%s is of another host or CPU, or nobody can tell after a boot (there is no machine-id). The history begins "
        "anew",
        kept_file_path(file));
}

// Returns whether there was a file that could be read.
static bool read_histories(struct kept *kept) {
    struct kept_stamp stamp = {.boot = ""};
    struct kept_histories histories = {.n = 0};
    uint8_t *bytes = NULL;
    size_t n = 0;
    int r = kept_file_read(kept->histories_file, KEPT_HISTORIES_BYTES_MAX, &bytes, &n);
    if (r == 0)
        r = kept_read_histories(bytes, n, &stamp, &histories);
    free(bytes);
    log_refusal(kept->histories_file, r);
    enum kept_relation relation = kept_relation(&stamp, &kept->stamp);
    if (relation == KEPT_EARLIER_BOOT)
        follow_boot(kept, &stamp, &histories);
    drop_old(&histories);
    if (r == 0 && relation == KEPT_OTHERS)
        log_others(kept->histories_file);
    else
        shown_history_restore(kept->history, &histories);
    kept_histories_deinit(&histories);
    return r == 0;
}

// ---- writing ----

static void write_verdicts(struct kept *kept, struct engine *const *engines, size_t n, bool meanwhile) {
    struct kept_verdicts *verdicts = calloc(1, sizeof *verdicts);
    struct recording_buffer bytes = {0};
    if (!verdicts)
        return; // the next time, then
    for (size_t i = 0; i < n; i++)
        if (engines[i]->ops->keep)
            engines[i]->ops->keep(engines[i], verdicts);
    kept->stamp.wall_offset_ns = wall_offset_ns();
    kept->stamp.meanwhile = meanwhile;
    if (kept_write_verdicts(&kept->stamp, verdicts, &bytes) == 0)
        kept_file_put(kept->verdicts_file, &bytes);
    recording_buffer_deinit(&bytes);
    free(verdicts);
}

static void write_histories(struct kept *kept, bool meanwhile) {
    struct recording_buffer bytes = {0};
    kept->stamp.wall_offset_ns = wall_offset_ns();
    kept->stamp.meanwhile = meanwhile;
    kept_begin_histories(&bytes, &kept->stamp);
    shown_history_keep(kept->history, &bytes);
    if (kept_end_histories(&bytes) == 0)
        kept_file_put(kept->histories_file, &bytes);
    recording_buffer_deinit(&bytes);
}

// ---- life ----

// Both have the same time to end in: the service has five seconds for all (TimeoutStopSec).
static void free_files(struct kept *kept) {
    struct kept_file *files[] = {kept->histories_file, kept->verdicts_file};
    const struct timespec until = kept_file_patience();
    for (int i = 0; i < 2; i++)
        if (files[i])
            kept_file_end(files[i]);
    for (int i = 0; i < 2; i++)
        kept_file_free(files[i], &until);
    free(kept);
}

static int new_files(const char *folder, struct kept **out) {
    struct kept *kept = calloc(1, sizeof *kept);
    if (!kept)
        return -ENOMEM;
    int r = kept_file_new(folder, "verdicts", &kept->verdicts_file);
    if (r == 0)
        r = kept_file_new(folder, "histories", &kept->histories_file);
    if (r < 0)
        free_files(kept);
    else
        *out = kept;
    return r;
}

struct kept *kept_new(const struct options *options, const struct setup *setup, struct shown_history *history,
                      struct engine *const *engines, size_t n) {
    struct kept *kept = NULL;
    bool past = n > 0 && !engines[0]->ops->keep; // a replay
    char *folder = options->aside.on || past ? NULL : folder_of(options->paths.state);
    int r = folder ? new_files(folder, &kept) : 0;
    if (r < 0)
        log_warning("%s: nothing can be kept there: %s. A restart of topdownd will not know what was before it", folder,
                    strerror(-r));
    free(folder);
    if (!kept)
        return NULL;
    kept->history = history;
    kept->stamp = stamp_of(options, setup);
    kept->stamp.wall_offset_ns = wall_offset_ns();
    kept->verdicts_ns = kept->histories_ns = clocks_now_ns();
    read_verdicts(kept);
    if (read_histories(kept))
        write_histories(kept, true); // if this process is killed at once, the next one knows that it ran
    for (size_t i = 0; i < n; i++)
        if (engines[i]->ops->restore)
            engines[i]->ops->restore(engines[i], &kept->verdicts);
    return kept;
}

// ---- each round ----

void kept_step(struct kept *kept, struct engine *const *engines, size_t n, uint64_t now_ns) {
    if (kept && now_ns - kept->verdicts_ns >= VERDICTS_EVERY_NS) {
        kept->verdicts_ns = now_ns;
        write_verdicts(kept, engines, n, true);
    } else if (kept && now_ns - kept->histories_ns >= HISTORIES_EVERY_NS) {
        kept->histories_ns = now_ns;
        write_histories(kept, true);
    }
}

struct kept *kept_free(struct kept *kept, struct engine *const *engines, size_t n) {
    if (kept) {
        write_verdicts(kept, engines, n, false);
        write_histories(kept, false);
        free_files(kept);
    }
    return NULL;
}
