/* SPDX-License-Identifier: BSD-3-Clause */
/* test_log.c - one line a message, in the file that was asked for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/check.h"
#include "base/log.h"

int main(void)
{
    char dir[] = "/tmp/coax-log-XXXXXX", path[128], want[128], line[2048];
    FILE *file;

    CHECK(mkdtemp(dir) != NULL);
    snprintf(path, sizeof(path), "%s/log.%%r.%%p", dir);
    snprintf(want, sizeof(want), "%s/log.3.%d", dir, (int)getpid());
    cx_log_init(CX_LOG_WARN, path, 3);
    cx_warn("first %d", 1);
    cx_info("not asked for");
    cx_error("%01500d", 7); /* cut, still one line */
    cx_log_fini();
    file = fopen(want, "r");
    CHECK(file != NULL);
    if (file != NULL) {
        CHECK(fgets(line, sizeof(line), file) != NULL);
        CHECK(strstr(line, "rank 3] first 1\n") != NULL);
        CHECK(fgets(line, sizeof(line), file) != NULL);
        CHECK(line[strlen(line) - 1] == '\n');
        CHECK(strncmp(line, "coax: error:", 12) == 0);
        CHECK(fgets(line, sizeof(line), file) == NULL);
        fclose(file);
    }
    unlink(want);
    rmdir(dir);
    return check_failures != 0;
}
