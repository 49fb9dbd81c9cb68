// SPDX-License-Identifier: Apache-2.0
//
// getopt_long walks the words twice. The first walk accepts the options of all commands, so that the command may come
// after its options, and ends at the command's word. The second walk applies the command's own options.
#include "daemon/base/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "daemon/base/options_error.h"
#include "daemon/base/options_table.h"

enum {
    FIRST_OPTION = 256, // getopt_long's value for row 0: beyond all characters
    COMMANDS_MAX = 16,
    TEXT_MAX = 160
};

#define SHORT_OPTIONS ":h" // -h is --help, which find_words handles; ':' asks getopt_long to tell what is wrong

// Converts the table for getopt_long. Of rows with one name the last is used: either all or none of them take a value.
static void make_longs(struct option longs[OPTION_ROWS + 1]) {
    memset(longs, 0, (OPTION_ROWS + 1) * sizeof *longs);
    size_t n = 0;
    for (int i = 0; i < OPTION_ROWS; i++) {
        size_t k = 0;
        while (k < n && strcmp(longs[k].name, option_rows[i].name) != 0)
            k++;
        longs[k] = (struct option){option_rows[i].name, option_rows[i].argument ? required_argument : no_argument, NULL,
                                   FIRST_OPTION + i};
        n += k == n;
    }
}

// Reports an unknown option `word`, which may have a value after '='.
static int refuse_unknown(const char *word) {
    const char *names[OPTION_ROWS];
    char name[TEXT_MAX], near[TEXT_MAX];
    for (int i = 0; i < OPTION_ROWS; i++)
        names[i] = option_rows[i].name;
    (void)snprintf(name, sizeof name, "%s", word + strspn(word, "-"));
    name[strcspn(name, "=")] = '\0';
    const char *suggestion = error_suggest(name, names, OPTION_ROWS);
    for (int i = 0; i < OPTION_ROWS && !suggestion; i++) // an ambiguous prefix
        if (name[0] != '\0' && strncmp(names[i], name, strlen(name)) == 0)
            suggestion = names[i];
    (void)snprintf(near, sizeof near, "--%s", suggestion ? suggestion : "");
    return options_refuse("there is no option", word, suggestion ? near : NULL);
}

// Reports why getopt_long did not accept `word`: it returned `found`, and optopt is the option.
static int refuse_option(int found, const char *word) {
    char text[TEXT_MAX];
    if (optopt == 0)
        return refuse_unknown(word);
    if (optopt < FIRST_OPTION) {
        (void)snprintf(text, sizeof text, "-%c", optopt);
        return refuse_unknown(text);
    }
    const struct option_row *row = &option_rows[optopt - FIRST_OPTION];
    if (found == ':')
        (void)snprintf(text, sizeof text, "--%s takes a value: --%s %s", row->name, row->name, row->argument);
    else
        (void)snprintf(text, sizeof text, "--%s takes no value", row->name);
    return options_say(text);
}

// The first walk finds the command, which determines the valid options and the subject of --help.
static int find_words(int argc, char **argv, const struct option *longs, struct options *options) {
    int r = 0;
    optind = 0; // restarts getopt_long
    opterr = 0;
    for (int found; (found = getopt_long(argc, argv, SHORT_OPTIONS, longs, NULL)) != -1;) {
        if (found == 'h')
            options->help = options->help || r == 0;
        else if (found < FIRST_OPTION && r == 0 && !options->help && !options->version)
            r = refuse_option(found, argv[optind - 1]);
        else if (found >= FIRST_OPTION && option_rows[found - FIRST_OPTION].sets == OPTIONS_ALL && r == 0)
            (void)option_rows[found - FIRST_OPTION].read(&option_rows[found - FIRST_OPTION], NULL, options);
    }
    return r;
}

static const struct command *find_command(const char *name, const struct command *commands, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

// How many words may follow the command, besides those of a command to start.
static int words_of(const struct command *command) {
    int n = command->word && !command->starts ? 1 : 0;
    if (command->starts)
        return n;
    for (const char *c = command->word; c && *c != '\0'; c++)
        n += *c == ' ';
    return n;
}

// Takes the command to start, which stands after "--" so that its options are its own.
static int take_started(char **words, struct options *options, const struct command *command,
                        const struct command **out) {
    if (!options->measure.dashes)
        return options_refuse(
            "a command to start stands after '--', such as '-- make -j2'. There is one word too many:", words[1], NULL);
    options->measure.command = words + 1;
    *out = command;
    return 0;
}

// Takes the command and its words from `words`.
static int take_words(int argc, char **words, const struct command *commands, size_t n, struct options *options,
                      const struct command **out) {
    const struct command *command = argc > 0 ? find_command(words[0], commands, n) : &commands[0];
    const char *names[COMMANDS_MAX];
    size_t n_names = 0;
    for (; n_names < n && n_names < COMMANDS_MAX; n_names++)
        names[n_names] = commands[n_names].name;
    if (!command)
        return options_refuse("there is no command", words[0], error_suggest(words[0], names, n_names));
    int n_words = 1 + words_of(command);
    if (argc > 1 && command->starts)
        return take_started(words, options, command, out);
    if (argc > n_words)
        return options_refuse("there is one word too many:", words[n_words], NULL);
    options->word = argc > 1 ? words[1] : NULL;
    options->second = argc > 2 ? words[2] : NULL;
    *out = command;
    return 0;
}

static bool takes(const struct command *command, const struct option_row *row) {
    return (row->sets & (command->sets | OPTIONS_ALL)) != 0;
}

// Reports an option that only other commands have.
static int refuse_foreign(const char *name, const struct command *commands, size_t n, const char *command) {
    char others[TEXT_MAX] = "";
    size_t found = 0, length = 0;
    for (size_t c = 0; c < n; c++) {
        bool taken = false;
        for (int i = 0; i < OPTION_ROWS; i++)
            taken = taken || (strcmp(option_rows[i].name, name) == 0 && takes(&commands[c], &option_rows[i]));
        if (taken && length < sizeof others)
            length += (size_t)snprintf(others + length, sizeof others - length, "%s%s", found++ > 0 ? ", " : "",
                                       commands[c].name);
    }
    bool groups = strcmp(command, "list") == 0 && strcmp(name, "groups") == 0;
    (void)fprintf(stderr, "topdownd: %s does not take --%s: it can only go with the command%s %s%s\n", command, name,
                  found > 1 ? "s" : "", others,
                  groups ? ". 'topdownd list groups' lists metric groups, and 'topdownd list metrics --group NAME' the "
                           "metrics of one"
                         : "");
    return -EINVAL;
}

// The second walk.
static int read_options(int argc, char **argv, const struct option *longs, const struct command *commands, size_t n,
                        const struct command *command, struct options *options) {
    int r = 0;
    optind = 0;
    for (int found; r == 0 && (found = getopt_long(argc, argv, SHORT_OPTIONS, longs, NULL)) != -1;) {
        const char *name = option_rows[found - FIRST_OPTION].name;
        const struct option_row *row = NULL;
        for (int i = 0; i < OPTION_ROWS && !row; i++)
            if (strcmp(option_rows[i].name, name) == 0 && takes(command, &option_rows[i]))
                row = &option_rows[i];
        r = row ? row->read(row, optarg, options) : refuse_foreign(name, commands, n, command->name);
    }
    return r;
}

int options_parse(int argc, char **argv, const struct command *commands, size_t n, struct options *out,
                  const struct command **command) {
    struct option longs[OPTION_ROWS + 1];
    struct options options = {.config = TOPDOWND_SYSCONFDIR "/topdownd/topdownd.yaml",
                              .paths = {.sysfs = "/sys", .procfs = "/proc"},
                              .replay.speed = 1};
    const struct command *chosen = NULL;
    make_longs(longs);
    for (int i = 1; i < argc; i++)
        options.measure.dashes = options.measure.dashes || strcmp(argv[i], "--") == 0;
    int r = find_words(argc, argv, longs, &options);
    if (r == 0 && (options.help || options.version)) {
        *out = options;
        *command = optind < argc ? find_command(argv[optind], commands, n) : NULL;
        return 0;
    }
    if (r == 0)
        r = take_words(argc - optind, argv + optind, commands, n, &options, &chosen);
    if (r == 0)
        r = read_options(argc, argv, longs, commands, n, chosen, &options);
    if (r == 0 && chosen->check)
        r = chosen->check(&options);
    if (r < 0)
        return r;
    *out = options;
    *command = chosen;
    return 0;
}
