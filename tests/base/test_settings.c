/* SPDX-License-Identifier: BSD-3-Clause */
/* test_settings.c - values, defaults, and what is said about bad ones. */
#include <stdlib.h>
#include <string.h>

#include "../base/check.h"
#include "base/alloc.h"
#include "base/settings.h"

static struct cx_settings load_with(const char *name, const char *value)
{
    struct cx_settings s;

    if (name != NULL)
        setenv(name, value, 1);
    cx_settings_load(&s);
    if (name != NULL)
        unsetenv(name);
    return s;
}

static void test_defaults(void)
{
    struct cx_settings s = load_with(NULL, NULL);

    CHECK(s.enabled == 1);
    CHECK(s.scope == CX_SCOPE_AUTO);
    CHECK(s.small == 4096);
    CHECK(s.timeout_s == 30);
    CHECK(s.stats == 0);
    CHECK(strcmp(s.algo, "") == 0);
    CHECK(s.nproblems == 0);
    cx_settings_fini(&s);
}

static void test_values(void)
{
    struct cx_settings s = load_with("COAX_SMALL", "64K");

    CHECK(s.small == 65536);
    cx_settings_fini(&s);
    s = load_with("COAX", "OFF");
    CHECK(s.enabled == 0);
    cx_settings_fini(&s);
    s = load_with("COAX_SCOPE", "device");
    CHECK(s.scope == CX_SCOPE_DEVICE && s.nproblems == 0);
    cx_settings_fini(&s);
    s = load_with("COAX_ALGO", "allreduce:ring");
    CHECK(strcmp(s.algo, "allreduce:ring") == 0);
    cx_settings_fini(&s);
}

static void test_bad_values(void)
{
    static const char *const bad[][2] = {
        {"COAX_SMALL", "4 K"},  {"COAX_SMALL", "-1"},
        {"COAX_SMALL", "2G"},   {"COAX_SCOPE", "gpu"},
        {"COAX_TIMEOUT", "0"},  {"COAX_TIMEOUT", "1K"},
        {"COAX", "maybe"},      {"COAX_STATS", "2"},
        {"COAX_DEBUG", "loud"}, {"COAX_SMALL", "99999999999999999999"},
    };
    size_t i;

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct cx_settings s = load_with(bad[i][0], bad[i][1]);

        CHECK(s.nproblems == 1);
        CHECK(strstr(s.problem, bad[i][0]) != NULL);
        CHECK(s.small == 4096 && s.timeout_s == 30 && s.enabled == 1);
        cx_settings_fini(&s);
    }
}

static void test_unknown_name(void)
{
    struct cx_settings s = load_with("COAX_SCOP", "all");

    CHECK(s.nproblems == 1);
    CHECK(strstr(s.problem, "COAX_SCOPE") != NULL);
    cx_settings_fini(&s);
}

static void test_hash(void)
{
    struct cx_settings a = load_with(NULL, NULL);
    struct cx_settings b = load_with("COAX_ALGO", "allreduce:ring");
    struct cx_settings c = load_with("COAX_DEBUG", "info");
    struct cx_settings d = load_with("COAX_SCOPE", "nonsense");

    CHECK(a.hash != b.hash); /* must be equal on all ranks */
    CHECK(a.hash == c.hash); /* may differ */
    CHECK(a.hash == d.hash); /* falls back to the default */
    cx_settings_fini(&a);
    cx_settings_fini(&b);
    cx_settings_fini(&c);
    cx_settings_fini(&d);
}

int main(void)
{
    test_defaults();
    test_values();
    test_bad_values();
    test_unknown_name();
    test_hash();
    CHECK(cx_alloc_live() == 0);
    return check_failures != 0;
}
