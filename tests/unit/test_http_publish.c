// SPDX-License-Identifier: Apache-2.0
//
// Snapshots, and plans with their views, are published while clients ask: each page is made once, from one view, and
// nothing that a client still reads is freed.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <time.h>

#include "http_check.h"

static void test_a_snapshot_is_rendered_once_however_often_it_is_asked_for(void **state) {
    const struct fixture *f = *state;
    assert_int_equal(http_server_renders(f->server), 0);
    for (int i = 0; i < 50; i++)
        free(ask(f, i % 2 ? "GET" : "HEAD", "/metrics"));
    assert_int_equal(http_server_renders(f->server), 1);
    free(ask(f, "GET", "/metrics/cpu"));
    assert_int_equal(http_server_renders(f->server), 2);
    free(ask(f, "GET", "/metrics"));
    assert_int_equal(http_server_renders(f->server), 2);
    struct snapshot *newer = host_snapshot(&f->host);
    newer->sequence = 4;
    newer->values[snapshot_metric(f->host.layout, snapshot_scope_socket(0), host_metric(&f->host, "ipc"))] = 0.5;
    http_server_publish(f->server, 0, &(struct http_published){f->view, newer});
    snapshot_unref(newer);
    assert_page(f, "/metrics", 200, "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n",
                "topdownd_ipc{socket=\"0\"} 0.5\n");
    assert_int_equal(http_server_renders(f->server), 3);
}

static void test_it_tells_whether_somebody_reads_the_intervals_of_cpus(void **state) {
    const struct fixture *f = *state;
    static const char *const others[] = {"/plain",
                                         "/metrics",
                                         "/metrics/cpu",
                                         "/api/v1/snapshot",
                                         "/api/v1/snapshot?scope=socket",
                                         "/api/v1/topdown?scope=core",
                                         "/api/v1/none?scope=cpu",
                                         "/api/v1/history"};
    static const char *const readers[] = {"/api/v1/snapshot?scope=cpu", "/api/v1/topdown?scope=cpu"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        free(ask(f, "GET", others[i]));
        assert_false(http_server_cpus_read(f->server));
    }
    for (size_t i = 0; i < 4; i++) { // a page that is kept, too
        free(ask(f, "GET", readers[i % 2]));
        assert_true(http_server_cpus_read(f->server));
        assert_false(http_server_cpus_read(f->server)); // once
    }
}

static void test_it_is_ready_when_a_round_has_been_measured(void **state) {
    const struct fixture *f = *state;
    struct snapshot *first = snapshot_new(f->host.layout);
    http_server_publish(f->server, 0, &(struct http_published){f->view, first});
    assert_page(f, "/-/ready", 503, "Content-Type: text/plain; charset=utf-8\r\n", "first round");
    assert_page(f, "/-/healthy", 200, "Content-Type: text/plain; charset=utf-8\r\n", "healthy");
    first = snapshot_unref(first);
    http_server_publish(f->server, 0, &(struct http_published){f->view, f->snapshot});
    assert_page(f, "/-/ready", 200, "Content-Type: text/plain; charset=utf-8\r\n", "ready");
}

static void test_it_is_not_ready_while_nothing_is_counted_and_says_why(void **state) {
    const struct fixture *f = *state;
    const char *text = "Content-Type: text/plain; charset=utf-8\r\n";
    struct snapshot *blind = host_snapshot(&f->host);
    blind->blind = true;
    for (size_t m = 0; m < f->host.layout->n_metrics; m++)
        blind->absent[snapshot_state(f->host.layout, 0, m)] = ABSENT_STARVED;
    http_server_publish(f->server, 0, &(struct http_published){f->view, blind});
    assert_page(f, "/-/ready", 503, text,
                "Nothing has been counted for 3 snapshot intervals: its event group never got the counters in this "
                "round: others hold");
    assert_page(f, "/-/healthy", 200, text, "healthy");
    snapshot_unref(blind);
    http_server_publish(f->server, 0, &(struct http_published){f->view, f->snapshot});
    assert_page(f, "/-/ready", 200, text, "ready");
}

static void assert_page_without(const struct fixture *f, const char *target, const char *part) {
    char *answer = ask(f, "GET", target);
    if (strstr(answer, part))
        fail_msg("%s has '%s'", target, part);
    free(answer);
}

// What is published is stale after three snapshot intervals and two seconds.
static uint64_t fresh_ms(const struct fixture *f) { return 3 * f->host.view.interval_ns / 1000000 + 2000; }

static void test_a_snapshot_that_no_newer_one_follows_loses_its_gauges(void **state) {
    struct fixture *f = *state;
    const char *prometheus = "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n",
               *text = "Content-Type: text/plain";
    atomic_store(&f->now_ms, fresh_ms(f));
    assert_page(f, "/metrics", 200, prometheus, "\ntopdownd_ipc{socket=\"0\"} ");
    assert_page(f, "/-/ready", 200, text, "ready");
    atomic_store(&f->now_ms, fresh_ms(f) + 1);
    assert_page(f, "/metrics", 200, prometheus, "\ntopdownd_pmu_up{pmu=\"toy_pmu_0\"} 0\n");
    assert_page(f, "/metrics", 200, prometheus,
                "\ntopdownd_metric_numerator_total{socket=\"0\",metric=\"ipc\"} 2000004\n");
    assert_page(f, "/metrics", 200, prometheus, "\ntopdownd_covered_cpu_seconds_total{socket=\"0\"} 200.125\n");
    assert_page_without(f, "/metrics", "topdownd_ipc");
    assert_page_without(f, "/metrics/cpu", "topdownd_cpu_ipc");
    assert_page(f, "/api/v1/snapshot", 200, "Content-Type: application/json",
                "\"ipc\":{\"value\":null,\"reason\":\"no snapshot has been made for a while");
    assert_page(f, "/api/v1/status", 200, "Content-Type: application/json", "\"up\":\t0,");
    assert_page(f, "/plain", 200, "Content-Type: text/html", "Nothing new:");
    assert_page(f, "/-/ready", 503, text, "No snapshot has been made");
    assert_page(f, "/-/healthy", 200, text, "healthy");
    http_server_publish(f->server, 0, &(struct http_published){f->view, f->snapshot});
    assert_page(f, "/metrics", 200, prometheus, "\ntopdownd_ipc{socket=\"0\"} ");
    assert_page(f, "/-/ready", 200, text, "ready");
}

static void test_a_stale_page_is_rendered_once_too(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < 10; i++) {
        free(ask(f, "GET", "/metrics"));
        assert_int_equal(http_server_renders(f->server), 1);
    }
    for (unsigned i = 1; i < 10; i++) {
        atomic_store(&f->now_ms, fresh_ms(f) + i);
        free(ask(f, "GET", "/metrics"));
        assert_int_equal(http_server_renders(f->server), 2);
    }
    http_server_publish(f->server, 0, &(struct http_published){f->view, f->snapshot});
    free(ask(f, "GET", "/metrics"));
    assert_int_equal(http_server_renders(f->server), 3);
}

static void test_without_a_first_round_that_stays_the_reason(void **state) {
    struct fixture *f = *state;
    struct snapshot *first = snapshot_new(f->host.layout);
    http_server_publish(f->server, 0, &(struct http_published){f->view, first});
    snapshot_unref(first);
    atomic_store(&f->now_ms, fresh_ms(f) + 1);
    assert_page(f, "/-/ready", 503, "Content-Type: text/plain", "first round");
    assert_page(f, "/api/v1/snapshot", 200, "Content-Type: application/json",
                "\"ipc\":{\"value\":null,\"reason\":\"nothing has been measured yet");
}

// Asks for every page in turn, and looks whether each is whole, and of one view.
struct scraper {
    pthread_t thread;
    uint16_t port;
    const char *error;
};

// Views of 4 and of 2 general counters, and what on each page is of the one alone and of the other alone: how many
// counters are usable, and whether level 1 is measured, which takes 4.
static const struct {
    const char *target;
    const char *wide[2], *narrow[2];
} MARKS[] = {
    {"/metrics",
     {"state=\"usable\"} 5\n", "topdownd_retiring_ratio{"},
     {"state=\"usable\"} 3\n", "topdownd_event_group_enabled_seconds_total{event_group=\"others_3\"}"}},
    {"/api/v1/snapshot?scope=cpu",
     {"\"level1\":{\"pipeline_slots_total\":16000000000007,", "\"retiring_ratio\":{\"value\":4.02,"},
     {"\"level1\":{\"pipeline_slots_total\":null,", "\"retiring_ratio\":{\"value\":null,\"reason\":\"the level-1"}},
    {"/api/v1/plan", {"\"counters_usable\":\t5,", "\"topdown_l1\""}, {"\"counters_usable\":\t3,", "\"others_3\""}},
    {"/api/v1/status",
     {"\"counters_usable\":\t5,", "\"counters_usable\":\t5,"},
     {"\"counters_usable\":\t3,", "\"counters_usable\":\t3,"}},
};

static const char *check_page(const char *answer, size_t page) {
    const char *body = strstr(answer, "\r\n\r\n");
    if (!body || status_of(answer) != 200 || length_of(answer) != strlen(body + 4))
        return "an incomplete answer";
    int wide = 0, narrow = 0;
    for (size_t i = 0; i < 2; i++) {
        wide += strstr(body, MARKS[page].wide[i]) != NULL;
        narrow += strstr(body, MARKS[page].narrow[i]) != NULL;
    }
    if ((wide == 2 && narrow == 0) || (wide == 0 && narrow == 2))
        return NULL;
    (void)fprintf(stderr, "%s: %d marks of the one view, %d of the other\n", MARKS[page].target, wide, narrow);
    return "a page that is not of one view";
}

static void *scrape(void *context) {
    struct scraper *scraper = context;
    for (size_t i = 0; i < 40 && !scraper->error; i++) {
        size_t page = i % (sizeof(MARKS) / sizeof(MARKS[0]));
        char request[256];
        (void)snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
                       MARKS[page].target);
        int fd = dial(scraper->port);
        if (fd < 0 || send(fd, request, strlen(request), MSG_NOSIGNAL) < 0) {
            scraper->error = "cannot ask";
            return NULL;
        }
        char *answer = read_all(fd);
        scraper->error = check_page(answer, page);
        free(answer);
        close(fd);
    }
    return NULL;
}

static void start_scrapers(const struct fixture *f, struct scraper scrapers[4]) {
    for (int i = 0; i < 4; i++) {
        scrapers[i] = (struct scraper){.port = http_server_port(f->server, 0)};
        assert_int_equal(pthread_create(&scrapers[i].thread, NULL, scrape, &scrapers[i]), 0);
    }
}

static void end_scrapers(struct scraper scrapers[4]) {
    for (int i = 0; i < 4; i++)
        pthread_join(scrapers[i].thread, NULL);
    for (int i = 0; i < 4; i++)
        if (scrapers[i].error)
            fail_msg("%s", scrapers[i].error);
}

static void pause_half_a_millisecond(void) {
    const struct timespec pause = {.tv_nsec = 500000};
    nanosleep(&pause, NULL);
}

static void test_snapshots_are_published_while_several_scrape(void **state) {
    const struct fixture *f = *state;
    struct scraper scrapers[4];
    start_scrapers(f, scrapers);
    for (unsigned i = 0; i < 300; i++) {
        struct snapshot *snapshot = host_snapshot(&f->host);
        snapshot->sequence = 10 + i;
        http_server_publish(f->server, 0, &(struct http_published){f->view, snapshot});
        snapshot_unref(snapshot);
        pause_half_a_millisecond();
    }
    end_scrapers(scrapers);
}

// Publishes a snapshot of another plan, of which nobody but the server keeps anything.
static void publish_another_plan(const struct fixture *f, unsigned counters, uint64_t sequence) {
    struct exporter_host host;
    host_init_with(&host, f->host.catalog, counters);
    struct view *view = view_new(&host.view);
    struct snapshot *snapshot = host_snapshot(&host);
    assert_non_null(view);
    snapshot->sequence = sequence;
    http_server_publish(f->server, 0, &(struct http_published){view, snapshot});
    snapshot_unref(snapshot);
    view_unref(view);
    snapshot_layout_unref(host.layout);
}

static void test_plans_change_while_several_scrape(void **state) {
    const struct fixture *f = *state;
    struct scraper scrapers[4];
    start_scrapers(f, scrapers);
    for (unsigned i = 0; i < 300; i++) {
        publish_another_plan(f, i % 3 == 0 ? 2 : 4, 10 + i); // sometimes another one of the same kind
        pause_half_a_millisecond();
    }
    end_scrapers(scrapers);
}

static void test_pages_are_made_anew_for_another_plan(void **state) {
    const struct fixture *f = *state;
    const char *prometheus = "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n";
    assert_page(f, "/metrics", 200, prometheus, "# TYPE topdownd_retiring_ratio gauge\n");
    size_t references = atomic_load(&f->view->references);
    assert_int_equal(references, 4); // ours, of what is published, of the history, and of the page
    publish_another_plan(f, 2, 4);
    assert_page(f, "/metrics", 200, prometheus, "topdownd_pmu_counters{pmu=\"toy_pmu_0\",state=\"usable\"} 3\n");
    char *answer = ask(f, "GET", "/metrics");
    assert_null(strstr(answer, "topdownd_retiring_ratio"));
    free(answer);
    assert_int_equal(atomic_load(&f->view->references), 1);
    http_server_publish(f->server, 0, &(struct http_published){f->view, f->snapshot});
    assert_page(f, "/metrics", 200, prometheus, "# TYPE topdownd_retiring_ratio gauge\n");
}

int main(void) {
#define WITH(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
    const struct CMUnitTest tests[] = {
        WITH(test_a_snapshot_is_rendered_once_however_often_it_is_asked_for),
        WITH(test_it_tells_whether_somebody_reads_the_intervals_of_cpus),
        WITH(test_it_is_ready_when_a_round_has_been_measured),
        WITH(test_it_is_not_ready_while_nothing_is_counted_and_says_why),
        WITH(test_a_snapshot_that_no_newer_one_follows_loses_its_gauges),
        WITH(test_a_stale_page_is_rendered_once_too),
        WITH(test_without_a_first_round_that_stays_the_reason),
        WITH(test_snapshots_are_published_while_several_scrape),
        WITH(test_plans_change_while_several_scrape),
        WITH(test_pages_are_made_anew_for_another_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
