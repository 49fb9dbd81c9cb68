// SPDX-License-Identifier: Apache-2.0
//
// The verdict as series: for each socket one for every path of the decision tree, of which a snapshot has a value for
// at most one.

#include "core/diagnosis/next.h"
#include "core/diagnosis/path.h"
#include "exporters/series/series_private.h"

// The labels of one path, zero-terminated.
struct words {
    struct text path, next;
};

static void put_path(const struct catalog *catalog, const struct path *path, struct text *out) {
    for (size_t i = 0; i < path->n; i++)
        text_format(out, "%s%s", i > 0 ? "/" : "", catalog->metrics[path->metrics[i]].export_name);
}

// Appends what the methodology looks at next. Labels stay when a plan changes, so only the catalog decides.
static void put_next(const struct catalog *catalog, unsigned metric, struct text *out) {
    const struct catalog_step *step;
    for (size_t i = 0; (step = next_named(catalog, NULL, metric, i)); i++)
        text_format(out, "%s%s", i > 0 ? "," : "", step->name);
}

// The level-1 category that the path begins with; NULL: none.
static const char *find_category(const struct catalog_level1 *level1, const struct path *path) {
    for (size_t i = 0; level1->present && i < level1->n_categories; i++)
        if (level1->categories[i].metric == path->metrics[0])
            return category_name(level1->categories[i].category);
    return NULL;
}

static void add_words(struct series *series, const struct view *view, const struct path *path,
                      const struct words *words) {
    const char *category = find_category(&view->layout->catalog->level1, path);
    size_t place = (size_t)view->layout->plan->place[path->metrics[path->n - 1]];
    for (size_t s = 0; s < series_n_scopes(view, OF_SOCKETS); s++) {
        struct series_labels scope = series_scope(view, OF_SOCKETS, s);
        struct series_label labels[4] = {{"socket", scope.socket}, {"path", words->path.data}};
        size_t n = 2;
        if (category)
            labels[n++] = (struct series_label){"category", category};
        if (words->next.data[0] != '\0')
            labels[n++] = (struct series_label){"next", words->next.data};
        series_add(series, "", labels, n, SERIES_WHOLE, snapshot_verdict(view->layout, scope.scope, place));
    }
}

static void add_path(struct series *series, const struct view *view, const struct path *path) {
    struct words words = {{0}, {0}};
    put_path(view->layout->catalog, path, &words.path);
    put_next(view->layout->catalog, path->metrics[path->n - 1], &words.next);
    text_append(&words.path, "", 1);
    text_append(&words.next, "", 1);
    series->failed = series->failed || words.path.failed || words.next.failed;
    if (!series->failed)
        add_words(series, view, path, &words);
    text_free(&words.path);
    text_free(&words.next);
}

void series_add_bounds(struct series *series, const struct view *view) {
    struct paths paths;
    size_t before = series->n_lines;
    series->failed = paths_init(&paths, view->layout) < 0 || series->failed;
    for (size_t i = 0; i < paths.n && !series->failed; i++)
        add_path(series, view, &paths.all[i]);
    series->n_rare += series->n_lines - before; // each socket has one of these, or that of no path, below
    for (size_t s = 0; s < series_n_scopes(view, OF_SOCKETS) && paths.n > 0; s++) {
        struct series_labels scope = series_scope(view, OF_SOCKETS, s);
        const struct series_label labels[] = {{"socket", scope.socket}, {"path", "none"}};
        series_add(series, "", labels, 2, SERIES_WHOLE,
                   snapshot_verdict(view->layout, scope.scope, view->layout->n_metrics));
    }
    paths_deinit(&paths);
}

// False: the plan has nothing of the tree, so that there never is a verdict.
bool series_has_tree(struct series *series, const struct view *view) {
    struct paths paths;
    series->failed = paths_init(&paths, view->layout) < 0 || series->failed;
    bool any = paths.n > 0;
    paths_deinit(&paths);
    return any;
}

void series_add_bound_since(struct series *series, const struct view *view, const struct series_labels *scope) {
    series_add_scoped(series, scope, NULL, NULL, SERIES_REAL, snapshot_verdict_since(view->layout, scope->scope));
}

void series_add_bound_unseen(struct series *series, const struct view *view, const struct series_labels *scope) {
    series_add_scoped(series, scope, NULL, NULL, SERIES_WHOLE, snapshot_verdict_unseen(view->layout, scope->scope));
}

void series_add_bound_certain(struct series *series, const struct view *view, const struct series_labels *scope) {
    series_add_scoped(series, scope, NULL, NULL, SERIES_WHOLE, snapshot_verdict_certain(view->layout, scope->scope));
}
