/* SPDX-License-Identifier: BSD-3-Clause */
/* visible.c - CUDA_VISIBLE_DEVICES in all its forms: which devices there are,
 * in which order, told by their UUIDs (SIMGPU_DEVICES=4). */
#include "t.h"

#define MACHINE 4

struct seen {
    int n;
    CUuuid uuid[MACHINE];
};

/* What a process of its own sees. */
static struct seen look(const char *list)
{
    int fds[2], status;
    struct seen s = {0};
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        if (list != NULL)
            setenv("CUDA_VISIBLE_DEVICES", list, 1);
        else
            unsetenv("CUDA_VISIBLE_DEVICES");
        CUresult rc = cuInit(0);
        if (rc == CUDA_SUCCESS)
            OK(cuDeviceGetCount(&s.n));
        else
            IS(rc, CUDA_ERROR_NO_DEVICE);
        for (int i = 0; i < s.n; i++)
            OK(cuDeviceGetUuid(&s.uuid[i], i));
        t_send(fds[1], &s, sizeof(s));
        exit(0);
    }
    t_receive(fds[0], &s, sizeof(s));
    close(fds[0]);
    close(fds[1]);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    return s;
}

static struct seen all;

/* With list, the program sees these devices of the machine, as in "20". */
static void shows(const char *list, const char *devices)
{
    struct seen s = look(list);
    int good = s.n == (int)strlen(devices);
    for (int i = 0; good && i < s.n; i++)
        good = memcmp(&s.uuid[i], &all.uuid[devices[i] - '0'],
                      sizeof(s.uuid[i])) == 0;
    if (!good)
        fprintf(stderr, "CUDA_VISIBLE_DEVICES='%s' does not show '%s'\n", list,
                devices);
    CHECK(good);
}

/* "GPU-" and the first len characters of what follows for device i. */
static const char *name(int i, int len)
{
    static char text[2][64];
    static int which;
    const unsigned char *b = (const unsigned char *)all.uuid[i].bytes;
    char full[64], *out = text[which = !which];
    int n = snprintf(full, sizeof(full), "GPU-");
    for (int k = 0; k < 16; k++)
        n += snprintf(full + n, sizeof(full) - (size_t)n, "%s%02x",
                      k == 4 || k == 6 || k == 8 || k == 10 ? "-" : "", b[k]);
    snprintf(out, sizeof(text[0]), "%.*s", 4 + len, full);
    return out;
}

int main(void)
{
    char list[200];
    all = look(NULL);
    CHECK(all.n == MACHINE);
    shows("0", "0");
    shows("2,0", "20");
    shows("3, 1 ,2", "312");
    shows("", "");
    shows("-1", "");
    shows("1,-1,2", "1");
    shows("1,7,2", "1");
    shows("1,,2", "1");
    shows("1,2,1", "");
    shows("NoDevFiles", "");
    shows(name(2, 36), "2");
    shows(name(3, 20), "3");
    shows("GPU-", "");
    shows("GPU-zz", "");
    shows("MIG-0", "");
    snprintf(list, sizeof(list), "%s,0,%s", name(2, 36), name(1, 30));
    shows(list, "201");
    snprintf(list, sizeof(list), "%s,2", name(2, 36));
    shows(list, "");
    return 0;
}
