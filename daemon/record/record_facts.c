// SPDX-License-Identifier: Apache-2.0
#include "daemon/record/record_facts.h"

#include <string.h>

static void set_text(char *to, const char *from) {
    size_t n = strnlen(from, RECORDING_TEXT_MAX);
    memcpy(to, from, n);
    to[n] = '\0';
}

static void fill_catalog(struct recording_catalog *out, const struct setup *setup, const struct source *source) {
    const struct environment_facts *environment = &source->catalog->environment;
    *out = (struct recording_catalog){.hash = catalog_hash(source->catalog),
                                      .answers = source->making.answers,
                                      .topdown_dropped = source->making.topdown_dropped};
    set_text(out->spec, source->catalog->product.spec);
    set_text(out->cpuid, environment->cpuid);
    memcpy(out->literals, environment->literals, sizeof out->literals);
    if (!source->vendors)
        return;
    set_text(out->vendor_path, setup->config->specs.path);
    out->vendor_format = (unsigned)setup->config->specs.format;
    set_text(out->vendor_cpuid, source->making.vendor_cpuid);
    set_text(out->vendor_pmu, source->making.vendor_pmu);
}

void record_facts_header(struct recording_header *header, const struct setup *setup, const struct source *source,
                         uint64_t seed) {
    *header = (struct recording_header){
        .seed = seed, .simulated = source->simulated, .guests_excluded = source->exclude_guest};
    set_text(header->version, TOPDOWND_VERSION);
    set_text(header->hostname, setup->hostname);
    set_text(header->pmu, source->pmu_name);
    set_text(header->profile, setup->profile->name);
    set_text(header->vendor, source->cpu.vendor);
    set_text(header->model, source->cpu.model);
    set_text(header->microarchitecture, source->microarchitecture);
    set_text(header->core_type, source->core_type);
    if (source->core_type[0] != '\0' && source != setup->types[0].source)
        set_text(header->first_type, setup->types[0].source->core_type);
    fill_catalog(&header->catalog, setup, source);
}

bool record_facts_same_beginning(const struct recording_header *a, const struct recording_header *b) {
    struct recording_buffer buffers[2] = {0};
    bool same = recording_put_header(&buffers[0], a) == 0 && recording_put_header(&buffers[1], b) == 0 &&
                buffers[0].n == buffers[1].n && memcmp(buffers[0].bytes, buffers[1].bytes, buffers[0].n) == 0;
    recording_buffer_deinit(&buffers[0]);
    recording_buffer_deinit(&buffers[1]);
    return same;
}

bool record_facts_same_catalog(const struct recording_header *a, const struct recording_header *b) {
    return a->catalog.hash == b->catalog.hash && strcmp(a->catalog.spec, b->catalog.spec) == 0;
}

void record_facts_of_view(struct recording_facts *out, const struct view *view) {
    *out = (struct recording_facts){.counters_total = view->counters.total, .counters_usable = view->counters.usable};
    for (size_t i = 0; i < view->n_pmu_errors && i < RECORDING_TROUBLES_MAX; i++) {
        struct recording_trouble *trouble = &out->troubles[out->n_troubles++];
        set_text(trouble->pmu, view->pmu_errors[i].pmu);
        set_text(trouble->reason, view->pmu_errors[i].reason);
        set_text(trouble->text, view->pmu_errors[i].text);
        trouble->of_host = view->pmu_errors[i].of_host;
        trouble->uncore = view->pmu_errors[i].uncore;
    }
}

const struct catalog *record_facts_catalog(const struct source *source) {
    bool elsewhere = source->vendors || source->catalog->product.chosen;
    return elsewhere ? catalog_share(source->catalog) : NULL;
}
