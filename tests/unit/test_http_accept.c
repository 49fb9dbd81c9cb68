// SPDX-License-Identifier: Apache-2.0
//
// Which format and coding a client gets for what it says of both: the headers of real clients, and the rules of RFC
// 9110, 12.4 and 12.5.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "exporters/http/http_accept.h"

struct media_case {
    const char *who, *header;
    bool openmetrics;
};

#define PROMETHEUS_2_42                                                                                                \
    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/"               \
    "plain;version=0.0.4;q=0.5,*/*;q=0.1"
#define PROMETHEUS_3_0                                                                                                 \
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,application/openmetrics-text;version=0."    \
    "0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1"
#define PROMETHEUS_3_PROTOBUF                                                                                          \
    "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6,application/"    \
    "openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,text/plain;version=0.0.4;q=0.4,*/*;q=0.3"
#define PROMETHEUS_3_TEXT_FIRST                                                                                        \
    "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;version=0.0.4;q=0.5,application/openmetrics-text;" \
    "version=1.0.0;escaping=allow-utf-8;q=0.4,*/*;q=0.3"

static const struct media_case MEDIA[] = {
    {"nobody says anything", NULL, false},
    {"an empty header", "", false},
    {"curl", "*/*", false},
    {"Firefox", "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8", false},
    {"Prometheus 2.42", PROMETHEUS_2_42, true},
    {"Prometheus 3.0", PROMETHEUS_3_0, true},
    {"Prometheus 3 that prefers protobuf, which we do not have", PROMETHEUS_3_PROTOBUF, true},
    {"Prometheus 3 that prefers text", PROMETHEUS_3_TEXT_FIRST, false},
    {"a range that is none", "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.2,/;q=0.1", true},
    {"text alone", "text/plain", false},
    {"text of the version", "text/plain; version=0.0.4", false},
    {"OpenMetrics alone", "application/openmetrics-text", true},
    {"OpenMetrics of the version", "application/openmetrics-text; version=1.0.0; charset=utf-8", true},
    {"a quoted version", "application/openmetrics-text; version=\"1.0.0\"", true},
    {"another version", "application/openmetrics-text; version=0.0.1", false},
    {"a later version", "application/openmetrics-text; version=2.0.0, text/plain;q=0.1", false},
    {"the more exact mention counts", "application/openmetrics-text;q=0.2, text/*;q=0.1, text/plain;q=0.9", false},
    {"the more exact mention counts, not the larger", "text/*;q=1, text/plain;q=0.1, application/*;q=0.5", true},
    {"a version is more exact than none",
     "application/openmetrics-text;version=1.0.0;q=0.1,"
     "application/openmetrics-text;q=0.9,text/plain;q=0.5",
     false},
    {"as much, but named", "application/openmetrics-text, */*", true},
    {"as much, and both named", "application/openmetrics-text, text/plain", false},
    {"refused", "application/openmetrics-text;q=0, */*", false},
    {"refused by three zeros", "application/openmetrics-text;q=0.000", false},
    {"text refused", "text/plain;q=0, */*;q=0.1", true},
    {"everything refused", "*/*;q=0", false},
    {"something else", "application/json", false},
    {"capitals and spaces", " Application/OpenMetrics-Text ; Version=1.0.0 ;\tQ=0.7 , TEXT/plain ; q=0.6", true},
    {"three digits", "application/openmetrics-text;q=0.501,text/plain;q=0.5", true},
    {"weights that are none are skipped", "application/openmetrics-text;q=2,text/plain;q=0.1", false},
    {"weights that are none are skipped", "application/openmetrics-text;q=.9,text/plain;q=0.1", false},
    {"weights that are none are skipped", "application/openmetrics-text;q=0.9999,text/plain;q=0.1", false},
    {"weights that are none are skipped", "application/openmetrics-text;q=-1,text/plain;q=0.1", false},
    {"weights that are none are skipped", "application/openmetrics-text;q=,text/plain;q=0.1", false},
    {"a parameter with a comma in quotes", "text/plain;x=\"a,application/openmetrics-text\\\",\";q=0.5,*/*;q=0.1",
     false},
    {"a quote that does not end", "text/plain;x=\"a,application/openmetrics-text", false},
    {"commas alone", ",,;,;;,", false},
    {"half a name", "application/openmetrics", false},
    {"too long a name", "application/openmetrics-text-2", false},
};

static void test_the_format_is_the_one_that_the_client_prefers(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof(MEDIA) / sizeof(MEDIA[0]); i++) {
        struct http_accept accept = http_accept_new();
        if (MEDIA[i].header)
            http_accept_add_types(&accept, MEDIA[i].header);
        if (http_accept_openmetrics(&accept) != MEDIA[i].openmetrics)
            fail_msg("%s: %s", MEDIA[i].who, MEDIA[i].header);
    }
}

static void test_a_header_may_be_sent_in_several_parts(void **state) {
    (void)state;
    struct http_accept accept = http_accept_new();
    http_accept_add_types(&accept, "text/plain;q=0.5");
    assert_false(http_accept_openmetrics(&accept));
    http_accept_add_types(&accept, "application/openmetrics-text;q=0.6");
    assert_true(http_accept_openmetrics(&accept));
    http_accept_add_types(&accept, "text/plain;q=0.7");
    assert_false(http_accept_openmetrics(&accept));
}

struct coding_case {
    const char *who, *header;
    enum http_coding coding;
};

static const struct coding_case CODINGS[] = {
    {"nobody says anything", NULL, HTTP_IDENTITY},
    {"nothing but identity", "", HTTP_IDENTITY},
    {"Prometheus", "gzip", HTTP_GZIP},
    {"curl --compressed", "deflate, gzip, br, zstd", HTTP_GZIP},
    {"wget", "identity", HTTP_IDENTITY},
    {"its old name", "x-gzip", HTTP_GZIP},
    {"others", "br, zstd", HTTP_IDENTITY},
    {"any", "*", HTTP_GZIP},
    {"as much", "identity, gzip", HTTP_GZIP},
    {"less", "gzip;q=0.5, identity", HTTP_IDENTITY},
    {"more", "gzip;q=0.5, identity;q=0.4", HTTP_GZIP},
    {"what is not mentioned is wanted less", "gzip;q=0.1", HTTP_GZIP},
    {"gzip refused", "gzip;q=0", HTTP_IDENTITY},
    {"gzip refused, others wanted", "gzip;q=0, *", HTTP_IDENTITY},
    {"identity refused", "identity;q=0", HTTP_CODING_NONE},
    {"identity refused, gzip wanted", "identity;q=0, gzip;q=0.1", HTTP_GZIP},
    {"all refused", "*;q=0", HTTP_CODING_NONE},
    {"all but gzip refused", "gzip, *;q=0", HTTP_GZIP},
    {"all but identity refused", "identity;q=0.1, *;q=0", HTTP_IDENTITY},
    {"capitals", "GZip;Q=1.000", HTTP_GZIP},
};

static void test_the_coding_is_the_one_that_the_client_prefers(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof(CODINGS) / sizeof(CODINGS[0]); i++) {
        struct http_accept accept = http_accept_new();
        if (CODINGS[i].header)
            http_accept_add_codings(&accept, CODINGS[i].header);
        if (http_accept_coding(&accept) != CODINGS[i].coding)
            fail_msg("%s: %s", CODINGS[i].who, CODINGS[i].header);
    }
}

// Random bytes of a header's own alphabet, cut anywhere: reading them ends, within them (with sanitizers).
static void test_any_bytes_are_read(void **state) {
    (void)state;
    static const char *const words[] = {
        "text/plain", "application/openmetrics-text", "*/*", ";", ",", "q=", "0.5", "\"", "\\", "version=", " ", "=",
        "1"};
    unsigned seed = 17;
    for (int i = 0; i < 20000; i++) {
        char header[96] = "";
        for (int n = rand_r(&seed) % 9; n > 0; n--)
            strncat(header, words[(size_t)rand_r(&seed) % (sizeof(words) / sizeof(words[0]))],
                    sizeof(header) - strlen(header) - 1);
        struct http_accept accept = http_accept_new();
        http_accept_add_types(&accept, header);
        http_accept_add_codings(&accept, header);
        (void)http_accept_openmetrics(&accept);
        assert_in_range(http_accept_coding(&accept), HTTP_IDENTITY, HTTP_CODING_NONE);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_format_is_the_one_that_the_client_prefers),
        cmocka_unit_test(test_a_header_may_be_sent_in_several_parts),
        cmocka_unit_test(test_the_coding_is_the_one_that_the_client_prefers),
        cmocka_unit_test(test_any_bytes_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
