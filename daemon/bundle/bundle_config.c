// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "collectors/recording/recording_file.h"
#include "config/web/web_config.h"
#include "daemon/bundle/bundle_parts.h"

enum { FILE_BYTES_MAX = 1 << 20, COMMAND_BYTES_MAX = 64 << 10 };

// ---- names ----

// Words that every bundle has and that say nothing of anybody.
static bool is_common(const char *word) {
    static const char *const common[] = {"root",   "nobody",     "topdownd", "localhost", "prometheus",
                                         "daemon", "localhost6", "admin",    "metrics",   "exporter"};
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        if (strcmp(word, common[i]) == 0)
            return true;
    return false;
}

static void add(struct bundle *bundle, const char *word, const char *to) {
    if (word && !is_common(word))
        redaction_add(&bundle->redaction, word, to);
}

static void add_host(struct bundle *bundle, const char *name) {
    char first[SETUP_HOSTNAME_MAX];
    (void)snprintf(first, sizeof first, "%.*s", (int)strcspn(name, "."), name);
    add(bundle, name, "HOST");
    add(bundle, first, "HOST");
}

static void add_user(struct bundle *bundle) {
    static const char *const variables[] = {"USER", "LOGNAME", "SUDO_USER"};
    const struct passwd *user = getpwuid(getuid());
    const char *home = getenv("HOME");
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        add(bundle, getenv(variables[i]), "USER");
    if (user)
        add(bundle, user->pw_name, "USER");
    if (home && strlen(home) > 1 && strcmp(home, "/root") != 0)
        add(bundle, home, "/home/USER");
}

// ---- the web configuration ----

static const char *const SECRET = "SECRET";

// The file of the option, or of the running daemon's command line.
static char *find_web_file(const struct bundle_request *request) {
    static const char option[] = "--web.config.file";
    const size_t n = sizeof option - 1;
    if (request->options->web.config)
        return strdup(request->options->web.config);
    char path[64], *words = malloc(COMMAND_BYTES_MAX), *found = NULL;
    (void)snprintf(path, sizeof path, "/proc/%ld/cmdline", (long)request->daemon);
    FILE *file = request->daemon > 0 && words ? fopen(path, "re") : NULL;
    size_t length = file ? fread(words, 1, COMMAND_BYTES_MAX - 1, file) : 0;
    if (file)
        (void)fclose(file);
    if (words)
        words[length] = '\0';
    for (size_t at = 0; at < length && !found; at += strlen(words + at) + 1) {
        const char *word = words + at, *next = word + strlen(word) + 1;
        if (strncmp(word, option, n) == 0 && word[n] == '=')
            found = strdup(word + n + 1);
        else if (strcmp(word, option) == 0 && next < words + length)
            found = strdup(next);
    }
    free(words);
    return found;
}

static void describe_web(const struct web_settings *web, struct text *out) {
    static const char *const versions[] = {"TLS10", "TLS11", "TLS12", "TLS13"};
    text_format(out, "TLS: %s\n", web->tls.wanted ? "yes" : "no");
    if (web->tls.wanted)
        text_format(out, "certificate, key: set, not shown\nCA of clients: %s\nclient authentication: %d of 0 to 4\n",
                    web->tls.client_ca.path ? "set, not shown" : "none", (int)web->tls.client_auth);
    if (web->tls.wanted)
        text_format(out, "versions: %s to %s\ncurves: %zu named\n", versions[web->tls.min_version],
                    versions[web->tls.max_version], web->tls.n_curves);
    text_format(out, "users with a password: %zu, not shown\n", web->n_users);
    for (size_t i = 0; i < web->n_headers; i++)
        text_format(out, "header %s: set, not shown\n", web->headers[i].name);
}

// What the file names is taken out of everything else as well, such as log lines.
static void hide_web(struct bundle *bundle, const struct web_settings *web) {
    const struct web_file *const files[] = {&web->tls.certificate, &web->tls.key, &web->tls.client_ca};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        add(bundle, files[i]->path, SECRET);
    for (size_t i = 0; i < web->n_users; i++) {
        add(bundle, web->users[i].name, "WEB_USER");
        add(bundle, web->users[i].hash, SECRET);
    }
    for (size_t i = 0; i < web->n_headers; i++)
        if (strlen(web->headers[i].value) >= 12) // not DENY and its kind, which are words of other texts
            add(bundle, web->headers[i].value, SECRET);
}

static struct web_settings *load_web(struct bundle *bundle, char **path) {
    struct web_settings *web = NULL;
    struct errors *errors = calloc(1, sizeof *errors);
    *path = find_web_file(bundle->request);
    if (*path && errors && web_config_load(*path, errors, &web) < 0)
        web = NULL; // its mistakes quote it, so they are not shown either
    free(errors);
    return web;
}

// However the file writes them.
static void add_patterns(struct bundle *bundle) {
    const struct config *config = bundle->request->setup->config;
    for (size_t i = 0; i < config->n_hosts; i++)
        add(bundle, config->hosts[i].hostname, "HOST");
}

void bundle_find_names(struct bundle *bundle) {
    struct utsname kernel;
    char *path;
    add_host(bundle, bundle->request->setup->hostname);
    if (uname(&kernel) == 0)
        add_host(bundle, kernel.nodename);
    add_user(bundle);
    struct web_settings *web = load_web(bundle, &path);
    if (web)
        hide_web(bundle, web);
    add(bundle, path, SECRET);
    add_patterns(bundle);
    web_settings_free(web);
    free(path);
}

// ---- the configuration ----

// Where a comment begins: at a '#' that stands first or behind a space, and not between quotes.
static size_t comment_at(const char *line, size_t length) {
    char quote = '\0';
    for (size_t i = 0; i < length; i++) {
        if (quote != '\0')
            quote = line[i] == quote ? '\0' : quote;
        else if (line[i] == '"' || line[i] == '\'')
            quote = line[i];
        else if (line[i] == '#' && (i == 0 || isspace((unsigned char)line[i - 1])))
            return i;
    }
    return length;
}

// The line without its comment; patterns of host names are left out.
static void put_line(const char *line, size_t length, struct text *out) {
    static const char key[] = "hostname:";
    size_t n = comment_at(line, length);
    while (n > 0 && isspace((unsigned char)line[n - 1]))
        n--;
    const char *found = memmem(line, n, key, sizeof key - 1);
    if (n == 0)
        return;
    size_t before = found ? (size_t)(found - line) + sizeof key - 1 : n, after = before;
    while (after < n && isspace((unsigned char)line[after]))
        after++;
    char quote = after < n && (line[after] == '"' || line[after] == '\'') ? line[after++] : '\0';
    while (after < n && (quote != '\0' ? line[after] != quote : line[after] != ',' && line[after] != '}'))
        after++;
    after += quote != '\0' && after < n;
    text_append(out, line, before);
    text_format(out, "%s%.*s\n", found ? " HOST" : "", (int)(n - after), line + after);
}

static void add_file(struct bundle *bundle, const char *path, size_t number) {
    uint8_t *bytes;
    size_t n;
    struct text text = {0};
    char name[64];
    (void)snprintf(name, sizeof name, "configuration/%zu.yaml", number);
    int r = recording_file_read(path, FILE_BYTES_MAX, &bytes, &n);
    if (r < 0) {
        bundle_miss(bundle, name, strerror(-r));
        return;
    }
    text_format(&text, "# %s\n", path);
    for (size_t at = 0; at < n;) {
        size_t length = (size_t)(strchrnul((char *)bytes + at, '\n') - (char *)(bytes + at));
        put_line((char *)bytes + at, length, &text);
        at += length + 1;
    }
    free(bytes);
    bundle_add_text(bundle, name, "a file of the configuration, without comments and host names", &text);
}

void bundle_add_configuration(struct bundle *bundle) {
    const struct config *config = bundle->request->setup->config;
    struct text text = {0};
    char *path;
    for (size_t i = 0; i < config->n_files; i++)
        add_file(bundle, config->files[i], i + 1);
    struct web_settings *web = load_web(bundle, &path);
    if (web)
        describe_web(web, &text);
    else if (path)
        text_string(&text, "The web configuration cannot be read, or has mistakes.\n");
    if (path)
        bundle_add_text(bundle, "configuration/web.txt", "how the server is protected: no file, user or hash", &text);
    else
        bundle_miss(bundle, "configuration/web.txt", "no web configuration is known: --web.config.file names one");
    web_settings_free(web);
    free(path);
}
