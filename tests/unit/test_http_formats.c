// SPDX-License-Identifier: Apache-2.0
//
// One page in several formats and codings: what a client that asks for one gets on the wire.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <zlib.h>

#include "exporters/http/http_render.h"
#include "exporters/text/gzip.h"
#include "http_check.h"

#define OPENMETRICS_TYPE "Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n"
#define TEXT_TYPE "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"

// Sends a request with these headers and returns the whole answer.
static char *ask_with(const struct fixture *f, const char *method, const char *target, const char *headers) {
    char request[512];
    (void)snprintf(request, sizeof(request), "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s\r\n", method,
                   target, headers);
    int fd = connect_to(f);
    send_text(fd, request);
    char *answer = read_all(fd);
    close(fd);
    return answer;
}

static void assert_line(const char *answer, const char *line) {
    const char *body = body_of(answer), *found = strstr(body, line);
    if (!found || (found != body && found[-1] != '\n'))
        fail_msg("no line %s", line);
}

static void test_both_pages_are_sent_as_openmetrics_to_who_prefers_it(void **state) {
    const struct fixture *f = *state;
    static const char *const targets[] = {"/metrics", "/metrics/cpu"};
    for (size_t i = 0; i < 2; i++) {
        char *answer =
            ask_with(f, "GET", targets[i], "Accept: text/plain;q=0.5\r\nAccept: application/openmetrics-text\r\n");
        assert_int_equal(status_of(answer), 200);
        assert_header(answer, OPENMETRICS_TYPE);
        assert_header(answer, "Vary: Accept");
        assert_int_equal(length_of(answer), strlen(body_of(answer)));
        assert_string_equal(body_of(answer) + strlen(body_of(answer)) - 6, "# EOF\n");
        free(answer);
        answer = ask_with(f, "GET", targets[i], "Accept: */*\r\n");
        assert_header(answer, TEXT_TYPE);
        assert_header(answer, "Vary: Accept");
        assert_null(strstr(body_of(answer), "# EOF"));
        free(answer);
    }
}

static void test_families_have_the_names_types_and_units_of_openmetrics(void **state) {
    char *answer = ask_with(*state, "GET", "/metrics", "Accept: application/openmetrics-text\r\n");
    assert_line(answer, "# TYPE topdownd_pipeline_slots counter\n");
    assert_line(answer, "topdownd_pipeline_slots_total{socket=\"0\",category=\"retiring\"} 2000000000002\n");
    assert_line(answer, "# TYPE topdownd_covered_cpu_seconds counter\n# UNIT topdownd_covered_cpu_seconds seconds\n");
    assert_line(answer, "# TYPE topdownd_budget_used_ratio gauge\n# UNIT topdownd_budget_used_ratio ratio\n");
    assert_line(answer,
                "# TYPE topdownd_pmu_kernel_memory_bytes gauge\n# UNIT topdownd_pmu_kernel_memory_bytes bytes\n");
    assert_line(answer,
                "# TYPE topdownd_rotation_duration_seconds histogram\n# UNIT topdownd_rotation_duration_seconds "
                "seconds\n");
    assert_line(answer, "# TYPE topdownd_build info\ntopdownd_build_info{");
    assert_line(answer, "# TYPE topdownd_pmu_up gauge\ntopdownd_pmu_up{");
    assert_null(strstr(body_of(answer), "_created"));
    free(answer);
    answer = ask_with(*state, "GET", "/metrics", "");
    assert_line(answer, "# TYPE topdownd_pipeline_slots_total counter\n");
    assert_line(answer, "# TYPE topdownd_build_info gauge\ntopdownd_build_info{");
    assert_null(strstr(body_of(answer), "# UNIT"));
    free(answer);
}

// The lines with samples, in one text.
static char *samples_of(const char *answer) {
    char *out = calloc(1, strlen(answer) + 1), *end = out;
    assert_non_null(out);
    for (const char *line = body_of(answer); *line; line = strchr(line, '\n') + 1)
        if (*line != '#')
            end = stpncpy(end, line, (size_t)(strchr(line, '\n') + 1 - line));
    return out;
}

static void test_the_samples_are_the_same_in_both_formats(void **state) {
    static const char *const targets[] = {"/metrics", "/metrics/cpu"};
    for (size_t i = 0; i < 2; i++) {
        char *text = ask_with(*state, "GET", targets[i], "");
        char *openmetrics = ask_with(*state, "GET", targets[i], "Accept: application/openmetrics-text\r\n");
        char *of_text = samples_of(text), *of_openmetrics = samples_of(openmetrics);
        assert_true(strlen(of_text) > 1000);
        assert_string_equal(of_text, of_openmetrics);
        free(of_text);
        free(of_openmetrics);
        free(text);
        free(openmetrics);
    }
}

static void test_head_has_the_length_of_the_format_that_get_sends(void **state) {
    static const char *const headers[] = {"", "Accept: application/openmetrics-text\r\n"};
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        char *get = ask_with(*state, "GET", "/metrics", headers[i]);
        char *head = ask_with(*state, "HEAD", "/metrics", headers[i]);
        assert_int_equal(status_of(head), 200);
        assert_int_equal(length_of(head), length_of(get));
        assert_string_equal(body_of(head), "");
        assert_header(head, i == 0 ? TEXT_TYPE : OPENMETRICS_TYPE);
        free(get);
        free(head);
    }
}

static void test_each_format_is_rendered_once(void **state) {
    const struct fixture *f = *state;
    for (int i = 0; i < 20; i++)
        free(ask_with(f, "GET", "/metrics", i % 2 ? "" : "Accept: application/openmetrics-text\r\n"));
    assert_int_equal(http_server_renders(f->server), 2);
}

// ---- gzip ----

// Decompresses exactly these bytes; terminated, owned by the caller.
static char *inflated(const char *bytes, size_t length) {
    enum { SIZE = 4 << 20 };
    char *out = calloc(1, SIZE);
    assert_non_null(out);
    z_stream stream = {.next_in = (unsigned char *)(uintptr_t)bytes,
                       .avail_in = (unsigned)length,
                       .next_out = (unsigned char *)out,
                       .avail_out = SIZE - 1};
    assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(stream.avail_in, 0);
    assert_int_equal(inflateEnd(&stream), Z_OK);
    return out;
}

static const char *const TARGETS[] = {"/plain",
                                      "/metrics",
                                      "/metrics/cpu",
                                      "/api/v1/snapshot",
                                      "/api/v1/snapshot?scope=socket",
                                      "/api/v1/snapshot?scope=cpu",
                                      "/api/v1/topdown",
                                      "/api/v1/plan",
                                      "/api/v1/catalog",
                                      "/api/v1/status"};
enum { TARGETS_N = sizeof(TARGETS) / sizeof(TARGETS[0]) };

static void assert_same_as_gzip(const struct fixture *f, const char *target, const char *accept) {
    char headers[256];
    (void)snprintf(headers, sizeof(headers), "%sAccept-Encoding: br, gzip\r\n", accept);
    char *identity = ask_with(f, "GET", target, accept), *gzip = ask_with(f, "GET", target, headers);
    char *head = ask_with(f, "HEAD", target, headers), *text = inflated(body_of(gzip), length_of(gzip));
    assert_int_equal(status_of(gzip), 200);
    assert_header(gzip, "Content-Encoding: gzip\r\n");
    assert_header(head, "Content-Encoding: gzip\r\n");
    assert_header(identity, "Accept-Encoding\r\n"); // of Vary
    assert_header(gzip, "Accept-Encoding\r\n");
    assert_null(strcasestr(identity, "\r\nContent-Encoding:"));
    assert_string_equal(text, body_of(identity));
    assert_true(length_of(gzip) < length_of(identity) / 2);
    assert_int_equal(length_of(head), length_of(gzip));
    assert_string_equal(body_of(head), "");
    free(identity);
    free(gzip);
    free(head);
    free(text);
}

static void test_every_page_is_the_same_compressed(void **state) {
    const struct fixture *f = *state;
    for (size_t i = 0; i < TARGETS_N; i++)
        assert_same_as_gzip(f, TARGETS[i], "");
    assert_int_equal(http_server_renders(f->server), TARGETS_N); // both are made from one rendering
    assert_same_as_gzip(f, "/metrics", "Accept: application/openmetrics-text\r\n");
    assert_same_as_gzip(f, "/metrics/cpu", "Accept: application/openmetrics-text\r\n");
    assert_same_as_gzip(f, "/api/v1/history", "");
}

static void test_a_page_is_compressed_once_for_each_publication(void **state) {
    const struct fixture *f = *state;
    struct http_renderer renderer = {.renders = 0};
    struct http_newest newest;
    http_newest_init(&newest);
    newest.n_types = 1;
    for (uint64_t i = 0; i < 3; i++) {
        http_newest_publish(&newest, 0, &(struct http_published){f->view, f->snapshot}, i);
        struct http_publication publication = http_newest_take(&newest, i);
        struct MHD_Response *gzip, *other;
        assert_int_equal(http_render(&renderer, HTTP_PAGE_METRICS, HTTP_GZIP, &publication, i, &gzip), 0);
        for (int again = 0; again < 5; again++) {
            assert_int_equal(http_render(&renderer, HTTP_PAGE_METRICS, HTTP_GZIP, &publication, i, &other), 0);
            assert_ptr_equal(other, gzip);
            assert_int_equal(http_render(&renderer, HTTP_PAGE_METRICS, HTTP_IDENTITY, &publication, i, &other), 0);
            assert_ptr_not_equal(other, gzip);
        }
        assert_int_equal(atomic_load(&renderer.renders), i + 1);
        http_publication_unref(&publication);
    }
    http_cache_deinit(&renderer.cache);
    http_newest_deinit(&newest);
}

static void test_a_history_is_rendered_once_for_each_question_and_publication(void **state) {
    const struct fixture *f = *state;
    char *first = ask(f, "GET", "/api/v1/history"), *again = ask(f, "GET", "/api/v1/history");
    assert_int_equal(status_of(first), 200);
    assert_string_equal(body_of(first), body_of(again));
    assert_int_equal(http_server_renders(f->server), 1);
    free(again);
    free(ask_with(f, "GET", "/api/v1/history", "Accept-Encoding: gzip\r\n"));
    assert_int_equal(http_server_renders(f->server), 2);
    free(ask(f, "GET", "/api/v1/history?scope=socket"));
    free(ask(f, "GET", "/api/v1/history?from=-60"));
    assert_int_equal(http_server_renders(f->server), 4);
    again = ask(f, "GET", "/api/v1/history");
    assert_string_equal(body_of(first), body_of(again));
    assert_int_equal(http_server_renders(f->server), 4);
    free(again);
    assert_page(f, "/api/v1/history?scope=none", 400, "Content-Type: application/json\r\n", "no history of scope none");
    http_server_publish(f->server, 0, &(struct http_published){f->view, f->snapshot});
    free(ask(f, "GET", "/api/v1/history"));
    assert_int_equal(http_server_renders(f->server), 5);
    free(first);
}

static void test_who_refuses_every_coding_is_told_the_remedy(void **state) {
    const struct fixture *f = *state;
    char *answer = ask_with(f, "GET", "/metrics", "Accept-Encoding: identity;q=0\r\n");
    assert_int_equal(status_of(answer), 406);
    assert_non_null(strstr(body_of(answer), "allow gzip or identity"));
    free(answer);
    answer = ask_with(f, "GET", "/metrics", "Accept-Encoding: identity;q=0\r\nAccept-Encoding: gzip;q=0.1\r\n");
    assert_int_equal(status_of(answer), 200);
    assert_header(answer, "Content-Encoding: gzip\r\n");
    free(answer);
}

static void test_texts_of_every_size_are_compressed_without_loss(void **state) {
    (void)state;
    unsigned seed = 29;
    for (size_t length = 0; length < 3 << 20; length = 3 * length + 1) {
        struct text text = {0}, out = {0};
        for (size_t i = 0; i < length; i++) // nearly no pattern, so the result is nearly as long
            text_append(&text, &(char){(char)('!' + rand_r(&seed) % 90)}, 1);
        text_append(&text, "", 1);
        text.length--;
        assert_int_equal(gzip_text(&text, &out), 0);
        char *back = inflated(out.data, out.length);
        assert_string_equal(back, text.data);
        free(back);
        text_free(&text);
        text_free(&out);
    }
}

// zlib-ng, which many hosts have in zlib's place, takes 334 KB instead of 268 KB.
static const unsigned ZLIB_NG_MORE_BYTES = 66 << 10;
static bool is_zlib_ng;

typedef int initializer(z_streamp, int, int, int, int, int, const char *, int);
initializer deflateInit2_; // in place of the library's

int deflateInit2_(z_streamp stream, int level, int method, int window, int memory, int strategy, const char *version,
                  int size) {
    initializer *library;
    void *symbol = dlsym(RTLD_NEXT, "deflateInit2_");
    assert_non_null(symbol);
    memcpy(&library, &symbol, sizeof(symbol));
    if (is_zlib_ng && !stream->zalloc(stream->opaque, 1, ZLIB_NG_MORE_BYTES))
        return Z_MEM_ERROR;
    return library(stream, level, method, window, memory, strategy, version, size);
}

static void test_a_zlib_that_takes_more_memory_compresses_too(void **state) {
    is_zlib_ng = true;
    assert_same_as_gzip(*state, "/metrics", "");
    is_zlib_ng = false;
}

static void test_other_pages_have_one_format(void **state) {
    char *answer = ask_with(*state, "GET", "/api/v1/snapshot", "Accept: application/openmetrics-text\r\n");
    assert_header(answer, "Content-Type: application/json\r\n");
    free(answer);
}

int main(void) {
#define WITH(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
    const struct CMUnitTest tests[] = {
        WITH(test_both_pages_are_sent_as_openmetrics_to_who_prefers_it),
        WITH(test_families_have_the_names_types_and_units_of_openmetrics),
        WITH(test_the_samples_are_the_same_in_both_formats),
        WITH(test_head_has_the_length_of_the_format_that_get_sends),
        WITH(test_each_format_is_rendered_once),
        WITH(test_other_pages_have_one_format),
        WITH(test_every_page_is_the_same_compressed),
        WITH(test_a_page_is_compressed_once_for_each_publication),
        WITH(test_a_history_is_rendered_once_for_each_question_and_publication),
        WITH(test_who_refuses_every_coding_is_told_the_remedy),
        WITH(test_a_zlib_that_takes_more_memory_compresses_too),
        cmocka_unit_test(test_texts_of_every_size_are_compressed_without_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
