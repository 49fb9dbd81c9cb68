// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"
#include "tests/unit/sources.h"

#include <dirent.h>

// The rules of docs/ARCHITECTURE.md that can be checked in the sources: includes between rooms, the users of each
// library, no state outside functions, short functions and files, and a core without input, output and clocks. The
// checker reads a file as text; the tests feed it small files that break each rule, and then all sources.

enum { FUNCTION_LINES_MAX = 60, FILE_LINES_MAX = 500 };

// ---- includes ----

// Which files may include a library's header.
static const struct {
    const char *header, *owner; // a file whose path begins so
} LIBRARIES[] = {{"yaml.h", "config/"},
                 {"cJSON", "config/"},
                 {"microhttpd", "exporters/http"},
                 {"gnutls", "exporters/web/"},
                 {"crypt.h", "exporters/web/"},
                 {"zlib.h", "exporters/text/"},
                 {"systemd/", "daemon/"},
                 {"curses", "top/terminal/"},
                 {"curl/", "top/source/"},
                 {"perf_event.h", "collectors/pmu/pmu_linux"}};

// All that the core needs of the C library: no files, no clock, no threads. stdio.h is for snprintf.
static const char *const CORE_HEADERS[] = {"assert.h",    "ctype.h",   "errno.h",   "limits.h", "math.h",  "stdarg.h",
                                           "stdatomic.h", "stdbool.h", "stddef.h",  "stdint.h", "stdio.h", "stdlib.h",
                                           "string.h",    "strings.h", "fnmatch.h", "regex.h"};

static void check_system_include(const struct source *source, size_t offset, const char *header) {
    for (size_t i = 0; i < N_OF(LIBRARIES); i++)
        if (strstr(header, LIBRARIES[i].header) && !starts_with(source->path, LIBRARIES[i].owner))
            report(source, offset, "<%s> belongs to %s", header, LIBRARIES[i].owner);
    bool allowed = !in_layer(source->path, "core");
    for (size_t i = 0; i < N_OF(CORE_HEADERS) && !allowed; i++)
        allowed = strcmp(header, CORE_HEADERS[i]) == 0;
    if (!allowed)
        report(source, offset, "<%s> is not for the core", header);
}

// The rooms, from the ground up. A room includes rooms of its own layer that stand above it in this list, and any room
// of the layers that its own may include. So arrows run downwards only. A room has a line of its own.
// clang-format off
static const char *const ROOMS[] = {"core/base/",
                                    "core/host/",
                                    "core/formula/",
                                    "core/spec/",
                                    "core/uncore/",
                                    "core/memory/",
                                    "core/plan/",
                                    "core/counts/",
                                    "core/estimate/",
                                    "core/status/",
                                    "core/tally/",
                                    "core/diagnosis/",
                                    "core/adapt/",
                                    "core/history/",
                                    "core/compare/",
                                    "core/recording/",
                                    "core/kept/",
                                    "config/json/",
                                    "config/spec/",
                                    "config/vendor/",
                                    "config/yaml/",
                                    "config/web/",
                                    "config/scenario/",
                                    "config/perf_log/",
                                    "collectors/host/",
                                    "collectors/pmu/",
                                    "collectors/sim/",
                                    "collectors/recording/",
                                    "collectors/uncore/",
                                    "collectors/memory/",
                                    "exporters/text/",
                                    "exporters/view/",
                                    "exporters/health/",
                                    "exporters/series/",
                                    "exporters/prometheus/",
                                    "exporters/json/",
                                    "exporters/html/",
                                    "exporters/page/",
                                    "exporters/history/",
                                    "exporters/web/",
                                    "exporters/http/",
                                    "daemon/base/",
                                    "daemon/source/",
                                    "daemon/uncore/",
                                    "daemon/memory/",
                                    "daemon/record/",
                                    "daemon/engine/",
                                    "daemon/kept/",
                                    "daemon/run/",
                                    "daemon/check/",
                                    "daemon/report/",
                                    "daemon/measure/",
                                    "daemon/verify/",
                                    "daemon/bundle/",
                                    "daemon/doctor/",
                                    "daemon/command/",
                                    "daemon/main.c",
                                    "top/model/",
                                    "top/screen/",
                                    "top/view/",
                                    "top/source/",
                                    "top/terminal/",
                                    "top/run/",
                                    "top/main.c"};
// clang-format on

// The number of the room that the file is in; N_OF(ROOMS): in none.
static size_t room_of(const char *path) {
    size_t room = 0;
    while (room < N_OF(ROOMS) && !starts_with(path, ROOMS[room]))
        room++;
    return room;
}

// The daemon has everything but the terminal's view, which is a program of its own and reads JSON.
static bool may_include(const char *path, const char *header, const char *layer) {
    return strcmp(layer, "core") == 0 || in_layer(path, layer) ||
           (in_layer(path, "daemon") && strcmp(layer, "top") != 0) ||
           (in_layer(path, "top") && starts_with(header, "config/json/"));
}

static void check_own_include(const struct source *source, size_t offset, const char *header) {
    const char *layer = NULL;
    for (size_t i = 0; i < N_OF(LAYERS); i++)
        if (in_layer(header, LAYERS[i]))
            layer = LAYERS[i];
    size_t to = room_of(header), from = room_of(source->path);
    if (!layer || strstr(header, "..") || to == N_OF(ROOMS))
        report(source, offset, "\"%s\" is not qualified with its room", header);
    else if (!may_include(source->path, header, layer))
        report(source, offset, "\"%s\" is of a layer that is not below this one", header);
    else if (to > from)
        report(source, offset, "\"%s\" is of a room that is not below this one", header);
    else if (starts_with(source->path, "exporters/text/") && to != from && !starts_with(header, "core/base/"))
        report(source, offset, "\"%s\" is not for text, which knows no snapshot", header);
}

static void check_include(const struct source *source, const char *directive) {
    size_t offset = (size_t)(directive - source->text);
    char header[128];
    if (sscanf(directive, "# include <%127[^>\n]>", header) == 1)
        check_system_include(source, offset, header);
    else if (sscanf(directive, "# include \"%127[^\"\n]\"", header) == 1)
        check_own_include(source, offset, header);
    else if (sscanf(directive, "# %7[a-z]", header) == 1 && strcmp(header, "include") == 0)
        report(source, offset, "what this includes cannot be told");
}

static void check_includes(const struct source *source) {
    for (const char *line = source->text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (line[strspn(line, " \t")] == '#')
            check_include(source, line + strspn(line, " \t"));
    }
}

// ---- declarations ----

// The brace that closes the one at `at`.
static const char *closing_brace(const char *at, const char *to) {
    int depth = 0;
    for (; at < to; at++) {
        depth += (*at == '{') - (*at == '}');
        if (depth == 0)
            break;
    }
    return at;
}

// Where the declarator ends that begins at `from`: at its value, its dimensions or the semicolon.
static const char *declarator_end(const char *from, const char *to) {
    for (; from < to && *from != '=' && *from != '[' && *from != ';'; from++)
        if (*from == '{')
            from = closing_brace(from, to);
    return from < to ? from : to;
}

// A pointer must be const itself, whatever it points to.
static bool is_constant(const char *code, const char *from, const char *to) {
    const char *end = declarator_end(from, to);
    bool constant = false;
    for (const char *at = from; at < end && *at != ')'; at++) {
        if (*at == '{')
            at = closing_brace(at, end);
        else if (*at == '*')
            constant = false;
        else if (word_at(code, at, "const"))
            constant = true;
    }
    return constant;
}

// A declaration outside of functions, from its first character to its semicolon; `brace` is its first '{' or NULL.
static void check_declaration(const struct source *source, const char *from, const char *to, const char *brace) {
    const char *end = declarator_end(from, to), *body_end = to;
    while (body_end > from && isspace((unsigned char)body_end[-1]))
        body_end--;
    bool is_type = brace && end == to && body_end[-1] == '}'; // struct, union, enum
    bool is_tag = !brace && (word_at(from, from, "struct") || word_at(from, from, "union")) &&
                  strcspn(from + strcspn(from, " ") + 1, " *;") == (size_t)(to - from) - strcspn(from, " ") - 1;
    const char *parenthesis = memchr(from, '(', (size_t)((brace && brace < end ? brace : end) - from));
    bool is_function = parenthesis && parenthesis[1] != '*';
    if (is_type || is_tag || is_function || word_at(from, from, "typedef") || from == to)
        return;
    if (!is_constant(source->code, from, to))
        report(source, (size_t)(from - source->code), "a variable outside of functions that is not const");
}

static void check_statics(const struct source *source, const char *from, const char *to) {
    for (const char *at = find_word(source->code, from, to, "static"); at;
         at = find_word(source->code, at + 1, to, "static"))
        if (!is_constant(source->code, at, to))
            report(source, (size_t)(at - source->code), "a static variable that is not const");
}

static void check_function(const struct source *source, const char *from, const char *brace, const char *to) {
    size_t offset = (size_t)(from - source->code), last = (size_t)(to - source->code);
    size_t lines = line_of(source, last) - line_of(source, offset) + 1;
    if (lines > FUNCTION_LINES_MAX)
        report(source, offset, "a function of %zu lines", lines);
    check_statics(source, brace, to);
}

static void check_declarations(const struct source *source) {
    const char *from = NULL, *brace = NULL; // of the declaration that `at` is in
    int depth = 0;
    for (const char *at = source->code; at < source->end; at++) {
        if (!from && !isspace((unsigned char)*at))
            from = at;
        if (*at == '{' && depth++ == 0 && !brace)
            brace = at;
        if (*at == '}' && --depth == 0 && head_is_function(from, brace)) {
            check_function(source, from, brace, at);
            from = brace = NULL;
        }
        if (*at == ';' && depth == 0) {
            check_declaration(source, from, at, brace);
            from = brace = NULL;
        }
    }
    if (depth != 0)
        report(source, 0, "braces that do not match");
}

// ---- the rest ----

// Functions that the headers of the core have, too, and streams.
static void check_core_words(const struct source *source) {
    static const char *const functions[] = {"printf",  "fprintf", "vprintf", "vfprintf", "puts",   "fputs",
                                            "putchar", "perror",  "fopen",   "fclose",   "fread",  "fwrite",
                                            "fgets",   "scanf",   "fscanf",  "getenv",   "system", "exit",
                                            "rand",    "srand",   "remove",  "rename",   "tmpfile"};
    static const char *const streams[] = {"stdin", "stdout", "stderr", "FILE"};
    for (const char *at = source->code; at < source->end; at++) {
        for (size_t i = 0; i < N_OF(functions); i++)
            if (word_at(source->code, at, functions[i]) && at[strlen(functions[i])] == '(')
                report(source, (size_t)(at - source->code), "%s is not for the core", functions[i]);
        for (size_t i = 0; i < N_OF(streams); i++)
            if (word_at(source->code, at, streams[i]))
                report(source, (size_t)(at - source->code), "%s is not for the core", streams[i]);
    }
}

static void check_source(const char *path, const char *text, char *findings) {
    struct source source = {.path = path, .text = text, .findings = findings};
    source_make_code(&source);
    size_t lines = line_of(&source, strlen(text)) - 1;
    if (lines > FILE_LINES_MAX)
        report(&source, strlen(text), "a file of %zu lines", lines);
    if (room_of(path) == N_OF(ROOMS))
        report(&source, 0, "a file in no room");
    check_includes(&source);
    check_declarations(&source);
    if (in_layer(path, "core"))
        check_core_words(&source);
    free(source.code);
}

// ---- the checker itself ----

static void expect_finding(const char *path, const char *text, const char *wanted) {
    char *findings = calloc(FINDINGS_SIZE, 1);
    assert_non_null(findings);
    check_source(path, text, findings);
    if (strcmp(findings, wanted) != 0)
        fail_msg("%s\nfinds \"%s\", not \"%s\"", text, findings, wanted);
    free(findings);
}

static void test_an_include_of_a_wrong_layer_is_found(void **state) {
    (void)state;
    expect_finding("core/tally/a.c", "#include \"core/tally/a.h\"\n", "");
    expect_finding("core/base/a.c", "\n#include \"config/yaml/config.h\"\n",
                   "core/base/a.c:2: \"config/yaml/config.h\" is of a layer that is not below this one\n");
    expect_finding("config/yaml/a.c", "#include \"core/base/a.h\"\n#include \"config/yaml/a.h\"\n", "");
    expect_finding("config/yaml/a.h", "# include \"exporters/http/http.h\"\n",
                   "config/yaml/a.h:1: \"exporters/http/http.h\" is of a layer that is not below this one\n");
    expect_finding("exporters/view/a.c", "#include \"collectors/pmu/pmu.h\"\n",
                   "exporters/view/a.c:1: \"collectors/pmu/pmu.h\" is of a layer that is not below this one\n");
    expect_finding("collectors/pmu/a.c", "#include \"daemon/base/log.h\"\n",
                   "collectors/pmu/a.c:1: \"daemon/base/log.h\" is of a layer that is not below this one\n");
    expect_finding("daemon/run/a.c", "#include \"exporters/http/http.h\"\n#include \"core/base/a.h\"\n", "");
    expect_finding("daemon/run/a.c", "#include \"top/model/frame.h\"\n",
                   "daemon/run/a.c:1: \"top/model/frame.h\" is of a layer that is not below this one\n");
    expect_finding("top/model/a.c", "#include \"config/json/a.h\"\n#include \"core/base/a.h\"\n", "");
    expect_finding("top/model/a.c", "#include \"config/yaml/a.h\"\n",
                   "top/model/a.c:1: \"config/yaml/a.h\" is of a layer that is not below this one\n");
}

static void test_an_include_of_a_higher_room_is_found(void **state) {
    (void)state;
    expect_finding("core/tally/a.c", "#include \"core/plan/plan.h\"\n", "");
    expect_finding("core/plan/a.c", "#include \"core/tally/snapshot.h\"\n",
                   "core/plan/a.c:1: \"core/tally/snapshot.h\" is of a room that is not below this one\n");
    expect_finding("daemon/base/a.c", "#include \"daemon/run/service.h\"\n",
                   "daemon/base/a.c:1: \"daemon/run/service.h\" is of a room that is not below this one\n");
    expect_finding("exporters/text/a.c", "#include \"core/base/a.h\"\n#include \"exporters/text/b.h\"\n", "");
    expect_finding("exporters/text/a.c", "#include \"core/tally/snapshot.h\"\n",
                   "exporters/text/a.c:1: \"core/tally/snapshot.h\" is not for text, which knows no snapshot\n");
    expect_finding("daemon/main.c", "#include \"daemon/run/service.h\"\n", "");
}

static void test_a_file_in_no_room_is_found(void **state) {
    (void)state;
    expect_finding("core/a.c", "", "core/a.c:1: a file in no room\n");
    expect_finding("core/tales/a.c", "", "core/tales/a.c:1: a file in no room\n");
    expect_finding("core/base/a.c", "#include \"core/a.h\"\n",
                   "core/base/a.c:1: \"core/a.h\" is not qualified with its room\n");
}

static void test_an_include_without_its_folder_is_found(void **state) {
    (void)state;
    expect_finding("core/base/a.c", "#include \"a.h\"\n", "core/base/a.c:1: \"a.h\" is not qualified with its room\n");
    expect_finding("daemon/run/a.c", "#include \"core/base/../a.h\"\n",
                   "daemon/run/a.c:1: \"core/base/../a.h\" is not qualified with its room\n");
    expect_finding("daemon/run/a.c", "#include \"tests/a.h\"\n",
                   "daemon/run/a.c:1: \"tests/a.h\" is not qualified with its room\n");
    expect_finding("daemon/run/a.c", "#include HEADER\n", "daemon/run/a.c:1: what this includes cannot be told\n");
}

static void test_a_library_in_the_wrong_place_is_found(void **state) {
    (void)state;
    expect_finding("config/yaml/a.c", "#include <yaml.h>\n#include <cjson/cJSON.h>\n", "");
    expect_finding("exporters/json/json.c", "#include <cjson/cJSON.h>\n",
                   "exporters/json/json.c:1: <cjson/cJSON.h> belongs to config/\n");
    expect_finding("exporters/http/http_page.c", "#include <microhttpd.h>\n", "");
    expect_finding("daemon/run/a.c", "#include <systemd/sd-event.h>\n", "");
    expect_finding("daemon/run/a.c", "#include <curses.h>\n",
                   "daemon/run/a.c:1: <curses.h> belongs to top/terminal/\n");
    expect_finding("top/source/a.c", "#include <curl/curl.h>\n", "");
    expect_finding("collectors/pmu/pmu_linux.c", "#include <linux/perf_event.h>\n", "");
    expect_finding("daemon/run/a.c", "#include <yaml.h>\n", "daemon/run/a.c:1: <yaml.h> belongs to config/\n");
    expect_finding("collectors/pmu/a.c", "#include <cjson/cJSON.h>\n",
                   "collectors/pmu/a.c:1: <cjson/cJSON.h> belongs to config/\n");
    expect_finding("exporters/json/json.c", "#include <microhttpd.h>\n",
                   "exporters/json/json.c:1: <microhttpd.h> belongs to exporters/http\n");
    expect_finding("exporters/http/http.c", "#include <zlib.h>\n",
                   "exporters/http/http.c:1: <zlib.h> belongs to exporters/text/\n");
    expect_finding("exporters/http/http.c", "#include <systemd/sd-daemon.h>\n",
                   "exporters/http/http.c:1: <systemd/sd-daemon.h> belongs to daemon/\n");
    expect_finding("collectors/pmu/pmu.h", "#include <linux/perf_event.h>\n",
                   "collectors/pmu/pmu.h:1: <linux/perf_event.h> belongs to collectors/pmu/pmu_linux\n");
}

static void test_input_output_clocks_and_threads_in_the_core_are_found(void **state) {
    (void)state;
    static const char *const headers[] = {"time.h", "pthread.h", "unistd.h", "threads.h", "sys/stat.h", "fcntl.h"};
    for (size_t i = 0; i < N_OF(headers); i++) {
        char text[64], wanted[96];
        (void)snprintf(text, sizeof text, "#include <%s>\n", headers[i]);
        (void)snprintf(wanted, sizeof wanted, "core/base/a.c:1: <%s> is not for the core\n", headers[i]);
        expect_finding("core/base/a.c", text, wanted);
        expect_finding("config/yaml/a.c", text, "");
    }
    expect_finding("core/base/a.c", "void f(void) { printf(\"x\"); }\n",
                   "core/base/a.c:1: printf is not for the core\n");
    expect_finding("core/base/a.c", "void f(void) {\n    g(stderr);\n}\n",
                   "core/base/a.c:2: stderr is not for the core\n");
    expect_finding("core/base/a.c", "void f(char *s) { (void)snprintf(s, 9, \"printf(x)\"); } // printf\n", "");
    expect_finding("daemon/run/a.c", "void f(void) { printf(\"x\"); }\n", "");
}

static void test_a_variable_outside_of_functions_is_found(void **state) {
    (void)state;
    static const char *const wrong[] = {"static int count;\n",
                                        "int count = 3;\n",
                                        "static const char *name = \"{\";\n",
                                        "static struct a a = {1, {2}};\n",
                                        "static int numbers[] = {1, 2};\n",
                                        "struct a {\n    int b;\n} a;\n",
                                        "static void (*hook)(void);\n",
                                        "_Thread_local int n;\n",
                                        "struct a *a;\n",
                                        "struct {\n    const char *b[3];\n} a = {{0}};\n",
                                        "static struct {\n    int (*b)(void);\n} a;\n",
                                        "extern int count;\n"};
    static const char *const right[] = {"static const int count = 3;\n",
                                        "static const char *const names[] = {\"a;\", \"b\"};\n",
                                        "static void (*const hook)(const char *) = f;\n",
                                        "static const struct {\n    char *b;\n} a[] = {{0}};\n",
                                        "static __attribute__((format(printf, 1, 2))) void f(char *, ...);\n",
                                        "extern const struct a table[];\n",
                                        "struct a;\n",
                                        "struct a {\n    int b, *c;\n};\n",
                                        "enum { A = 1, B };\n",
                                        "int f(int a, char *b);\n",
                                        "static struct a *f(void);\n",
                                        "_Static_assert(1, \"x\");\n",
                                        "#define A \\\n    int a;\n",
                                        "// int a;\n/* int b;\n */\n",
                                        "static int f(int a) { return a; }\n"};
    for (size_t i = 0; i < N_OF(wrong); i++)
        expect_finding("config/yaml/a.c", wrong[i],
                       "config/yaml/a.c:1: a variable outside of functions that is not const\n");
    for (size_t i = 0; i < N_OF(right); i++)
        expect_finding("config/yaml/a.c", right[i], "");
}

static void test_a_static_variable_within_a_function_is_found(void **state) {
    (void)state;
    expect_finding("core/base/a.c", "int f(void) {\n    static int n;\n    return n++;\n}\n",
                   "core/base/a.c:2: a static variable that is not const\n");
    expect_finding("core/base/a.c", "int f(void) {\n    static const char *s = \"\";\n    return !*s;\n}\n",
                   "core/base/a.c:2: a static variable that is not const\n");
    expect_finding("core/base/a.c", "int f(void) {\n    static const int n = '}';\n    return n;\n}\n", "");
}

// A function of so many lines, the first of which is number 3.
static void expect_function(size_t lines, const char *wanted) {
    char text[4096] = "// a comment\n\n";
    strcat(text, "static int f(int a,\n             int b) {\n");
    for (size_t i = 3; i < lines; i++)
        strcat(text, "    a += b; // {\n");
    expect_finding("exporters/view/a.c", strcat(text, "}\n"), wanted);
}

static void test_a_long_function_is_found(void **state) {
    (void)state;
    expect_function(60, "");
    expect_function(61, "exporters/view/a.c:3: a function of 61 lines\n");
}

static void test_a_long_file_is_found(void **state) {
    (void)state;
    char text[1024];
    memset(text, '\n', sizeof text);
    text[500] = '\0';
    expect_finding("daemon/run/a.c", text, "");
    text[500] = '\n';
    text[501] = '\0';
    expect_finding("daemon/run/a.c", text, "daemon/run/a.c:502: a file of 501 lines\n");
}

static void test_braces_that_do_not_match_are_found(void **state) {
    (void)state;
    expect_finding("daemon/run/a.c", "int f(void) {\n", "daemon/run/a.c:1: braces that do not match\n");
}

// ---- all sources ----

// Tools read the licence from the first line, where formatting joins a comment to it that follows at once.
static void check_licence(const char *path, const char *text, char *findings) {
    const struct source source = {.path = path, .text = text, .findings = findings};
    if (!starts_with(text, "// SPDX-License-Identifier: Apache-2.0\n"))
        report(&source, 0, "the first line is not the licence alone");
}

// Checks a source.
static void check_file(const char *path, char *findings) {
    char *text = source_read(path);
    check_source(path, text, findings);
    check_licence(path, text, findings);
    free(text);
}

// Checks the sources of a folder and of the folders in it; returns how many they are.
static size_t check_folder(const char *path, char *findings) {
    DIR *folder = opendir(path);
    size_t n_all = 0;
    if (!folder)
        fail_msg("no folder %s: run this from the root of the repository", path);
    for (struct dirent *entry; (entry = readdir(folder));) {
        const char *end = strrchr(entry->d_name, '.');
        char inner[512];
        (void)snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
            n_all += check_folder(inner, findings);
        if (!end || (strcmp(end, ".c") != 0 && strcmp(end, ".h") != 0))
            continue;
        check_file(inner, findings);
        n_all++;
    }
    assert_int_equal(closedir(folder), 0);
    return n_all;
}

static void test_all_sources_keep_the_rules(void **state) {
    (void)state;
    char *findings = calloc(FINDINGS_SIZE, 1);
    assert_non_null(findings);
    for (size_t i = 0; i < N_OF(LAYERS); i++)
        assert_true(check_folder(LAYERS[i], findings) >= 8);
    if (findings[0] != '\0')
        fail_msg("\n%s", findings);
    free(findings);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_include_of_a_wrong_layer_is_found),
        cmocka_unit_test(test_an_include_of_a_higher_room_is_found),
        cmocka_unit_test(test_a_file_in_no_room_is_found),
        cmocka_unit_test(test_an_include_without_its_folder_is_found),
        cmocka_unit_test(test_a_library_in_the_wrong_place_is_found),
        cmocka_unit_test(test_input_output_clocks_and_threads_in_the_core_are_found),
        cmocka_unit_test(test_a_variable_outside_of_functions_is_found),
        cmocka_unit_test(test_a_static_variable_within_a_function_is_found),
        cmocka_unit_test(test_a_long_function_is_found),
        cmocka_unit_test(test_a_long_file_is_found),
        cmocka_unit_test(test_braces_that_do_not_match_are_found),
        cmocka_unit_test(test_all_sources_keep_the_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
