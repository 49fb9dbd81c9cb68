// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "config/web/web_config.h"
#include "daemon/base/loopback.h"
#include "daemon/base/run_folder.h"
#include "daemon/doctor/doctor_parts.h"
#include "daemon/run/protection.h"
#include "exporters/http/http_listen.h"

// What the daemon serves beside its pages: the address of probes, and the certificate. A running daemon is asked first
// (`status`, daemon/run/control.h), then the address itself; without one, the files are looked at.

enum { PATH_SHOWN_MAX = 300, SOCKET_MODE = 0222, DAY_SECONDS = 86400 };

// Whether a line of the daemon's has this word and this address; then *port, and what follows it.
static bool is_of(const char *line, const char *word, const char *address, unsigned *port, const char **rest) {
    size_t length = strlen(word), of_address = strlen(address);
    if (strncmp(line, word, length) != 0 || line[length] != ' ' ||
        strncmp(line + length + 1, address, of_address) != 0 || line[length + 1 + of_address] != ' ')
        return false;
    char *end;
    *port = (unsigned)strtoul(line + length + 1 + of_address + 1, &end, 10);
    *rest = end + (*end == ' ');
    return true;
}

static const char *next_line(const char *line) {
    const char *end = strchr(line, '\n');
    return end ? end + 1 : line + strlen(line);
}

// ---- probes ----

static bool is_path(const struct config_listen *probe) { return http_listen_is_path(probe->address); }

// The folder that a socket is in, which says who may use it.
static void folder_of(const char *path, char *out, size_t size) {
    size_t length = (size_t)(strrchr(path, '/') - path);
    (void)snprintf(out, size, "%.*s", length > 0 ? (int)length : 1, path);
}

// Who may use the socket. It is made for all, and its folder decides.
static void say_rights(const struct config_listen *probe, struct findings *findings) {
    char folder[PATH_SHOWN_MAX];
    struct stat of_socket, of_folder;
    folder_of(probe->address, folder, sizeof folder);
    if (stat(probe->address, &of_socket) < 0 || stat(folder, &of_folder) < 0)
        return;
    if ((of_socket.st_mode & SOCKET_MODE) != SOCKET_MODE) {
        findings_add(findings, FINDING_WARNING, "probe_rights",
                     "%s has mode %03o: not every user who reaches it may use it", probe->text,
                     (unsigned)of_socket.st_mode & 0777);
        findings_remedy(findings,
                        "'chmod 0666 %s', or restart topdownd, which makes it so; its folder says who reaches it",
                        probe->address);
    } else if ((of_folder.st_mode & S_IXOTH) == 0)
        findings_add(findings, FINDING_OK, "probe_rights", "%s is for those who may enter %s: its owner%s", probe->text,
                     folder, (of_folder.st_mode & S_IXGRP) != 0 ? " and its group" : " alone");
    else
        findings_add(findings, FINDING_OK, "probe_rights", "%s is for every user of this host", probe->text);
}

// Asks it, as a probe would.
static void ask_probe(const struct config_listen *probe, uint16_t port, struct findings *findings) {
    struct text page = {0};
    int r = loopback_get(probe->address, port, "/-/healthy", &page);
    text_free(&page);
    if (r == 0) {
        findings_add(findings, FINDING_OK, "probe", "%s answers to probes", probe->text);
    } else if (r == -EACCES || r == -EPERM) {
        findings_add(findings, FINDING_NOT_CHECKED, "probe", "whether %s answers to probes: this user may not use it",
                     probe->text);
        findings_remedy(findings, "run this command as root, or as the user that asks it");
    } else if (r == -EAGAIN || r == -EPROTO) {
        findings_add(findings, FINDING_FAILURE, "probe", "%s gives probes no answer, although topdownd listens there",
                     probe->text);
        findings_remedy(findings, "see topdownd's log; if another program has taken the address, end that, and restart "
                                  "topdownd");
    } else {
        findings_add(findings, FINDING_NOT_CHECKED, "probe",
                     "%s: topdownd listens there, and from here it cannot be "
                     "reached: %s",
                     probe->text, strerror(-r));
        findings_remedy(findings, "topdownd may run in a container or network of its own: ask it from there. If not, "
                                  "restart it");
    }
    if (is_path(probe))
        say_rights(probe, findings);
}

// What the daemon says. Another address that it serves is one of a configuration of before.
static void check_told(const struct config_listen *probe, const char *status, struct findings *findings) {
    unsigned port = 0;
    const char *why;
    for (const char *line = status; *line != '\0'; line = next_line(line)) {
        bool probed = is_of(line, "probed", probe->address, &port, &why);
        if ((!probed && !is_of(line, "awaits", probe->address, &port, &why)) ||
            (port != probe->port && probe->port != 0))
            continue;
        if (probed) {
            ask_probe(probe, (uint16_t)port, findings);
            return;
        }
        findings_add(findings, FINDING_FAILURE, "probe", "%s: topdownd waits until it can listen there", probe->text);
        findings_remedy(findings, "%.*s", (int)strcspn(why, "\n"), why);
        return;
    }
    findings_add(findings, FINDING_WARNING, "probe", "%s: topdownd serves no probes there", probe->text);
    findings_remedy(findings, "'topdownd reload' makes it read this configuration");
}

// No daemon runs: whether the path can be listened to.
static void check_path(const struct config_listen *probe, struct findings *findings) {
    char folder[PATH_SHOWN_MAX];
    struct stat status;
    folder_of(probe->address, folder, sizeof folder);
    if (lstat(probe->address, &status) == 0 && !S_ISSOCK(status.st_mode)) {
        findings_add(findings, FINDING_FAILURE, "probe", "%s is not a socket: topdownd will not start", probe->text);
        findings_remedy(findings, "remove it, or name another path (probe)");
    } else if (stat(folder, &status) < 0 && strncmp(probe->address, RUN_FOLDER, sizeof RUN_FOLDER - 1) != 0) {
        findings_add(findings, FINDING_FAILURE, "probe", "%s: its folder cannot be used: %s", probe->text,
                     strerror(errno));
        findings_remedy(findings, "make the folder, let the user topdownd write to it, or choose one in /run/topdownd, "
                                  "which systemd makes");
    } else
        findings_add(findings, FINDING_OK, "probe", "%s is free", probe->text);
}

void doctor_check_probe(const struct setup *setup, pid_t daemon, const char *status, struct findings *findings) {
    const struct config_listen *probe = &setup->config->probe;
    if (!probe->text)
        return;
    if (status)
        check_told(probe, status, findings);
    else if (daemon != 0)
        findings_add(findings, FINDING_NOT_CHECKED, "probe", "whether %s answers to probes: topdownd does not say",
                     probe->text);
    else if (is_path(probe))
        check_path(probe, findings);
    else
        doctor_check_free("probe", probe, findings);
}

// ---- the certificate ----

static void say_certificate(const char *path, double end_seconds, struct findings *findings) {
    char text[ERROR_TEXT_MAX];
    double now_seconds = (double)time(NULL);
    if (!protection_describe_end(path, end_seconds, now_seconds, text, sizeof text)) {
        findings_add(findings, FINDING_OK, "certificate", "%.250s is good for another %.0f days", path,
                     floor((end_seconds - now_seconds) / DAY_SECONDS));
        return;
    }
    findings_add(findings, end_seconds <= now_seconds ? FINDING_FAILURE : FINDING_WARNING, "certificate", "%s", text);
    findings_remedy(findings, "%s", protection_expiry_remedy);
}

// True if the daemon says of one.
static bool say_told_certificate(const char *status, struct findings *findings) {
    static const char CERTIFICATE[] = "certificate ";
    for (const char *line = status; line && *line != '\0'; line = next_line(line)) {
        double end_seconds;
        if (strncmp(line, CERTIFICATE, sizeof CERTIFICATE - 1) == 0 &&
            sscanf(line + sizeof CERTIFICATE - 1, "%lf", &end_seconds) == 1) {
            say_certificate("topdownd's TLS", end_seconds, findings);
            return true;
        }
    }
    return false;
}

static bool say_denied(const char *path, struct findings *findings) {
    if (!path || faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0 || (errno != EACCES && errno != EPERM))
        return false;
    findings_add(findings, FINDING_NOT_CHECKED, "web_configuration",
                 "whether topdownd may read %.250s, and whether it is right: this user may not read it", path);
    findings_remedy(findings, "run this command as root");
    return true;
}

// What this user may not read says nothing of the user topdownd, who has groups and rights of his own.
static bool say_all_denied(const struct options *options, struct errors *errors, struct findings *findings) {
    struct web_settings *settings;
    if (say_denied(options->web.config, findings))
        return true;
    if (web_config_load(options->web.config, errors, &settings) < 0)
        return false;
    const struct web_tls_settings *tls = &settings->tls;
    bool denied = say_denied(tls->certificate.path, findings) || say_denied(tls->key.path, findings) ||
                  say_denied(tls->client_ca.path, findings);
    web_settings_free(settings);
    return denied;
}

static void say_unreadable(int r, const struct errors *errors, struct findings *findings) {
    char why[ERROR_LINE_MAX] = "";
    if (errors->n > 0)
        (void)error_format(&errors->items[0], why, sizeof why);
    findings_add(findings, FINDING_FAILURE, "web_configuration", "%s", errors->n > 0 ? why : strerror(-r));
    findings_remedy(findings,
                    "mend what the line says: topdownd does not start with this file, and one that runs goes on "
                    "with what it has read before. The user topdownd must be able to read it and what it names");
}

static void say_passwords(const struct setup *setup, const struct web *web, struct findings *findings) {
    char text[ERROR_TEXT_MAX];
    for (size_t i = 0; i < setup->config->n_listen; i++) {
        const struct config_listen *listen = &setup->config->listen[i];
        const struct http_address address = {listen->text, listen->address, listen->port};
        if (!protection_describe_passwords(web, &address, text, sizeof text))
            continue;
        findings_add(findings, FINDING_WARNING, "password_without_tls", "%s", text);
        findings_remedy(findings, "%s", protection_passwords_remedy);
        return; // one is enough
    }
}

// The file that the command line names. What a running daemon says of its own comes first.
static void check_web_file(const struct setup *setup, const struct options *options, const char *status, bool told,
                           struct findings *findings) {
    struct errors *errors = calloc(1, sizeof *errors);
    struct web *web = NULL;
    struct errors again = {.n = 0};
    int r = errors ? protection_load(options, errors, &web) : 0;
    if (r < 0 && !say_all_denied(options, &again, findings))
        say_unreadable(r, errors, findings);
    if (web && !told && isfinite(protection_expiry_seconds(web)))
        say_certificate(web->settings->tls.certificate.path, protection_expiry_seconds(web), findings);
    if (web && !status)
        say_passwords(setup, web, findings);
    web_unref(web);
    free(errors);
}

void doctor_check_web(const struct setup *setup, const struct options *options, const char *status,
                      struct findings *findings) {
    bool told = say_told_certificate(status, findings);
    if (options->web.config)
        check_web_file(setup, options, status, told, findings);
}
