// SPDX-License-Identifier: Apache-2.0
//
// The files of the page for people: that they are served as they are, compressed or not, that a client that has them
// gets nothing, and what must not be in them.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <zlib.h>

#include "exporters/page/page_files.h"
#include "http_check.h"

enum { PAGE_BYTES_MAX = 150 << 10 }; // of all files together, compressed

static char *ask_for(const struct fixture *f, const char *name, const char *headers) {
    char request[512];
    bool index = strcmp(name, PAGE_INDEX) == 0;
    (void)snprintf(request, sizeof request, "GET /%s%s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s\r\n",
                   index ? "" : "ui/", index ? "" : name, headers);
    int fd = connect_to(f);
    send_text(fd, request);
    char *answer = read_all(fd);
    close(fd);
    return answer;
}

static void test_each_file_is_served_as_it_is(void **state) {
    assert_true(page_files_n > 5);
    for (size_t i = 0; i < page_files_n; i++) {
        const struct page_file *file = &page_files[i];
        char *answer = ask_for(*state, file->name, "");
        assert_int_equal(status_of(answer), 200);
        assert_int_equal(length_of(answer), file->length);
        assert_memory_equal(body_of(answer), file->bytes, file->length);
        assert_header(answer, file->content_type);
        assert_header(answer, "Cache-Control: no-cache\r\n");
        assert_header(answer, "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; ");
        assert_null(strcasestr(answer, "Content-Encoding"));
        free(answer);
    }
}

static void test_what_is_compressed_is_the_same(void **state) {
    for (size_t i = 0; i < page_files_n; i++) {
        const struct page_file *file = &page_files[i];
        unsigned char *plain = malloc(file->length + 1);
        z_stream stream = {.next_in = (unsigned char *)(uintptr_t)file->gzip,
                           .avail_in = (unsigned)file->gzip_length,
                           .next_out = plain,
                           .avail_out = (unsigned)file->length + 1};
        assert_non_null(plain);
        assert_int_equal(inflateInit2(&stream, 16 + MAX_WBITS), Z_OK);
        assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
        assert_int_equal(stream.total_out, file->length);
        assert_memory_equal(plain, file->bytes, file->length);
        (void)inflateEnd(&stream);
        free(plain);
        char *answer = ask_for(*state, file->name, "Accept-Encoding: gzip\r\n");
        assert_header(answer, "Content-Encoding: gzip\r\n");
        assert_header(answer, "Vary: Accept-Encoding\r\n");
        assert_int_equal(length_of(answer), file->gzip_length);
        free(answer);
    }
}

static void test_a_client_that_has_the_file_gets_none(void **state) {
    const struct page_file *file = page_files_find("main.js");
    char header[128];
    assert_non_null(file);
    (void)snprintf(header, sizeof header, "If-None-Match: \"other\", W/%s\r\n", file->tag);
    char *answer = ask_for(*state, file->name, header);
    assert_int_equal(status_of(answer), 304);
    (void)snprintf(header, sizeof header, "ETag: W/%s\r\n", file->tag); // weak: compressed bytes have the same
    assert_header(answer, header);
    assert_string_equal(body_of(answer), "");
    free(answer);
    answer = ask_for(*state, file->name, "If-None-Match: \"other\"\r\n");
    assert_int_equal(status_of(answer), 200);
    free(answer);
    answer = ask_for(*state, "nothing.js", "");
    assert_int_equal(status_of(answer), 404);
    free(answer);
}

// What comes from hosts is text, never markup or code: our own scripts cannot make elements of a string. Of the
// library for charts, chart.js says what it is given.
static void test_no_script_makes_markup_of_text(void **state) {
    static const char *const ways[] = {
        "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "DOMParser",   "createContextualFragment",
        "setHTML",   "eval(",     "new Function",       "srcdoc",         "javascript:", "http://",
        "https://"};
    (void)state;
    for (size_t i = 0; i < page_files_n; i++) {
        const struct page_file *file = &page_files[i];
        if (strncmp(file->name, "dygraph", 7) == 0)
            continue;
        for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
            const char *found = memmem(file->bytes, file->length, ways[k], strlen(ways[k]));
            if (found && strncmp(found, "http://www.w3.org/2000/svg", 26) != 0)
                fail_msg("%s has %s", file->name, ways[k]);
        }
    }
}

static void test_all_files_together_are_small(void **state) {
    size_t sum = 0;
    (void)state;
    for (size_t i = 0; i < page_files_n; i++)
        sum += page_files[i].gzip_length;
    print_message("%zu bytes in %zu files\n", sum, page_files_n);
    assert_true(sum <= PAGE_BYTES_MAX);
}

// The document names files as they are called below /ui/, so that nothing is missing.
static void test_the_document_names_files_that_exist(void **state) {
    const struct page_file *index = page_files_find(PAGE_INDEX);
    size_t n = 0;
    (void)state;
    assert_non_null(index);
    char *text = strndup((const char *)index->bytes, index->length), name[64];
    for (const char *at = text; (at = strstr(at, "=\"ui/")); n++) {
        at += strlen("=\"ui/");
        assert_int_equal(sscanf(at, "%63[^\"]\"", name), 1);
        if (!page_files_find(name))
            fail_msg("there is no %s", name);
    }
    assert_true(n >= 3);
    assert_null(strstr(text, "style="));
    assert_null(strstr(text, "<style"));
    assert_null(strstr(text, "\"/")); // below a proxy's path, too
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_each_file_is_served_as_it_is, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_is_compressed_is_the_same, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_client_that_has_the_file_gets_none, setup, teardown),
        cmocka_unit_test(test_no_script_makes_markup_of_text),
        cmocka_unit_test(test_all_files_together_are_small),
        cmocka_unit_test(test_the_document_names_files_that_exist),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
