// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "daemon/base/options.h"
#include "daemon/base/options_table.h"

enum { HELP_INDENT = 22, HELP_WIDTH = 80, OPTION_NAME_MAX = 32 };

// Prints a text from column HELP_INDENT on, broken between words and at '\n'; `column` is the current column.
static void print_wrapped(const char *text, int column) {
    for (bool begins = true; *text != '\0'; text += *text != '\0') {
        int word = (int)strcspn(text, " \n");
        if (!begins && column + 1 + word > HELP_WIDTH) {
            (void)putchar('\n');
            column = 0;
            begins = true;
        }
        column += printf("%*s%.*s", begins ? HELP_INDENT - column : 1, "", word, text);
        text += word;
        begins = *text == '\n';
        if (begins) {
            (void)putchar('\n');
            column = 0;
        }
    }
    (void)putchar('\n');
}

// A long name gets a line of its own.
void options_print_entry(const char *name, const char *argument, const char *help) {
    int column = printf("  %s%s%s", name, argument ? " " : "", argument ? argument : "");
    if (column + 2 > HELP_INDENT) {
        (void)putchar('\n');
        column = 0;
    }
    print_wrapped(help, column);
}

static void print_options(unsigned sets) {
    for (int i = 0; i < OPTION_ROWS; i++) {
        char name[OPTION_NAME_MAX];
        (void)snprintf(name, sizeof name, "--%s", option_rows[i].name);
        if ((option_rows[i].sets & (sets | OPTIONS_ALL)) != 0)
            options_print_entry(name, option_rows[i].argument, option_rows[i].help);
    }
}

static void print_command(const struct command *command) {
    const char *word = command->word ? command->word : "", *space = command->word ? " " : "";
    if (command->starts) // behind the options, because its own are its own
        (void)printf("Usage: topdownd %s [OPTION]... %s\n", command->name, word);
    else
        (void)printf("Usage: topdownd %s%s%s [OPTION]...\n", command->name, space, word);
    (void)printf("%s\n\nOptions:\n", command->help);
    print_options(command->sets);
    if (command->more)
        command->more();
    (void)printf("\nExample: %s\nManual: %s\n", command->example, command->manual);
}

// Each manual once, in the order of the commands.
static void print_manuals(const struct command *commands, size_t n) {
    int column = printf("Manuals:");
    for (size_t i = 0; i < n; i++) {
        size_t first = 0;
        while (strcmp(commands[first].manual, commands[i].manual) != 0)
            first++;
        if (first < i)
            continue;
        if (column + (int)strlen(commands[i].manual) + 2 > HELP_WIDTH)
            column = printf("\n") - 1;
        column += printf("%s%s,", column > 0 ? " " : "", commands[i].manual);
    }
    (void)puts(" topdownd.yaml(5)");
}

void options_help(const struct command *commands, size_t n, const struct command *command) {
    if (command) {
        print_command(command);
        return;
    }
    (void)puts("Usage: topdownd [COMMAND] [OPTION]...\n"
               "Measures what this host's CPUs are bound by, all the time, and serves it to Prometheus.\n"
               "\n"
               "Commands (topdownd help COMMAND says which options a command takes):");
    for (size_t i = 0; i < n; i++)
        options_print_entry(commands[i].name, commands[i].word, commands[i].summary);
    (void)printf("\nOptions of the command %s:\n", commands[0].name);
    print_options(commands[0].sets);
    (void)puts("\n"
               "Exit status: 0 done, and nothing found wrong; 1 failed while running, or found what is asked for\n"
               "(doctor: unfit; diff: a regression); 2 a mistake in command line, configuration or environment.");
    print_manuals(commands, n);
}
