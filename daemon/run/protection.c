// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/protection.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "config/web/web_config.h"
#include "daemon/base/log.h"
#include "daemon/engine/engines.h"
#include "exporters/http/http_listen.h"

// RETRY_LOOKS: what is wrong is read again after so many looks, as a file that it names may be there by then.
enum { FILES_MAX = 4, RETRY_LOOKS = 5, ACCURACY_US = 250000, DAY_SECONDS = 86400 };

// What tells a file from the one that was there before.
struct stamp {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed;
};

struct protection {
    const struct options *options;
    struct http_server *server;
    struct protection_caller caller;
    sd_event_source *timer;
    struct web *web;
    struct stamp read[FILES_MAX], seen[FILES_MAX]; // when the files were last read, and looked at
    unsigned wrong_looks;                          // since the last reading, which failed; 0: it did not
    char why[ERROR_LINE_MAX];                      // of the last failure
};

int protection_load(const struct options *options, struct errors *errors, struct web **out) {
    struct web_settings *settings;
    *out = NULL;
    if (!options->web.config)
        return 0;
    int r = web_config_load(options->web.config, errors, &settings);
    return r < 0 ? r : web_new(settings, errors, out);
}

const char protection_remedy[] =
    "name a file with TLS or passwords with --web.config.file, or listen on a loopback address";

bool protection_describe(const struct web *web, const struct http_address *address, char *out, size_t size) {
    bool needed = web && (web->tls || web->settings->n_users > 0);
    if (needed || http_listen_is_loopback(address->address))
        return false;
    return snprintf(out, size, "everybody who reaches %s can read what this host does", address->text) > 0;
}

const char protection_passwords_remedy[] = "add tls_server_config to the web configuration file";

bool protection_describe_passwords(const struct web *web, const struct http_address *address, char *out, size_t size) {
    if (!web || web->tls || web->settings->n_users == 0 || http_listen_is_loopback(address->address))
        return false;
    return snprintf(out, size, "passwords for %s go over the network as they are", address->text) > 0;
}

// ---- certificates that expire ----

const char protection_expiry_remedy[] = "renew the certificate in cert_file: topdownd reads it again by itself";

double protection_expiry_seconds(const struct web *web) {
    return web && web->tls ? web_tls_expiry_seconds(web->tls) : NAN;
}

bool protection_describe_expiry(const struct web *web, double now_seconds, char *out, size_t size) {
    const char *path = web ? web->settings->tls.certificate.path : NULL;
    return protection_describe_end(path, protection_expiry_seconds(web), now_seconds, out, size);
}

bool protection_describe_end(const char *path, double end_seconds, double now_seconds, char *out, size_t size) {
    double left_days = (end_seconds - now_seconds) / DAY_SECONDS;
    if (!(left_days <= PROTECTION_EXPIRES_SOON_DAYS)) // or NaN
        return false;
    char date[32] = "";
    struct tm utc;
    const time_t end = (time_t)end_seconds;
    if (gmtime_r(&end, &utc))
        (void)strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", &utc);
    if (left_days <= 0)
        return snprintf(out, size, "%.250s: this certificate has expired, %s: clients refuse it", path, date) > 0;
    return snprintf(out, size, "%.250s: this certificate expires in %.1f days, %s", path, left_days, date) > 0;
}

// What is in force has changed.
static void note_expiry(const struct protection *protection) {
    char text[ERROR_TEXT_MAX];
    *protection->caller.expiry_seconds = protection_expiry_seconds(protection->web);
    if (protection_describe_expiry(protection->web, (double)time(NULL), text, sizeof text))
        log_warning("%s: %s", text, protection_expiry_remedy);
}

// ---- files that change ----

static void take_stamps(const struct protection *protection, struct stamp out[FILES_MAX]) {
    const struct web_settings *settings = protection->web->settings;
    const char *const paths[FILES_MAX] = {settings->file, settings->tls.certificate.path, settings->tls.key.path,
                                          settings->tls.client_ca.path};
    memset(out, 0, FILES_MAX * sizeof *out);
    for (size_t i = 0; i < FILES_MAX; i++) {
        struct stat status;
        if (!paths[i] || stat(paths[i], &status) < 0)
            continue;
        out[i].device = status.st_dev;
        out[i].inode = status.st_ino;
        out[i].size = status.st_size;
        out[i].changed = status.st_ctim; // also where an older file was renamed into its place
    }
}

static bool same(const struct stamp a[FILES_MAX], const struct stamp b[FILES_MAX]) {
    bool all = true;
    for (size_t i = 0; i < FILES_MAX; i++)
        all = all && a[i].device == b[i].device && a[i].inode == b[i].inode && a[i].size == b[i].size &&
              a[i].changed.tv_sec == b[i].changed.tv_sec && a[i].changed.tv_nsec == b[i].changed.tv_nsec;
    return all;
}

// The files have been read. One that has just changed may have done so since: it is read once more. One from the
// future, as after a step of the clock, would be read again and again until then.
static void note_read(struct protection *protection) {
    take_stamps(protection, protection->seen);
    memcpy(protection->read, protection->seen, sizeof protection->read);
    for (size_t i = 0; i < FILES_MAX; i++) {
        time_t age = time(NULL) - protection->read[i].changed.tv_sec;
        if (age >= -1 && age <= 1)
            protection->read[i].changed.tv_nsec = -1;
    }
}

// Says what is wrong, once.
static void log_failure(struct protection *protection, int r, const struct errors *errors) {
    char why[ERROR_LINE_MAX];
    if (errors->n > 0)
        (void)error_format(&errors->items[0], why, sizeof why);
    else
        (void)snprintf(why, sizeof why, "%s", strerror(-r));
    if (strcmp(why, protection->why) == 0)
        return;
    strcpy(protection->why, why);
    log_errors(errors);
    if (errors->n == 0)
        log_error("%s", why);
    log_error("the web configuration has changed and is not in force: topdownd goes on with the one before");
}

static void read_again(struct protection *protection) {
    struct errors errors = {0};
    struct web *web = NULL;
    int r = protection_load(protection->options, &errors, &web);
    if (r == 0)
        r = protection_compare(protection, web, &errors);
    if (r == 0)
        r = protection_change(protection, web, &errors);
    web_unref(web);
    if (r == 0) {
        log_info("the web configuration was read again and is in force");
        return;
    }
    log_failure(protection, r, &errors);
    protection->wrong_looks = 1;
    memcpy(protection->read, protection->seen, sizeof protection->read);
}

static void look(struct protection *protection) {
    struct stamp now[FILES_MAX];
    take_stamps(protection, now);
    bool settled = same(now, protection->seen);
    memcpy(protection->seen, now, sizeof now);
    bool again = protection->wrong_looks > 0 && ++protection->wrong_looks > RETRY_LOOKS;
    if (!settled || (same(now, protection->read) && !again))
        return;
    protection->caller.begin(protection->caller.context);
    read_again(protection);
    protection->caller.end(protection->wrong_looks == 0, protection->caller.context);
}

static int on_timer(sd_event_source *timer, uint64_t due_us, void *context) {
    (void)due_us;
    look(context);
    int r = sd_event_source_set_time_relative(timer, PROTECTION_LOOK_US);
    return r < 0 ? r : sd_event_source_set_enabled(timer, SD_EVENT_ONESHOT);
}

// ---- in force ----

int protection_apply(struct http_server *server, struct web *web, struct errors *errors) {
    int r = http_server_protect(server, web);
    if (r == -ENOENT)
        return errors_add(errors, web->settings->file, 0, 0,
                          "basic_auth_users needs libcrypt.so.1 or libcrypt.so.2: install libcrypt");
    return r;
}

int protection_compare(const struct protection *protection, const struct web *web, struct errors *errors) {
    if (!web || !web->tls == !protection->web->tls)
        return 0;
    return errors_add(errors, web->settings->file, 0, 0,
                      "tls_server_config cannot come or go while topdownd runs: restart it");
}

int protection_change(struct protection *protection, struct web *web, struct errors *errors) {
    int r = web ? protection_apply(protection->server, web, errors) : 0;
    if (r < 0 || !web)
        return r;
    web_unref(protection->web);
    protection->web = web_ref(web);
    protection->wrong_looks = 0;
    protection->why[0] = '\0';
    note_read(protection);
    note_expiry(protection);
    return 0;
}

struct web *protection_web(const struct protection *protection) {
    return protection->web;
}

int protection_new(sd_event *loop, const struct options *options, struct http_server *server, struct web *web,
                   const struct protection_caller *caller, struct protection **out) {
    struct protection *protection = calloc(1, sizeof *protection);
    if (!protection)
        return -ENOMEM;
    *protection = (struct protection){.options = options, .server = server, .caller = *caller, .web = web_ref(web)};
    int r = 0;
    note_expiry(protection);
    if (web) {
        note_read(protection);
        r = sd_event_add_time_relative(loop, &protection->timer, CLOCK_MONOTONIC, PROTECTION_LOOK_US, ACCURACY_US,
                                       on_timer, protection);
    }
    if (r < 0)
        protection_free(protection);
    else
        *out = protection;
    return r < 0 ? r : 0;
}

struct protection *protection_free(struct protection *protection) {
    if (!protection)
        return NULL;
    sd_event_source_unref(protection->timer);
    web_unref(protection->web);
    free(protection);
    return NULL;
}

void protection_tell(const struct protection *protection, struct text *out) {
    double end_seconds = protection_expiry_seconds(protection->web);
    if (!isnan(end_seconds))
        text_format(out, "certificate %.0f\n", end_seconds);
    if (protection->wrong_looks > 0)
        engines_tell_trouble("web_configuration", "the web configuration has changed, and is not in force",
                            "topdownd's log says why ('journalctl -u topdownd'): it goes on with the one before, and "
                            "reads it again by itself",
                            out);
}
