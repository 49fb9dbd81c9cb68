// SPDX-License-Identifier: Apache-2.0
#include "exporters/web/web_tls.h"

#include <errno.h>
#include <fcntl.h>
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exporters/web/web_suites.h"

enum { FILE_BYTES_MAX = 1 << 20, PRIORITY_MAX = 256 + WEB_SUITES_TEXT_MAX };

struct web_tls {
    gnutls_certificate_credentials_t credentials;
    gnutls_priority_t priority;
    enum web_client_auth client_auth;
    double expiry_seconds;
};

// ---- files ----

static int refuse(const struct web_settings *settings, const struct web_file *file, struct errors *errors,
                  const char *why) {
    return errors_add(errors, settings->file, file->line, file->column, "%.250s: %s", file->path, why);
}

// Reads a regular file of a bounded size into `out`, whose data are for forget(). Returns 0 or a negative errno.
static int read_open(int fd, gnutls_datum_t *out) {
    struct stat status;
    if (fstat(fd, &status) < 0)
        return -errno;
    if (!S_ISREG(status.st_mode) || status.st_size > FILE_BYTES_MAX)
        return S_ISREG(status.st_mode) ? -EFBIG : S_ISDIR(status.st_mode) ? -EISDIR : -ENOTSUP;
    size_t size = (size_t)status.st_size;
    unsigned char *data = malloc(size + 1);
    if (!data)
        return -ENOMEM;
    ssize_t n = read(fd, data, size); // a file that is being written gives a part, which is no PEM then
    if (n < 0) {
        n = -errno;
        free(data);
        return (int)n;
    }
    data[n] = '\0';
    *out = (gnutls_datum_t){data, (unsigned)n};
    return 0;
}

static int read_file(const struct web_settings *settings, const struct web_file *file, struct errors *errors,
                     gnutls_datum_t *out) {
    char why[160];
    int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    int r = fd < 0 ? -errno : read_open(fd, out);
    if (fd >= 0)
        close(fd);
    if (r == 0 || r == -ENOMEM)
        return r;
    (void)snprintf(why, sizeof why, "cannot be read: %s",
                   r == -EACCES ? "topdownd's user may not: give it or its group the right" : error_reason(r));
    errors->passing = errors->passing || error_passes(r);
    return refuse(settings, file, errors, why);
}

// A key must not stay in freed memory.
static void forget(gnutls_datum_t *datum) {
    if (datum->data)
        explicit_bzero(datum->data, datum->size);
    free(datum->data);
    *datum = (gnutls_datum_t){0};
}

// ---- certificate and key ----

// Why the library did not take the pair, at the file that is at fault.
static int explain_pair(const struct web_settings *settings, const gnutls_datum_t *key, int error,
                        struct errors *errors) {
    gnutls_x509_privkey_t parsed;
    char why[200];
    if (gnutls_x509_privkey_init(&parsed) < 0)
        return -ENOMEM;
    int r = gnutls_x509_privkey_import2(parsed, key, GNUTLS_X509_FMT_PEM, NULL, 0);
    gnutls_x509_privkey_deinit(parsed);
    bool key_wrong = r < 0 || error == GNUTLS_E_CERTIFICATE_KEY_MISMATCH;
    const struct web_file *file = key_wrong ? &settings->tls.key : &settings->tls.certificate;
    if (r == GNUTLS_E_DECRYPTION_FAILED)
        return refuse(settings, file, errors,
                      "the key needs a password: store it without one, readable by topdownd alone");
    if (error == GNUTLS_E_CERTIFICATE_KEY_MISMATCH)
        return refuse(settings, file, errors, "this key is not the one of the certificate in cert_file");
    (void)snprintf(why, sizeof why, "this is no %s in PEM: %.100s", key_wrong ? "private key" : "certificate",
                   gnutls_strerror(key_wrong ? r : error));
    return refuse(settings, file, errors, why);
}

static int load_pair(struct web_tls *tls, const struct web_settings *settings, struct errors *errors) {
    gnutls_datum_t certificate = {0}, key = {0};
    int r = read_file(settings, &settings->tls.certificate, errors, &certificate);
    if (r == 0)
        r = read_file(settings, &settings->tls.key, errors, &key);
    if (r == 0) {
        int error =
            gnutls_certificate_set_x509_key_mem2(tls->credentials, &certificate, &key, GNUTLS_X509_FMT_PEM, NULL, 0);
        if (error == GNUTLS_E_MEMORY_ERROR)
            r = -ENOMEM;
        else if (error < 0)
            r = explain_pair(settings, &key, error, errors);
    }
    forget(&certificate);
    forget(&key);
    return r;
}

// Certificates of authorities that are sent with it live longer, or are of no use to the clients of today anyway.
static double find_expiry(const struct web_tls *tls) {
    gnutls_x509_crt_t *chain;
    unsigned n = 0;
    if (gnutls_certificate_get_x509_crt(tls->credentials, 0, &chain, &n) < 0)
        return NAN;
    time_t end = n > 0 ? gnutls_x509_crt_get_expiration_time(chain[0]) : -1;
    for (unsigned i = 0; i < n; i++)
        gnutls_x509_crt_deinit(chain[i]);
    gnutls_free(chain);
    return end < 0 || end == GNUTLS_X509_NO_WELL_DEFINED_EXPIRATION ? NAN : (double)end;
}

static int load_ca(struct web_tls *tls, const struct web_settings *settings, struct errors *errors) {
    gnutls_datum_t ca = {0};
    if (!settings->tls.client_ca.path)
        return 0;
    int r = read_file(settings, &settings->tls.client_ca, errors, &ca);
    if (r < 0)
        return r;
    int n = gnutls_certificate_set_x509_trust_mem(tls->credentials, &ca, GNUTLS_X509_FMT_PEM);
    forget(&ca);
    return n > 0 ? 0 : refuse(settings, &settings->tls.client_ca, errors, "there is no certificate in PEM in it");
}

// ---- versions, curves and cipher suites ----

static int set_priority(struct web_tls *tls, const struct web_tls_settings *settings) {
    static const char *const versions[] = {"1.0", "1.1", "1.2", "1.3"};
    static const char *const curves[] = {"SECP256R1", "SECP384R1", "SECP521R1", "X25519"};
    char text[PRIORITY_MAX] = "NORMAL:-VERS-ALL";
    size_t n = strlen(text);
    for (int v = (int)settings->max_version; v >= (int)settings->min_version; v--)
        n += (size_t)snprintf(text + n, sizeof text - n, ":+VERS-TLS%s", versions[v]);
    if (settings->n_curves > 0)
        n += (size_t)snprintf(text + n, sizeof text - n, ":-GROUP-ALL");
    for (size_t i = 0; i < settings->n_curves; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, ":+GROUP-%s", curves[settings->curves[i]]);
    if (settings->server_order)
        (void)snprintf(text + n, sizeof text - n, ":%%SERVER_PRECEDENCE");
    web_suites_append(settings, text);
    int r = gnutls_priority_init(&tls->priority, text, NULL);
    return r == GNUTLS_E_MEMORY_ERROR ? -ENOMEM : r < 0 ? -EINVAL : 0;
}

// Says what the library would offer, or cannot.
static int prepare(struct web_tls *tls, const struct web_settings *settings, struct errors *errors) {
    if (set_priority(tls, &settings->tls) < 0)
        return errors_add(errors, settings->file, 0, 0,
                          "tls_server_config: this host's GnuTLS has none of these versions, curves or cipher suites: "
                          "leave min_version, max_version, curve_preferences and cipher_suites out");
    const char *unnamed = web_suites_unnamed(&settings->tls, tls->priority);
    if (unnamed)
        return errors_add(errors, settings->file, 0, 0,
                          "cipher_suites: GnuTLS takes ciphers and key exchanges one by one, and would also offer %s: "
                          "name it too, or leave out what shares a part with it",
                          unnamed);
    return 0;
}

int web_tls_new(const struct web_settings *settings, struct errors *errors, struct web_tls **out) {
    struct web_tls *tls = calloc(1, sizeof *tls);
    if (!tls)
        return -ENOMEM;
    tls->client_auth = settings->tls.client_auth;
    int r = gnutls_certificate_allocate_credentials(&tls->credentials) < 0 ? -ENOMEM : 0;
    if (r == 0)
        r = load_pair(tls, settings, errors);
    if (r == 0)
        tls->expiry_seconds = find_expiry(tls);
    if (r == 0)
        r = load_ca(tls, settings, errors);
    if (r == 0)
        r = prepare(tls, settings, errors);
    if (r < 0)
        web_tls_free(tls);
    else
        *out = tls;
    return r;
}

double web_tls_expiry_seconds(const struct web_tls *tls) { return tls->expiry_seconds; }

struct web_tls *web_tls_free(struct web_tls *tls) {
    if (!tls)
        return NULL;
    if (tls->priority)
        gnutls_priority_deinit(tls->priority);
    if (tls->credentials)
        gnutls_certificate_free_credentials(tls->credentials);
    free(tls);
    return NULL;
}

// ---- a session ----

// Whether the library takes the certificate that the client has sent. Where it sent none, the request itself says
// whether that is fine.
static int verify_client(gnutls_session_t session) {
    unsigned n = 0, status = 0;
    gnutls_typed_vdata_st purpose = {.type = GNUTLS_DT_KEY_PURPOSE_OID,
                                     .data = (unsigned char *)(uintptr_t)GNUTLS_KP_TLS_WWW_CLIENT};
    if (!gnutls_certificate_get_peers(session, &n) || n == 0)
        return 0;
    int r = gnutls_certificate_verify_peers(session, &purpose, 1, &status);
    return r < 0 || status != 0 ? GNUTLS_E_CERTIFICATE_ERROR : 0;
}

int web_tls_begin(const struct web_tls *tls, void *session) {
    gnutls_session_t own = session;
    if (gnutls_priority_set(own, tls->priority) < 0 ||
        gnutls_credentials_set(own, GNUTLS_CRD_CERTIFICATE, tls->credentials) < 0)
        return -EIO;
    bool required = tls->client_auth == WEB_CLIENT_REQUIRE || tls->client_auth == WEB_CLIENT_REQUIRE_AND_VERIFY;
    if (tls->client_auth != WEB_CLIENT_NONE)
        gnutls_certificate_server_set_request(own, required ? GNUTLS_CERT_REQUIRE : GNUTLS_CERT_REQUEST);
    if (tls->client_auth >= WEB_CLIENT_VERIFY_IF_GIVEN)
        gnutls_session_set_verify_function(own, verify_client);
    return 0;
}

// Of all that the library tells of a session, its description is what exists only after the handshake.
bool web_tls_established(const void *session) {
    char *description = gnutls_session_get_desc((gnutls_session_t)(uintptr_t)session);
    gnutls_free(description);
    return description != NULL;
}

static int no_certificate(gnutls_session_t session, const gnutls_datum_t *names, int n_names,
                          const gnutls_pk_algorithm_t *algorithms, int n_algorithms, gnutls_pcert_st **certificates,
                          unsigned *n_certificates, gnutls_privkey_t *key) {
    (void)session, (void)names, (void)n_names, (void)algorithms, (void)n_algorithms;
    (void)certificates, (void)n_certificates, (void)key;
    return -1;
}

void *web_tls_no_certificate(void) {
    gnutls_certificate_retrieve_function2 *function = no_certificate;
    void *pointer;
    memcpy(&pointer, &function, sizeof pointer); // ISO C has no cast from functions to data
    return pointer;
}
