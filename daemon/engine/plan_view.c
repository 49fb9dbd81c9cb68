// SPDX-License-Identifier: Apache-2.0
#include "daemon/engine/plan_view.h"

struct view plan_view_facts(const struct setup *setup, const struct core_type *type, struct snapshot_layout *layout) {
    const struct source *source = type->source;
    unsigned counters = source->general_counters > 0 ? source->general_counters + source_fixed_counters(source) : 0;
    return (struct view){.layout = layout,
                         .simulated = source->simulated,
                         .replayed = source->replayed,
                         .version = TOPDOWND_VERSION,
                         .revision = setup->revision,
                         .hostname = setup_shown_host(setup),
                         .core_type = source->core_type[0] != '\0' ? source->core_type : NULL,
                         .pmu = source->pmu_name,
                         .cpu_vendor = source->cpu.vendor,
                         .cpu_model = source->cpu.model,
                         .cpu_microarchitecture = source->microarchitecture,
                         .profile = setup_profile_name(setup),
                         .config_hash = setup->config->hash,
                         .files.textfile = setup->textfile.folder,
                         .counters = {counters, counters},
                         .guests_excluded = source->exclude_guest,
                         .pmu_errors = source->troubles.errors,
                         .n_pmu_errors = source->troubles.n,
                         .platform = setup->platform,
                         .standard_error = setup->profile->settings.standard_error,
                         .max_cpu_series = setup->profile->settings.max_cpu_series};
}

struct view *plan_view_new(const struct setup *setup, const struct core_type *type, struct plan *plan) {
    static const struct adapt_report nothing_decided = {.n_groups = 0};
    struct topology *topology = topology_copy(type->topology);
    struct snapshot_layout *layout = topology ? snapshot_layout_new(plan, topology) : NULL;
    if (!layout) {
        topology_free(topology);
        plan_free(plan);
        return NULL;
    }
    struct view facts = plan_view_facts(setup, type, layout);
    facts.files.recording = setup->record_path;
    facts.adapt = setup_adaptive(setup, type) && !topology->boxes ? &nothing_decided : NULL;
    struct view *view = view_new(&facts);
    snapshot_layout_unref(layout);
    return view;
}
