/* SPDX-License-Identifier: BSD-3-Clause */
/* settings.c - parses the environment by the table in settings.def. */
#include "base/settings.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"

extern char **environ;

static const struct cx_setting_row rows[] = {
#define CX_SETTING(name, field, type, dflt, range, agree, help)                \
    {name, CX_SETTING_##type, dflt, range, agree, help},
#include "base/settings.def"
#undef CX_SETTING
};

enum { NROWS = sizeof(rows) / sizeof(rows[0]) };

const struct cx_setting_row *cx_setting_rows(int *n)
{
    *n = NROWS;
    return rows;
}

void cx_settings_problem(struct cx_settings *s, const char *text)
{
    size_t used = strlen(s->problem);

    s->nproblems++;
    snprintf(s->problem + used, sizeof(s->problem) - used, "%s%s",
             used > 0 ? "; " : "", text);
}

int cx_parse_size(const char *text, size_t *out)
{
    unsigned long long value;
    int shift = 0;
    char *end;

    if (!isdigit((unsigned char)text[0]))
        return -1;
    value = strtoull(text, &end, 10);
    switch (toupper((unsigned char)*end)) {
    case 'K':
        shift = 10;
        break;
    case 'M':
        shift = 20;
        break;
    case 'G':
        shift = 30;
        break;
    case 'T':
        shift = 40;
        break;
    }
    end += shift > 0;
    if (*end == 'B' || *end == 'b')
        end++;
    if (*end != '\0' || value > (SIZE_MAX >> (shift + 1)))
        return -1;
    *out = (size_t)value << shift;
    return 0;
}

static int parse_bool(const char *text, long *out)
{
    static const char *const on[] = {"on", "1", "yes", "y", "true"};
    static const char *const off[] = {"off", "0", "no", "n", "false"};
    size_t i;

    for (i = 0; i < sizeof(on) / sizeof(on[0]); i++) {
        if (strcasecmp(text, on[i]) == 0)
            return *out = 1, 0;
        if (strcasecmp(text, off[i]) == 0)
            return *out = 0, 0;
    }
    return -1;
}

/* The position of `text` in the comma-separated `range`. */
static int parse_choice(const char *text, const char *range, long *out)
{
    long index = 0;
    size_t len;

    for (; *range != '\0'; index++) {
        len = strcspn(range, ",");
        if (strlen(text) == len && strncasecmp(text, range, len) == 0)
            return *out = index, 0;
        range += len;
        range += strspn(range, ", ");
    }
    return -1;
}

/* "LOW to HIGH", as written in the table. */
static int in_range(const char *range, size_t value)
{
    char low[32], high[32];
    size_t min, max;

    if (sscanf(range, "%31s to %31s", low, high) != 2 ||
        cx_parse_size(low, &min) != 0 || cx_parse_size(high, &max) != 0)
        return 1;
    return value >= min && value <= max;
}

static int parse_long(const char *text, long *out)
{
    size_t value;

    if (cx_parse_size(text, &value) != 0 ||
        !isdigit((unsigned char)text[strlen(text) - 1]))
        return -1;
    *out = (long)value;
    return 0;
}

static char *copy_text(const char *text)
{
    char *copy = cx_alloc(strlen(text) + 1, 1);

    return copy != NULL ? strcpy(copy, text) : NULL;
}

/* Stores `text` into the field of row `i`; 0 or -1 when malformed. */
static int store(struct cx_settings *s, int i, const char *text)
{
    const struct cx_setting_row *row = &rows[i];
    size_t size = 0;
    long number = 0;
    int bad = 0, k = 0;

    switch (row->type) {
    case CX_SETTING_BOOL:
        bad = parse_bool(text, &number);
        break;
    case CX_SETTING_CHOICE:
        bad = parse_choice(text, row->range, &number);
        break;
    case CX_SETTING_NUMBER:
        bad = parse_long(text, &number) != 0 ||
              !in_range(row->range, (size_t)number);
        break;
    case CX_SETTING_SIZE:
        bad = cx_parse_size(text, &size) != 0 || !in_range(row->range, size);
        break;
    case CX_SETTING_TEXT:
        break;
    }
    if (bad)
        return -1;
#define STORE_BOOL(field) s->field = number
#define STORE_CHOICE(field) s->field = number
#define STORE_NUMBER(field) s->field = number
#define STORE_SIZE(field) s->field = size
#define STORE_TEXT(field) cx_free(s->field), s->field = copy_text(text)
#define CX_SETTING(name, field, type, dflt, range, agree, help)                \
    if (k++ == i)                                                              \
        STORE_##type(field);
#include "base/settings.def"
#undef CX_SETTING
    return 0;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
    return (hash ^ 0xff) * 0x100000001b3ull;
}

static void load_row(struct cx_settings *s, int i)
{
    const char *text = getenv(rows[i].name);
    char problem[256];

    if (store(s, i, rows[i].dflt) != 0)
        cx_settings_problem(s, "bad default in the table");
    if (text == NULL || text[0] == '\0')
        text = rows[i].dflt;
    else if (store(s, i, text) != 0) {
        snprintf(problem, sizeof(problem),
                 "%s=%.40s is not valid (%s): using %s", rows[i].name, text,
                 rows[i].range, rows[i].dflt);
        cx_settings_problem(s, problem);
        text = rows[i].dflt;
    }
    if (rows[i].agree)
        s->hash = hash_text(s->hash, text);
}

static int min3(int a, int b, int c)
{
    int m = a < b ? a : b;

    return m < c ? m : c;
}

/* Levenshtein distance of two short names. */
static int distance(const char *a, size_t alen, const char *b)
{
    enum { LONGEST = 40 };
    int row[LONGEST + 1];
    size_t blen = strlen(b), i, j;

    if (alen > LONGEST || blen > LONGEST)
        return LONGEST;
    for (j = 0; j <= blen; j++)
        row[j] = (int)j;
    for (i = 1; i <= alen; i++) {
        int diagonal = row[0];

        row[0] = (int)i;
        for (j = 1; j <= blen; j++) {
            int above = row[j];

            row[j] = min3(above + 1, row[j - 1] + 1,
                          diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[blen];
}

static void check_name(struct cx_settings *s, const char *entry, size_t len)
{
    int i, best = 0, best_distance = 1000;
    char problem[256];

    for (i = 0; i < NROWS; i++) {
        int d = distance(entry, len, rows[i].name);

        if (d == 0)
            return;
        if (d < best_distance) {
            best_distance = d;
            best = i;
        }
    }
    snprintf(problem, sizeof(problem),
             "%.*s is not a setting (did you mean %s?): ignored",
             len > 60 ? 60 : (int)len, entry, rows[best].name);
    cx_settings_problem(s, problem);
}

void cx_settings_load(struct cx_settings *out)
{
    char **entry;
    int i;

    memset(out, 0, sizeof(*out));
    out->hash = 0xcbf29ce484222325ull;
    for (i = 0; i < NROWS; i++)
        load_row(out, i);
    for (entry = environ; entry != NULL && *entry != NULL; entry++) {
        if (strncmp(*entry, "COAX_", 5) == 0)
            check_name(out, *entry, strcspn(*entry, "="));
    }
}

void cx_settings_fini(struct cx_settings *settings)
{
    cx_free(settings->algo);
    cx_free(settings->net_devices);
    cx_free(settings->debug_file);
    memset(settings, 0, sizeof(*settings));
}
