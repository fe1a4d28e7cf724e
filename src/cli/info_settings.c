/* SPDX-License-Identifier: BSD-3-Clause */
/* info_settings.c - prints the table of settings and the values in force. */
#include <stdlib.h>
#include <string.h>

#include "base/settings.h"
#include "cli/info.h"

#define WIDTH 78
#define INDENT 8

static const char *type_name(enum cx_setting_type type)
{
    static const char *const names[] = {
        [CX_SETTING_BOOL] = "switch", [CX_SETTING_CHOICE] = "choice",
        [CX_SETTING_SIZE] = "size",   [CX_SETTING_NUMBER] = "number",
        [CX_SETTING_TEXT] = "text",
    };

    return names[type];
}

/* `text` in lines of at most WIDTH characters, indented. */
static void print_wrapped(const char *text)
{
    size_t at = 0;

    while (*text) {
        size_t n = strcspn(text, " ");

        if (at > 0 && at + 1 + n > WIDTH) {
            putchar('\n');
            at = 0;
        }
        at += (size_t)printf("%*s", at > 0 ? 1 : INDENT, "");
        at += (size_t)printf("%.*s", (int)n, text);
        text += n + strspn(text + n, " ");
    }
    putchar('\n');
}

static void print_row_text(const struct cx_setting_row *row)
{
    printf("    %s (%s", row->name, type_name(row->type));
    if (row->dflt[0])
        printf(", default %s", row->dflt);
    printf("): %s\n", row->range);
    print_wrapped(row->help);
}

static void print_field(const char *name, const char *value, int last)
{
    printf("\"%s\": ", name);
    info_print_json_string(value);
    printf("%s", last ? "" : ", ");
}

static void print_row_json(const struct cx_setting_row *row, int last)
{
    printf("    {");
    print_field("name", row->name, 0);
    print_field("type", type_name(row->type), 0);
    print_field("default", row->dflt, 0);
    print_field("range", row->range, 0);
    print_field("help", row->help, 1);
    printf("}%s\n", last ? "" : ",");
}

/* A cell: '|' would end it. */
static void print_cell(const char *text)
{
    for (; *text; text++)
        printf(*text == '|' ? "\\|" : "%c", *text);
    printf(" | ");
}

static void print_row_markdown(const struct cx_setting_row *row)
{
    printf("| `%s` | %s | %s%s%s | ", row->name, type_name(row->type),
           row->dflt[0] ? "`" : "", row->dflt, row->dflt[0] ? "`" : "");
    print_cell(row->range);
    for (const char *at = row->help; *at; at++)
        printf(*at == '|' ? "\\|" : "%c", *at);
    printf(" |\n");
}

void info_print_settings(enum info_format format)
{
    int n;
    const struct cx_setting_row *row = cx_setting_rows(&n);

    if (format == INFO_MARKDOWN)
        printf("| variable | type | default | values | meaning |\n"
               "|---|---|---|---|---|\n");
    else if (format == INFO_JSON)
        printf("{\n  \"settings\": [\n");
    else
        printf("Settings are environment variables, read once in each rank.\n"
               "Sizes take K, M or G. NAME (type, default): values.\n\n");
    for (int i = 0; i < n; i++) {
        if (format == INFO_MARKDOWN)
            print_row_markdown(&row[i]);
        else if (format == INFO_JSON)
            print_row_json(&row[i], i + 1 == n);
        else
            print_row_text(&row[i]);
    }
    if (format == INFO_JSON)
        printf("  ]\n}\n");
}

void info_print_values(enum info_format format)
{
    int n;
    const struct cx_setting_row *row = cx_setting_rows(&n);

    for (int i = 0; i < n; i++) {
        const char *set = getenv(row[i].name);
        const char *value = set ? set : row[i].dflt;

        if (format == INFO_JSON) {
            printf("    {");
            print_field("name", row[i].name, 0);
            print_field("value", value, 0);
            print_field("default", row[i].dflt, 0);
            printf("\"set\": %s}%s\n", set ? "true" : "false",
                   i + 1 == n ? "" : ",");
        } else {
            printf("  %-17s %s%s\n", row[i].name, value[0] ? value : "-",
                   set ? "  (set)" : "");
        }
    }
}
