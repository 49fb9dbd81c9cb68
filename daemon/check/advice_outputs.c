// SPDX-License-Identifier: Apache-2.0
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <time.h>

#include "core/base/decimal.h"
#include "daemon/check/advice.h"
#include "daemon/record/record.h"
#include "daemon/run/protection.h"
#include "daemon/run/textfile.h"
#include "exporters/http/http_listen.h"
#include "exporters/web/web.h"

enum { PORT_FREE_FROM = 1024 };

// ---- file systems ----

// statfs(2): not all are in every linux/magic.h.
enum file_system {
    TMPFS = 0x01021994,
    NFS = 0x6969,
    SMB = 0x517b,
    AFS = 0x5346414f,
    CEPH = 0x00c36400,
    V9FS = 0x01021997
};
static const unsigned long RAMFS = 0x858458f6, CIFS = 0xff534d42, SMB2 = 0xfe534d42;

static bool is_memory(unsigned long type) { return type == TMPFS || type == RAMFS; }

static bool is_shared(unsigned long type) {
    return type == NFS || type == SMB || type == AFS || type == CEPH || type == V9FS || type == CIFS || type == SMB2;
}

// The kind of the file system that the folder is on; 0: not known.
static unsigned long type_of(const char *folder) {
    struct statfs status;
    return statfs(folder, &status) == 0 ? (unsigned long)status.f_type & 0xffffffff : 0;
}

// ---- recording ----

static void advise_recording_place(const char *folder, uint64_t bytes, const struct config_origin *at,
                                   struct advice *advice) {
    struct statvfs disk;
    char size[DECIMAL_SIZE_MAX], left[DECIMAL_SIZE_MAX];
    unsigned long type = type_of(folder);
    if (is_memory(type)) {
        advice_add(advice, "record_in_memory", "choose a folder on a disk, such as /var/lib/topdownd",
                   "record: %s is in memory (tmpfs): a recording takes up to %s of it, and is gone after a restart",
                   folder, decimal_write_size((double)bytes, size));
        advice_place(advice, *at);
    }
    if (is_shared(type)) {
        advice_add(advice, "record_over_network", "choose a folder on a disk of this host",
                   "record: %s is on a network: records are dropped whenever that is slow", folder);
        advice_place(advice, *at);
    }
    if (statvfs(folder, &disk) < 0)
        return;
    double free_bytes = (double)disk.f_bavail * (double)disk.f_frsize;
    if (free_bytes < (double)bytes) {
        advice_add(advice, "record_too_large", "make record.size smaller", "record: it may take %s, and %s has %s left",
                   decimal_write_size((double)bytes, size), folder, decimal_write_size(free_bytes, left));
        advice_place(advice, *at);
    }
}

// A folder that is missing or may not be written to is no mistake: the daemon may run with another folder, or its unit
// may create the folder.
static void advise_recording(const struct setup *setup, struct advice *advice) {
    const struct config_origin at = setup->record_origin ? *setup->record_origin : (struct config_origin){.file = NULL};
    char path[PATH_MAX];
    if (!setup->record_path)
        return;
    for (size_t i = 0; i < setup->n_types; i++) {
        struct errors found = {.n = 0};
        if (record_check(setup, &setup->types[i], &found) <= 0 || found.n == 0)
            continue;
        advice_add(advice, "record_cannot_be_made", NULL, "%s", found.items[0].text);
        advice_place(advice, at);
    }
    (void)snprintf(path, sizeof path, "%s", setup->record_path);
    advise_recording_place(dirname(path), setup->record_bytes, &at, advice);
}

// ---- text file ----

static void advise_textfile(const struct setup *setup, struct advice *advice) {
    const char *folder = setup->textfile.folder;
    bool named = folder && folder == setup->config->textfile.path; // else the command line names it
    const struct config_origin at =
        named ? config_place_of(setup->config, NULL, "textfile.path") : (struct config_origin){.file = NULL};
    struct stat status;
    int r = folder ? textfile_check(folder) : 0;
    if (!folder)
        return;
    if (r < 0) {
        advice_add(advice, "textfile_cannot_be_written", NULL, "%s: %s", folder, view_textfile_text(r));
        advice_place(advice, at);
    }
    if (is_shared(type_of(folder))) {
        advice_add(advice, "textfile_shared", "choose a folder of this host alone",
                   "textfile: %s is on a network: hosts that share it overwrite one another's topdownd.prom", folder);
        advice_place(advice, at);
    }
    if (stat(folder, &status) == 0 && S_ISDIR(status.st_mode) && (status.st_mode & S_IWOTH) != 0) {
        advice_add(advice, "textfile_open", "chmod o-w, and let the user topdownd own the folder",
                   "textfile: everybody may write to %s, and so put other numbers into the place of these", folder);
        advice_place(advice, at);
    }
    if (setup->textfile.interval_ns < setup->profile->settings.interval_ns) {
        advice_add(advice, "textfile_interval", "make textfile.interval at least as long as interval",
                   "textfile: it is written every %.3g s, and has news every %.3g s only",
                   (double)setup->textfile.interval_ns * 1e-9, (double)setup->profile->settings.interval_ns * 1e-9);
        advice_place(advice, at);
    }
}

// ---- addresses ----

static void advise_protection(const struct config_listen *listen, const struct web *web, struct advice *advice) {
    const struct http_address address = {listen->text, listen->address, listen->port};
    char text[ERROR_TEXT_MAX];
    if (protection_describe(web, &address, text, sizeof text)) {
        advice_add(advice, "listen_unprotected", protection_remedy, "%s", text);
        advice_place(advice, listen->origin);
        return;
    }
    if (!web || http_listen_is_loopback(listen->address))
        return;
    bool asks_certificate =
        web->settings->tls.wanted && (web->settings->tls.client_auth == WEB_CLIENT_REQUIRE_AND_VERIFY);
    if (web->tls && web->settings->n_users == 0 && !asks_certificate) {
        advice_add(advice, "tls_without_authentication",
                   "add basic_auth_users, or client_auth_type: RequireAndVerifyClientCert",
                   "what %s serves is encrypted, and everybody who reaches it can read it", listen->text);
        advice_place(advice, listen->origin);
    }
    if (protection_describe_passwords(web, &address, text, sizeof text)) {
        advice_add(advice, "password_without_tls", protection_passwords_remedy, "%s", text);
        advice_place(advice, listen->origin);
    }
}

static void advise_certificate(const struct web *web, struct advice *advice) {
    char text[ERROR_TEXT_MAX];
    if (!protection_describe_expiry(web, (double)time(NULL), text, sizeof text))
        return;
    const struct web_file *file = &web->settings->tls.certificate;
    advice_add(advice, "certificate_expires", protection_expiry_remedy, "%s", text);
    advice_place(advice, (struct config_origin){web->settings->file, file->line, file->column});
}

static void advise_addresses(const struct setup *setup, const struct web *web, struct advice *advice) {
    const struct config *config = setup->config;
    size_t said = advice->n;
    for (size_t i = 0; i < config->n_listen && advice->n == said; i++)
        advise_protection(&config->listen[i], web, advice);
    for (size_t i = 0; i < config->n_listen; i++)
        if (config->listen[i].port > 0 && config->listen[i].port < PORT_FREE_FROM) {
            advice_add(advice, "listen_port", "choose a higher port, or let systemd open it (topdownd.socket)",
                       "%s: the service may not open a port below %d", config->listen[i].text, PORT_FREE_FROM);
            advice_place(advice, config->listen[i].origin);
        }
}

void advice_outputs(const struct setup *setup, const struct web *web, bool sockets, struct advice *advice) {
    advise_recording(setup, advice);
    advise_textfile(setup, advice);
    if (!sockets)
        advise_addresses(setup, web, advice);
    advise_certificate(web, advice);
    if (!setup_is_read(setup, sockets)) {
        advice_add(advice, "nobody_reads", "name an address, a text file or a recording",
                   "nobody can read what is measured: listen is none");
        advice_place(advice, config_place_of(setup->config, NULL, "listen"));
    }
}
