// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"
#include "tests/unit/sources.h"

#include <dirent.h>

// The rules of docs/ARCHITECTURE.md that several files keep or break together: how long a room is and how many of its
// headers others include, where a function is declared and where it is defined, circles between files, and names that
// stand once. The checker has all sources as text; the tests feed it small trees that break each rule.

enum { FILES_MAX = 1200, NAMES_MAX = 12000, NAME_MAX_LENGTH = 80, ROOM_LINES_MAX = 4000, ROOM_HEADERS_MAX = 12 };

// Rooms that may be longer, or of which others may include more headers.
static const struct {
    const char *folder;
    size_t lines_max, headers_max;
} EXCEPTIONS[] = {
    // Types that everything is made of, each a few lines: whoever includes one knows nothing of the others.
    {"core/base", ROOM_LINES_MAX, 20},
    // Files of perf and of Intel's perfmon say the same in two dialects: both go into one catalog, and share its
    // tables.
    {"config/vendor", 4500, ROOM_HEADERS_MAX}};

struct name {
    char text[NAME_MAX_LENGTH];
    size_t file;
};

struct tree {
    struct source files[FILES_MAX];
    size_t n;
    struct name defined[NAMES_MAX], declared[NAMES_MAX], structs[NAMES_MAX]; // by files, then sorted by text
    size_t n_defined, n_declared, n_structs;
    uint64_t uses[FILES_MAX][(FILES_MAX + 63) / 64]; // files whose functions a file names
    char findings[FINDINGS_SIZE];
};

static bool is_header(const struct source *source) { return source->path[strlen(source->path) - 1] == 'h'; }

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

// The length of a path's folder, without the slash.
static size_t folder_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) : 0;
}

static bool in_room_of(const char *path, const char *other) {
    size_t n = folder_length(path);
    return n == folder_length(other) && strncmp(path, other, n) == 0;
}

// ---- names ----

static void add_name(struct name *names, size_t *n, const char *from, size_t length, size_t file) {
    assert_true(*n < NAMES_MAX && length < NAME_MAX_LENGTH);
    names[*n] = (struct name){.file = file};
    memcpy(names[(*n)++].text, from, length);
}

static int compare_names(const void *a, const void *b) {
    const struct name *one = a, *other = b;
    int order = strcmp(one->text, other->text);
    return order != 0 ? order : (one->file > other->file) - (one->file < other->file);
}

static const struct name *find_name(const struct name *names, size_t n, const char *from, size_t length) {
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strncmp(names[middle].text, from, length);
        if (order == 0 && names[middle].text[length] != '\0')
            order = 1;
        if (order == 0)
            return &names[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

// The word before the first parenthesis that belongs to no attribute: a function's name. NULL: there is none.
static const char *function_name(const char *from, const char *to, size_t *length) {
    for (const char *at = from; at < to && (at = memchr(at, '(', (size_t)(to - at))); at++) {
        const char *end = at;
        while (end > from && isspace((unsigned char)end[-1]))
            end--;
        const char *begin = end;
        while (begin > from && is_word(begin[-1]))
            begin--;
        *length = (size_t)(end - begin);
        if (*length != strlen("__attribute__") || strncmp(begin, "__attribute__", *length) != 0)
            return *length > 0 ? begin : NULL;
        int depth = 0;
        for (; at < to; at++) {
            depth += (*at == '(') - (*at == ')');
            if (depth == 0)
                break;
        }
    }
    return NULL;
}

// A declaration outside of functions: its function is noted if others can call it.
static void note_function(struct tree *tree, size_t file, const char *from, const char *to, bool body) {
    const struct source *source = &tree->files[file];
    size_t length;
    const char *name = function_name(from, to, &length);
    if (!name || find_word(source->code, from, to, "static") || word_at(source->code, from, "typedef") ||
        word_at(source->code, from, "_Static_assert") || memchr(from, '=', (size_t)(to - from)))
        return;
    if (body && !is_header(source))
        add_name(tree->defined, &tree->n_defined, name, length, file);
    else if (!body && is_header(source))
        add_name(tree->declared, &tree->n_declared, name, length, file);
}

static void note_struct(struct tree *tree, size_t file, const char *from, const char *brace) {
    const struct source *source = &tree->files[file];
    if (!is_header(source) || !word_at(source->code, from, "struct"))
        return;
    const char *begin = from + strlen("struct");
    while (isspace((unsigned char)*begin))
        begin++;
    size_t length = 0;
    while (is_word(begin[length]))
        length++;
    const char *rest = begin + length;
    while (isspace((unsigned char)*rest))
        rest++;
    if (length > 0 && rest == brace)
        add_name(tree->structs, &tree->n_structs, begin, length, file);
}

static void note_names(struct tree *tree, size_t file) {
    const struct source *source = &tree->files[file];
    const char *from = NULL, *brace = NULL; // of the declaration that `at` is in
    int depth = 0;
    for (const char *at = source->code; at < source->end; at++) {
        if (!from && !isspace((unsigned char)*at))
            from = at;
        if (*at == '{' && depth++ == 0 && !brace)
            brace = at;
        if (*at == '}' && --depth == 0 && head_is_function(from, brace)) {
            note_function(tree, file, from, brace, true);
            from = brace = NULL;
        }
        if (*at == ';' && depth == 0) {
            if (brace)
                note_struct(tree, file, from, brace);
            else
                note_function(tree, file, from, at, false);
            from = brace = NULL;
        }
    }
}

// ---- a function's places ----

// A header's path up to what its files' names begin with.
static size_t stem_length(const char *path) {
    static const char *const ends[] = {"_private", "_parts"};
    size_t n = strlen(path) - 2;
    for (size_t i = 0; i < N_OF(ends); i++) {
        size_t length = strlen(ends[i]);
        if (n > length && strncmp(path + n - length, ends[i], length) == 0)
            return n - length;
    }
    return n;
}

static void check_places(struct tree *tree) {
    for (size_t i = 0; i < tree->n_declared; i++) {
        const struct name *declared = &tree->declared[i];
        const struct name *defined = find_name(tree->defined, tree->n_defined, declared->text, strlen(declared->text));
        struct source *header = &tree->files[declared->file];
        if (defined && strncmp(tree->files[defined->file].path, header->path, stem_length(header->path)) != 0)
            report(header, 0, "%s is defined in %s", declared->text, tree->files[defined->file].path);
    }
}

// ---- circles ----

// Notes the files whose functions this file names. A member may have a function's name.
static void note_uses(struct tree *tree, size_t file) {
    const struct source *source = &tree->files[file];
    for (const char *at = source->code; at < source->end;) {
        size_t length = 0;
        while (is_word(at[length]))
            length++;
        bool member = at > source->code && (at[-1] == '.' || (at[-1] == '>' && at[-2] == '-'));
        const struct name *name = length > 0 && !member ? find_name(tree->defined, tree->n_defined, at, length) : NULL;
        if (name && name->file != file)
            tree->uses[file][name->file / 64] |= UINT64_C(1) << (name->file % 64);
        at += length > 0 ? length : 1;
    }
}

static bool uses(const struct tree *tree, size_t a, size_t b) { return tree->uses[a][b / 64] >> (b % 64) & 1; }

static void check_circles(struct tree *tree) {
    for (size_t i = 0; i < tree->n; i++)
        if (!is_header(&tree->files[i]))
            note_uses(tree, i);
    for (size_t through = 0; through < tree->n; through++)
        for (size_t i = 0; i < tree->n; i++)
            for (size_t w = 0; uses(tree, i, through) && w < (tree->n + 63) / 64; w++)
                tree->uses[i][w] |= tree->uses[through][w];
    for (size_t i = 0; i < tree->n; i++)
        for (size_t j = i + 1; j < tree->n; j++)
            if (uses(tree, i, j) && uses(tree, j, i))
                report(&tree->files[i], 0, "a circle with %s", tree->files[j].path);
}

// ---- rooms ----

static size_t lines_of(const struct source *source) { return line_of(source, strlen(source->text)) - 1; }

static bool is_included(const struct tree *tree, size_t header) {
    char line[300];
    (void)snprintf(line, sizeof line, "#include \"%s\"", tree->files[header].path);
    for (size_t i = 0; i < tree->n; i++)
        if (!in_room_of(tree->files[i].path, tree->files[header].path) && strstr(tree->files[i].text, line))
            return true;
    return false;
}

// Checks the room of which this is the first file.
static void check_room(struct tree *tree, size_t first) {
    struct source *source = &tree->files[first];
    size_t lines = 0, headers = 0, lines_max = ROOM_LINES_MAX, headers_max = ROOM_HEADERS_MAX;
    for (size_t i = 0; i < tree->n; i++) {
        if (!in_room_of(tree->files[i].path, source->path))
            continue;
        lines += lines_of(&tree->files[i]);
        headers += is_header(&tree->files[i]) && is_included(tree, i);
    }
    for (size_t i = 0; i < N_OF(EXCEPTIONS); i++) {
        size_t length = folder_length(source->path);
        if (length == strlen(EXCEPTIONS[i].folder) && strncmp(source->path, EXCEPTIONS[i].folder, length) == 0) {
            lines_max = EXCEPTIONS[i].lines_max;
            headers_max = EXCEPTIONS[i].headers_max;
        }
    }
    if (lines > lines_max)
        report(source, 0, "a room of %zu lines has more than one subject", lines);
    if (headers > headers_max)
        report(source, 0, "other rooms include %zu headers of this one", headers);
}

static void check_rooms(struct tree *tree) {
    for (size_t i = 0; i < tree->n; i++) {
        bool first = true;
        for (size_t j = 0; j < i && first; j++)
            first = !in_room_of(tree->files[i].path, tree->files[j].path);
        if (first)
            check_room(tree, i);
    }
}

// ---- names that stand once ----

static void check_names(struct tree *tree) {
    for (size_t i = 1; i < tree->n_structs; i++)
        if (strcmp(tree->structs[i].text, tree->structs[i - 1].text) == 0)
            report(&tree->files[tree->structs[i].file], 0, "struct %s stands in %s, too", tree->structs[i].text,
                   tree->files[tree->structs[i - 1].file].path);
    for (size_t i = 0; i < tree->n; i++)
        for (size_t j = 0; j < i && is_header(&tree->files[i]); j++)
            if (strcmp(strrchr(tree->files[i].path, '/'), strrchr(tree->files[j].path, '/')) == 0)
                report(&tree->files[i], 0, "%s has the same name", tree->files[j].path);
}

// ---- a tree ----

static void add_file(struct tree *tree, const char *path, const char *text) {
    assert_true(tree->n < FILES_MAX);
    struct source *source = &tree->files[tree->n++];
    *source = (struct source){.path = strdup(path), .text = strdup(text), .findings = tree->findings};
    assert_true(source->path && source->text);
    source_make_code(source);
}

static void check_tree(struct tree *tree) {
    for (size_t i = 0; i < tree->n; i++)
        note_names(tree, i);
    qsort(tree->defined, tree->n_defined, sizeof *tree->defined, compare_names);
    qsort(tree->structs, tree->n_structs, sizeof *tree->structs, compare_names);
    check_places(tree);
    check_circles(tree);
    check_rooms(tree);
    check_names(tree);
}

static struct tree *tree_new(void) {
    struct tree *tree = calloc(1, sizeof *tree);
    assert_non_null(tree);
    return tree;
}

static void tree_free(struct tree *tree) {
    for (size_t i = 0; i < tree->n; i++) {
        free((char *)(uintptr_t)tree->files[i].path);
        free((char *)(uintptr_t)tree->files[i].text);
        free(tree->files[i].code);
    }
    free(tree);
}

// ---- the checker itself ----

enum { SMALL_MAX = 16 };

// Checks a tree of so many files, each a path and its text.
static void expect_findings(const char *const files[][2], size_t n, const char *wanted) {
    struct tree *tree = tree_new();
    for (size_t i = 0; i < n; i++)
        add_file(tree, files[i][0], files[i][1]);
    check_tree(tree);
    if (strcmp(tree->findings, wanted) != 0)
        fail_msg("finds \"%s\", not \"%s\"", tree->findings, wanted);
    tree_free(tree);
}

static void test_a_function_of_another_files_header_is_found(void **state) {
    (void)state;
    static const char *const right[][2] = {
        {"core/base/a.h", "int a_one(void);\n__attribute__((format(printf, 1, 2))) void a_two(const char *, ...);\n"},
        {"core/base/a_private.h", "struct a *a_three(int (*f)(int));\nstatic inline int b_four(void) { return 1; }\n"},
        {"core/base/a.c", "int a_one(void) { return b_four(); }\nstatic int b_one(void) { return 2; }\n"},
        {"core/base/a_more.c", "void a_two(const char *s, ...) {}\nstruct a *a_three(int (*f)(int)) { return 0; }\n"}};
    static const char *const wrong[][2] = {
        {"core/base/a.h", "int a_one(void);\nint b_one(int a,\n          int b) __attribute__((nonnull(1)));\n"},
        {"core/base/b.c", "int b_one(int a, int b) {\n    return a;\n}\n"},
        {"core/base/a.c", "int a_one(void) { return 1; }\n"}};
    expect_findings(right, N_OF(right), "");
    expect_findings(wrong, N_OF(wrong), "core/base/a.h:1: b_one is defined in core/base/b.c\n");
}

static void test_a_circle_is_found_whatever_its_length(void **state) {
    (void)state;
    static const char *const chain[][2] = {{"core/base/a.c", "int a(void) { return b() + x->c + y.c; }\n"},
                                           {"core/base/b.c", "int b(void) { return c(\"a()\"); } // a()\n"},
                                           {"core/base/c.c", "int c(void) { return a_b + ca; }\n"}};
    static const char *const circle[][2] = {{"core/base/a.c", "int a(void) { return b(); }\n"},
                                            {"core/base/b.c", "int b(void) { return f(c); }\n"},
                                            {"core/base/c.c", "int c(void) { return a(); }\n"},
                                            {"core/base/d.c", "int d(void) { return a(); }\n"}};
    expect_findings(chain, N_OF(chain), "");
    expect_findings(circle, N_OF(circle),
                    "core/base/a.c:1: a circle with core/base/b.c\ncore/base/a.c:1: a circle with core/base/c.c\n"
                    "core/base/b.c:1: a circle with core/base/c.c\n");
}

// A room of two files with so many lines in all.
static void expect_room(const char *room, size_t lines, const char *wanted) {
    static char text[8192];
    char paths[2][64];
    memset(text, '\n', lines - 1);
    text[lines - 1] = '\0';
    for (size_t i = 0; i < 2; i++)
        (void)snprintf(paths[i], sizeof paths[i], "%s/a.%c", room, "ch"[i]);
    const char *const files[][2] = {{paths[0], text}, {paths[1], "\n"}};
    expect_findings(files, 2, wanted);
}

static void test_a_long_room_is_found(void **state) {
    (void)state;
    expect_room("core/base", 4000, "");
    expect_room("core/base", 4001, "core/base/a.c:1: a room of 4001 lines has more than one subject\n");
    expect_room("config/vendor", 4500, "");
    expect_room("config/vendor", 4501, "config/vendor/a.c:1: a room of 4501 lines has more than one subject\n");
}

// A room with so many headers that another room includes, and one that only itself does.
static void expect_headers(const char *room, size_t n, const char *wanted) {
    char paths[SMALL_MAX + 9][64], text[4096] = "";
    const char *files[SMALL_MAX + 9][2];
    for (size_t i = 0; i <= n; i++) {
        (void)snprintf(paths[i], sizeof paths[i], "%s/a%zu.h", room, i);
        files[i][0] = paths[i];
        files[i][1] = "\n";
        if (i < n)
            (void)snprintf(text + strlen(text), sizeof text - strlen(text), "#include \"%s\"\n", paths[i]);
    }
    files[n + 1][0] = "top/model/a.c";
    files[n + 1][1] = text;
    expect_findings((const char *const(*)[2])files, n + 2, wanted);
}

static void test_a_room_with_many_headers_for_others_is_found(void **state) {
    (void)state;
    expect_headers("core/plan", 12, "");
    expect_headers("core/plan", 13, "core/plan/a0.h:1: other rooms include 13 headers of this one\n");
    expect_headers("core/base", 20, "");
    expect_headers("core/base", 21, "core/base/a0.h:1: other rooms include 21 headers of this one\n");
}

static void test_a_name_that_stands_twice_is_found(void **state) {
    (void)state;
    static const char *const once[][2] = {
        {"core/base/a.h", "struct a {\n    int b;\n};\nstruct c;\n"},
        {"core/host/b.h", "struct c {\n    struct a {\n        int b;\n    } a;\n};\n"},
        {"core/host/b.c", "struct a {\n    int b;\n};\n"},
        {"core/plan/b.c", "\n"}};
    static const char *const twice[][2] = {{"core/base/a.h", "struct a {\n    int b;\n};\n"},
                                           {"core/host/b.h", "struct a\n{\n    int b;\n};\n"},
                                           {"core/plan/b.h", "struct d *b;\n"}};
    expect_findings(once, N_OF(once), "");
    expect_findings(twice, N_OF(twice),
                    "core/host/b.h:1: struct a stands in core/base/a.h, too\n"
                    "core/plan/b.h:1: core/host/b.h has the same name\n");
}

// ---- all sources ----

static int compare_paths(const void *a, const void *b) {
    const struct source *one = a, *other = b;
    return strcmp(one->path, other->path);
}

// Adds the sources of a folder and of the folders in it.
static void add_folder(struct tree *tree, const char *path) {
    DIR *folder = opendir(path);
    if (!folder)
        fail_msg("no folder %s: run this from the root of the repository", path);
    for (struct dirent *entry; (entry = readdir(folder));) {
        const char *end = strrchr(entry->d_name, '.');
        char inner[512];
        (void)snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
            add_folder(tree, inner);
        if (!end || (strcmp(end, ".c") != 0 && strcmp(end, ".h") != 0))
            continue;
        char *text = source_read(inner);
        add_file(tree, inner, text);
        free(text);
    }
    assert_int_equal(closedir(folder), 0);
}

static void test_all_sources_keep_the_rules(void **state) {
    (void)state;
    struct tree *tree = tree_new();
    for (size_t i = 0; i < N_OF(LAYERS); i++)
        add_folder(tree, LAYERS[i]);
    qsort(tree->files, tree->n, sizeof *tree->files, compare_paths);
    check_tree(tree);
    assert_true(tree->n > 500 && tree->n_defined > 1000 && tree->n_declared > 1000 && tree->n_structs > 200);
    if (tree->findings[0] != '\0')
        fail_msg("\n%s", tree->findings);
    tree_free(tree);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_function_of_another_files_header_is_found),
        cmocka_unit_test(test_a_circle_is_found_whatever_its_length),
        cmocka_unit_test(test_a_long_room_is_found),
        cmocka_unit_test(test_a_room_with_many_headers_for_others_is_found),
        cmocka_unit_test(test_a_name_that_stands_twice_is_found),
        cmocka_unit_test(test_all_sources_keep_the_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
