// SPDX-License-Identifier: Apache-2.0
#include "exporters/http/http_guard.h"

#include <errno.h>
#include <string.h>

#include "exporters/http/http_respond.h"

_Static_assert((int)WEB_CLIENT_BYTES == sizeof(struct http_client), "a client is told by its address");

void http_guard_init(struct http_guard *guard, int wake_fd) {
    *guard = (struct http_guard){.wake_fd = wake_fd};
    pthread_mutex_init(&guard->lock, NULL);
}

void http_guard_deinit(struct http_guard *guard) {
    web_gate_free(guard->gate);
    web_unref(guard->next);
    web_unref(guard->web);
    pthread_mutex_destroy(&guard->lock);
}

int http_guard_change(struct http_guard *guard, struct web *web) {
    struct web_gate *gate = NULL;
    if (guard->begun && guard->tls != (web->tls != NULL))
        return -EOPNOTSUPP;
    int r = web->settings->n_users > 0 && !guard->gate ? web_gate_new(guard->wake_fd, &gate) : 0;
    if (r < 0)
        return r;
    if (!guard->begun) { // no other thread exists yet
        guard->tls = web->tls != NULL;
        guard->begun = true;
    }
    pthread_mutex_lock(&guard->lock);
    struct web *skipped = guard->next;
    guard->next = web_ref(web);
    if (gate)
        guard->gate = gate;
    pthread_mutex_unlock(&guard->lock);
    web_unref(skipped);
    return 0;
}

unsigned http_guard_flags(const struct http_guard *guard) {
    return (guard->begun ? (unsigned)MHD_ALLOW_SUSPEND_RESUME : 0) | (guard->tls ? (unsigned)MHD_USE_TLS : 0);
}

void http_guard_options(const struct http_guard *guard, struct MHD_OptionItem options[2]) {
    const struct MHD_OptionItem end = {MHD_OPTION_END, 0, NULL};
    options[0] = options[1] = end;
    if (guard->tls)
        options[0] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_CERT_CALLBACK, 0, web_tls_no_certificate()};
}

bool http_guard_refresh(struct http_guard *guard) {
    if (!guard->begun)
        return false;
    pthread_mutex_lock(&guard->lock);
    struct web *next = guard->next;
    guard->next = NULL;
    pthread_mutex_unlock(&guard->lock);
    if (!next)
        return false;
    web_unref(guard->web);
    guard->web = next;
    return true;
}

void http_guard_begin(struct http_guard *guard, struct MHD_Connection *connection, struct http_connection *slot) {
    const union MHD_ConnectionInfo *info =
        guard->tls ? MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION) : NULL;
    slot->connection = connection;
    if (!info || !guard->web)
        return;
    slot->session = web_ref(guard->web);
    slot->handshake = info->tls_session;
    (void)web_tls_begin(guard->web->tls, info->tls_session); // else its handshake fails
}

void http_guard_end(struct http_connection *slot) {
    web_unref(slot->session);
    slot->session = NULL;
    slot->handshake = NULL;
}

// ---- passwords ----

static struct web_gate *gate_of(struct http_guard *guard) {
    pthread_mutex_lock(&guard->lock);
    struct web_gate *gate = guard->gate;
    pthread_mutex_unlock(&guard->lock);
    return gate;
}

static enum web_verdict ask(struct http_guard *guard, struct MHD_Connection *connection, struct http_connection *slot) {
    const char *header = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Authorization");
    struct web_credentials credentials;
    if (!header || !web_credentials_read(header, &credentials))
        return WEB_DENIED;
    const struct web_question question = {
        .web = guard->web, .credentials = &credentials, .client = slot->client.address, .who = slot};
    enum web_verdict verdict = web_gate_ask(gate_of(guard), &question);
    explicit_bzero(&credentials, sizeof credentials);
    if (verdict == WEB_WAIT)
        MHD_suspend_connection(connection);
    return verdict;
}

enum web_verdict http_guard_judge(struct http_guard *guard, struct MHD_Connection *connection,
                                  struct http_connection *slot) {
    static const enum web_verdict verdicts[] = {
        [HTTP_PASS_GRANTED] = WEB_GRANTED, [HTTP_PASS_DENIED] = WEB_DENIED, [HTTP_PASS_BUSY] = WEB_BUSY};
    enum http_pass pass = slot ? slot->pass : HTTP_PASS_UNASKED;
    if (slot)
        slot->pass = HTTP_PASS_UNASKED; // it is for this request alone, even where nobody needs it any more
    if (!guard->web || guard->web->settings->n_users == 0)
        return WEB_GRANTED;
    if (!slot)
        return WEB_BUSY;
    return pass == HTTP_PASS_UNASKED ? ask(guard, connection, slot) : verdicts[pass];
}

enum MHD_Result http_guard_refuse(struct MHD_Connection *connection, enum web_verdict verdict) {
    if (verdict == WEB_BUSY)
        return http_respond(connection, MHD_HTTP_TOO_MANY_REQUESTS, "text/plain; charset=utf-8",
                            "Too many passwords are being checked: try again in a second.\n", "Retry-After", "1");
    return http_respond(connection, MHD_HTTP_UNAUTHORIZED, "text/plain; charset=utf-8",
                        "A name and its password are needed.\n", "WWW-Authenticate", "Basic realm=\"topdownd\"");
}

static void wake_answered(struct web_gate *gate) {
    static const enum http_pass passes[] = {
        [WEB_GRANTED] = HTTP_PASS_GRANTED, [WEB_DENIED] = HTTP_PASS_DENIED, [WEB_BUSY] = HTTP_PASS_BUSY};
    enum web_verdict verdict;
    void *who;
    while (web_gate_answer(gate, &who, &verdict)) {
        struct http_connection *slot = who;
        slot->pass = passes[verdict];
        MHD_resume_connection(slot->connection);
    }
}

void http_guard_wake(struct http_guard *guard) {
    struct web_gate *gate = guard->begun ? gate_of(guard) : NULL;
    if (gate)
        wake_answered(gate);
}

void http_guard_give_up(struct http_guard *guard) {
    struct web_gate *gate = gate_of(guard);
    if (!gate)
        return;
    web_gate_give_up(gate);
    wake_answered(gate);
}
