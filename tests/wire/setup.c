/* SPDX-License-Identifier: BSD-3-Clause */
/* setup.c - starting a wire: what it leaves alone, what it refuses. */
#include "wire_test.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

static const int signo[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
enum { NSIGNO = sizeof(signo) / sizeof(signo[0]) };

/* Entry points that UCX can patch to hear of memory that goes away. */
static const char *const hooked[] = {"mmap",  "munmap", "mremap", "shmat",
                                     "shmdt", "brk",    "madvise"};
enum { NHOOKED = sizeof(hooked) / sizeof(hooked[0]), CODE = 16 };

static char errors[8192]; /* what the log said, by drain_log() */
static char log_path[64];

static void handler(int s, siginfo_t *info, void *context)
{
    (void)s;
    (void)info;
    (void)context;
}

static const char *drain_log(void)
{
    ssize_t n;
    int fd;

    cx_log_fini();
    fd = open(log_path, O_RDWR | O_CREAT, 0600);
    CHECK(fd >= 0);
    n = read(fd, errors, sizeof(errors) - 1);
    CHECK(n >= 0);
    errors[n] = '\0';
    CHECK(!ftruncate(fd, 0));
    close(fd);
    cx_log_init(CX_LOG_WARN, log_path, 0);
    return errors;
}

static void read_code(unsigned char code[NHOOKED][CODE])
{
    for (int i = 0; i < NHOOKED; i++) {
        void *fn = dlsym(RTLD_DEFAULT, hooked[i]);

        CHECK(fn);
        memcpy(code[i], fn, CODE);
    }
}

static void leaves_process_alone(void)
{
    unsigned char before[NHOOKED][CODE], after[NHOOKED][CODE];
    struct sigaction mine = {.sa_sigaction = handler,
                             .sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigaction now;
    struct cx_wire *wire;

    for (int i = 0; i < NSIGNO; i++)
        CHECK(!sigaction(signo[i], &mine, NULL));
    read_code(before);
    wire = wire_new();
    read_code(after);
    CHECK(!memcmp(before, after, sizeof(before)));
    cx_ucx_destroy(wire);
    for (int i = 0; i < NSIGNO; i++) {
        CHECK(!sigaction(signo[i], NULL, &now));
        CHECK(now.sa_sigaction == handler);
        CHECK((now.sa_flags & SA_SIGINFO) && (now.sa_flags & SA_RESTART));
        signal(signo[i], SIG_DFL);
    }
}

static void describes(void)
{
    struct cx_wire *wire = wire_new();
    char text[200], small[8];

    cx_ucx_describe(wire, text, sizeof(text));
    printf("%s\n", text);
    CHECK(!strncmp(text, "ucx ", 4) && strchr(text, ':'));
    CHECK(strstr(text, "tcp/"));
    CHECK(!strchr(text, '\n'));
    cx_ucx_describe(wire, small, sizeof(small));
    CHECK(strlen(small) < sizeof(small));
    cx_ucx_destroy(wire);
}

static void picks_devices(void)
{
    struct cx_wire *wire = NULL;
    char text[200];

    CHECK(cx_ucx_create("lo", &wire) == CX_OK);
    cx_ucx_describe(wire, text, sizeof(text));
    CHECK(strstr(text, "tcp/lo") && !strstr(text, "tcp/eth"));
    cx_ucx_destroy(wire);
    drain_log();

    static const char *const wrong[] = {"nosuch0", "lo,nosuch0", "l", "lo,,lo"};
    for (int i = 0; i < 4; i++) {
        wire = NULL;
        CHECK(cx_ucx_create(wrong[i], &wire) == CX_ERR_CONFIG);
        CHECK(!wire);
        drain_log();
        CHECK(strstr(errors, "COAX_NET_DEVICES") && strstr(errors, "lo"));
    }
}

static uint32_t blob_hash(const unsigned char *blob, size_t n)
{
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (i >= 4 && i < 8 ? 0 : blob[i])) * 16777619u;
    return hash;
}

/* Every single changed byte, every shorter length, another UCX. */
static void refuses_addresses(void)
{
    enum { CHECK_AT = 4, MINOR_AT = 36 };
    struct cx_wire *wire = wire_new();
    struct cx_peer *peer = NULL;
    unsigned char blob[4096];
    const void *addr;
    uint32_t hash;
    size_t n;

    addr = OPS->address(wire, &n);
    CHECK(n <= sizeof(blob));
    memcpy(blob, addr, n);
    for (size_t i = 0; i < n; i++) {
        blob[i] ^= 0x21;
        CHECK(OPS->peer_get(wire, blob, n, &peer) == CX_ERR_ARG);
        CHECK(OPS->peer_get(wire, addr, i, &peer) == CX_ERR_ARG);
        blob[i] ^= 0x21;
        drain_log();
    }
    blob[MINOR_AT] = 77;
    hash = blob_hash(blob, n);
    memcpy(blob + CHECK_AT, &hash, sizeof(hash));
    CHECK(OPS->peer_get(wire, blob, n, &peer) == CX_ERR_CONFIG);
    CHECK(!peer);
    drain_log();
    CHECK(strstr(errors, ".77") && strstr(errors, "here"));
    cx_ucx_destroy(wire);
}

/* An allocation that fails, one after the other, through a whole life. */
static int one_life(void)
{
    struct cx_wire *wire = NULL;
    struct cx_peer *peer = NULL;
    struct cx_req req[2] = {{.status = CX_OK}, {.status = CX_OK}};
    const void *addr;
    char in, out = 3;
    int whole = 0;
    size_t n;

    if (cx_ucx_create(NULL, &wire) != CX_OK)
        return 0;
    addr = OPS->address(wire, &n);
    if (OPS->peer_get(wire, addr, n, &peer) == CX_OK) {
        OPS->recv(wire, 1, ALL_BITS, &in, 1, &req[0]);
        OPS->send(wire, peer, 1, &out, 1, &req[1]);
        whole = req[0].status >= 0 && req[1].status >= 0;
        if (whole) {
            CHECK(drive(&wire, 1, &req[1]) == CX_OK);
            CHECK(drive(&wire, 1, &req[0]) == CX_OK && in == 3);
        }
        OPS->cancel(wire, &req[0]);
        OPS->peer_put(wire, peer);
    }
    cx_ucx_destroy(wire);
    return whole;
}

static void survives_no_memory(void)
{
    unsigned long nth = 1;
    int whole;

    for (whole = 0; !whole; nth++) {
        cx_alloc_fail_at(nth);
        whole = one_life();
        cx_alloc_fail_at(0);
        CHECK(cx_alloc_live() == 0);
        CHECK(nth < 100);
    }
    CHECK(nth > 4);
    drain_log();
    CHECK(strstr(errors, "no memory"));
}

/* In a normal life UCX prints (it does so on stdout) at most one warning about
 * the user's own unknown variable. */
static void is_quiet(void)
{
    char text[4096] = "", *hit;
    int fd = memfd_create("output", 0), saved[2] = {dup(1), dup(2)};
    ssize_t n;

    setenv("UCX_NO_SUCH_VARIABLE", "1", 1);
    fflush(stdout);
    CHECK(fd >= 0 && dup2(fd, 1) == 1 && dup2(fd, 2) == 2);
    for (int i = 0; i < 3; i++)
        CHECK(one_life());
    fflush(stdout);
    CHECK(dup2(saved[0], 1) == 1 && dup2(saved[1], 2) == 2);
    n = pread(fd, text, sizeof(text) - 1, 0);
    CHECK(n >= 0);
    hit = strchr(text, '\n');
    if (hit && (hit[1] || !strstr(text, "NO_SUCH_VARIABLE"))) {
        fprintf(stderr, "unexpected output: %s", text);
        CHECK(0);
    }
    close(fd);
    close(saved[0]);
    close(saved[1]);
    unsetenv("UCX_NO_SUCH_VARIABLE");
}

int main(void)
{
    snprintf(log_path, sizeof(log_path), "/tmp/coax-wire-setup-%d", getpid());
    cx_log_init(CX_LOG_WARN, log_path, 0);
    is_quiet();
    leaves_process_alone();
    describes();
    picks_devices();
    refuses_addresses();
    survives_no_memory();
    cx_log_fini();
    unlink(log_path);
    return 0;
}
