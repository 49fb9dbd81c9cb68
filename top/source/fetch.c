// SPDX-License-Identifier: Apache-2.0
#include "top/source/fetch.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONNECT_SECONDS = 5, ANSWER_SECONDS = 20, URL_MAX = 1024, FDS_MAX = 4 };

struct fetch {
    CURLM *multi;
    CURL *page;
    char url[URL_MAX];
    bool busy, done;
    int status;
    char *body;
    size_t length, room;
    bool too_large;
    char error[CURL_ERROR_SIZE], why[FETCH_WHY_MAX];
};

static size_t take_bytes(char *bytes, size_t size, size_t n, void *context) {
    struct fetch *fetch = context;
    size_t length = size * n, needed = fetch->length + length + 1;
    if (needed > FETCH_BYTES_MAX) {
        fetch->too_large = true;
        return 0;
    }
    if (needed > fetch->room) {
        size_t room = needed * 2 < FETCH_BYTES_MAX ? needed * 2 : FETCH_BYTES_MAX;
        char *larger = realloc(fetch->body, room);
        if (!larger)
            return 0;
        fetch->body = larger;
        fetch->room = room;
    }
    memcpy(fetch->body + fetch->length, bytes, length);
    fetch->length += length;
    fetch->body[fetch->length] = '\0';
    return length;
}

// ---- making ----

static int check_url(const char *url, char why[static FETCH_WHY_MAX]) {
    const char *host = strstr(url, "://");
    bool known = strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0;
    if (!known || !host || host[3] == '\0' || strlen(url) > URL_MAX / 2) {
        (void)snprintf(why, FETCH_WHY_MAX, "'%.100s' is no URL of a daemon: http://HOST:10813 or https://HOST:10813",
                       url);
        return -EINVAL;
    }
    if (strchr(host, '@')) { // others see what stands on a command line
        (void)snprintf(why, FETCH_WHY_MAX,
                       "no user or password in the URL: --user NAME, and the password in the environment variable "
                       "TOPDOWND_PASSWORD or --password-file FILE");
        return -EINVAL;
    }
    return 0;
}

// No proxy is asked for what is on this host.
static bool is_loopback(const char *url) {
    static const char *const hosts[] = {"127.", "localhost", "[::1]"};
    const char *host = strstr(url, "://") + strlen("://");
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        if (strncmp(host, hosts[i], strlen(hosts[i])) == 0)
            return true;
    return false;
}

static bool set_up(struct fetch *fetch, const struct fetch_options *options) {
    CURL *page = fetch->page;
    bool set = curl_easy_setopt(page, CURLOPT_WRITEFUNCTION, take_bytes) == CURLE_OK &&
               curl_easy_setopt(page, CURLOPT_WRITEDATA, fetch) == CURLE_OK &&
               curl_easy_setopt(page, CURLOPT_ERRORBUFFER, fetch->error) == CURLE_OK &&
               curl_easy_setopt(page, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
               curl_easy_setopt(page, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS) == CURLE_OK &&
               curl_easy_setopt(page, CURLOPT_TIMEOUT, (long)ANSWER_SECONDS) == CURLE_OK &&
               curl_easy_setopt(page, CURLOPT_ACCEPT_ENCODING, "gzip") == CURLE_OK &&
               curl_easy_setopt(page, CURLOPT_USERAGENT, "topdownd-top") == CURLE_OK;
#if LIBCURL_VERSION_NUM >= 0x075500
    set = set && curl_easy_setopt(page, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK;
#else
    set = set && curl_easy_setopt(page, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS)) == CURLE_OK;
#endif
    if (is_loopback(options->url))
        set = set && curl_easy_setopt(page, CURLOPT_NOPROXY, "*") == CURLE_OK;
    if (options->cacert)
        set = set && curl_easy_setopt(page, CURLOPT_CAINFO, options->cacert) == CURLE_OK;
    if (options->user)
        set = set && curl_easy_setopt(page, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC) == CURLE_OK &&
              curl_easy_setopt(page, CURLOPT_USERNAME, options->user) == CURLE_OK &&
              curl_easy_setopt(page, CURLOPT_PASSWORD, options->password ? options->password : "") == CURLE_OK;
    return set;
}

int fetch_new(const struct fetch_options *options, struct fetch **out, char why[static FETCH_WHY_MAX]) {
    int r = check_url(options->url, why);
    if (r < 0)
        return r;
    struct fetch *fetch = calloc(1, sizeof *fetch);
    if (!fetch)
        return -ENOMEM;
    (void)snprintf(fetch->url, sizeof fetch->url, "%.*s",
                   (int)strlen(options->url) - (options->url[strlen(options->url) - 1] == '/'), options->url);
    fetch->multi = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? curl_multi_init() : NULL;
    fetch->page = curl_easy_init();
    if (!fetch->multi || !fetch->page || !set_up(fetch, options)) {
        fetch_free(fetch);
        return -ENOMEM;
    }
    *out = fetch;
    return 0;
}

struct fetch *fetch_free(struct fetch *fetch) {
    if (!fetch)
        return NULL;
    if (fetch->busy)
        (void)curl_multi_remove_handle(fetch->multi, fetch->page);
    curl_easy_cleanup(fetch->page);
    (void)curl_multi_cleanup(fetch->multi);
    free(fetch->body);
    free(fetch);
    return NULL;
}

// ---- a page ----

int fetch_begin(struct fetch *fetch, const char *path) {
    char url[2 * URL_MAX];
    (void)snprintf(url, sizeof url, "%s%.1000s", fetch->url, path);
    fetch->length = 0;
    fetch->too_large = fetch->done = false;
    fetch->status = 0;
    fetch->error[0] = fetch->why[0] = '\0';
    if (curl_easy_setopt(fetch->page, CURLOPT_URL, url) != CURLE_OK ||
        curl_multi_add_handle(fetch->multi, fetch->page) != CURLM_OK)
        return -ENOMEM;
    fetch->busy = true;
    return 0;
}

static void explain_status(struct fetch *fetch) {
    static const struct {
        int status;
        const char *text;
    } known[] = {{401, "it wants a user and the right password: --user NAME, and the password in the environment "
                       "variable TOPDOWND_PASSWORD or --password-file FILE"},
                 {404, "it has no such page: no topdownd is there, or an older one"},
                 {429, "too many passwords are being checked there"},
                 {503, "it is short of memory"}};
    (void)snprintf(fetch->why, sizeof fetch->why, "it answers with HTTP status %d", fetch->status);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].status == fetch->status)
            (void)snprintf(fetch->why, sizeof fetch->why, "%s", known[i].text);
}

// What a server with TLS does when it is asked without.
static bool speaks_otherwise(CURLcode code) {
    return code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_WEIRD_SERVER_REPLY || code == CURLE_GOT_NOTHING ||
           code == CURLE_RECV_ERROR;
}

// curl quotes the server's certificate: no character of it may steer a terminal.
static void hide_controls(char *text) {
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < ' ' || (unsigned char)*text > '~')
            *text = '?';
}

static void explain_failure(struct fetch *fetch, CURLcode code) {
    const char *reason = fetch->error[0] != '\0' ? fetch->error : curl_easy_strerror(code);
    hide_controls(fetch->error);
    if (fetch->too_large)
        (void)snprintf(fetch->why, sizeof fetch->why, "its answer is larger than %d MiB", FETCH_BYTES_MAX >> 20);
    else if (strncmp(fetch->url, "http://", 7) == 0 && speaks_otherwise(code))
        (void)snprintf(fetch->why, sizeof fetch->why, "%.200s (if it has TLS: --url https://HOST:PORT)", reason);
    else if (strncmp(fetch->url, "https://", 8) == 0 && code == CURLE_SSL_CONNECT_ERROR)
        (void)snprintf(fetch->why, sizeof fetch->why, "%.200s (if it has no TLS: --url http://HOST:PORT)", reason);
    else if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE)
        (void)snprintf(fetch->why, sizeof fetch->why, "%.180s (--cacert FILE names the authority to trust)", reason);
    else
        (void)snprintf(fetch->why, sizeof fetch->why, "%.250s", reason);
}

static void finish(struct fetch *fetch, CURLcode code) {
    long status = 0;
    (void)curl_multi_remove_handle(fetch->multi, fetch->page);
    fetch->busy = false;
    fetch->done = true;
    if (code == CURLE_OK)
        (void)curl_easy_getinfo(fetch->page, CURLINFO_RESPONSE_CODE, &status);
    fetch->status = (int)status;
    if (code != CURLE_OK)
        explain_failure(fetch, code);
    else if (status != 200)
        explain_status(fetch);
}

void fetch_wait(struct fetch *fetch, const int *fds, size_t n, int timeout_ms) {
    struct curl_waitfd waiting[FDS_MAX] = {{.fd = 0}};
    int running = 0, left = 0;
    n = n < FDS_MAX ? n : FDS_MAX;
    for (size_t i = 0; i < n; i++)
        waiting[i] = (struct curl_waitfd){.fd = fds[i], .events = CURL_WAIT_POLLIN};
    (void)curl_multi_perform(fetch->multi, &running);
    if (!fetch->busy || running > 0)
        (void)curl_multi_poll(fetch->multi, waiting, (unsigned)n, timeout_ms, NULL);
    (void)curl_multi_perform(fetch->multi, &running);
    const CURLMsg *message = curl_multi_info_read(fetch->multi, &left);
    if (message && message->msg == CURLMSG_DONE && fetch->busy)
        finish(fetch, message->data.result);
}

bool fetch_take(struct fetch *fetch, struct fetched *out) {
    if (!fetch->done)
        return false;
    fetch->done = false;
    *out = (struct fetched){.status = fetch->status,
                            .body = fetch->body ? fetch->body : "",
                            .length = fetch->body ? fetch->length : 0,
                            .why = fetch->why};
    return true;
}
