/* SPDX-License-Identifier: BSD-3-Clause */
/* guard.c - every function that must refuse GPU memory: called with it, with
 * host memory, and with GPU memory that it would not touch.
 *
 * guard --scratch=FOLDER [--old], on the simulated GPU. Each rank works alone,
 * on MPI_COMM_SELF, and puts device memory into another one of a function's
 * buffers. Prints a line "expect RANK FUNCTION ARGUMENT" for each message that
 * Coax should print. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guard_table.h"
#include "mt.h"
#include "mtbuf.h"

#define ROOM 4096

enum { HOST, NOTHING, DEVICE }; /* what a call gets */

static int old; /* the MPI has no large-count forms: Coax makes them up */
static MPI_Comm comm, ring;
static MPI_Win win, dynamic, made;
static MPI_File file;
static MPI_Request request;
static MPI_Message message;
static int raised[3], raised_class; /* by communicator, window, file */
static unsigned char *host;
static struct mt_buf device;

static void on_error(int which, int code)
{
    raised[which]++;
    MPI_Error_class(code, &raised_class);
}

static void on_comm(MPI_Comm *c, int *code, ...)
{
    (void)c;
    on_error(0, *code);
}

static void on_win(MPI_Win *w, int *code, ...)
{
    (void)w;
    on_error(1, *code);
}

static void on_file(MPI_File *f, int *code, ...)
{
    (void)f;
    on_error(2, *code);
}

/* Arguments of both widths. */
static struct {
    int counts[2], displs[2], position;
    MPI_Count lcounts[2], lposition;
    MPI_Aint ldispls[2];
    MPI_Datatype types[2];
} lists;

static void set_lists(int n)
{
    memset(&lists, 0, sizeof lists);
    for (int i = 0; i < 2; i++) {
        lists.counts[i] = n;
        lists.lcounts[i] = n;
        lists.types[i] = MPI_INT;
    }
}

static uintptr_t pointer_argument(char letter, int large, int mode, int is_it)
{
    switch (letter) {
    case 'b':
        return (uintptr_t)(mode == NOTHING || is_it ? device.ptr : host);
    case 'q':
        return (uintptr_t)&request;
    case 's':
        return (uintptr_t)MPI_STATUS_IGNORE;
    case 'm':
        return (uintptr_t)&message;
    case 'e':
        return (uintptr_t) "external32";
    case 'P':
        return large ? (uintptr_t)&lists.lposition : (uintptr_t)&lists.position;
    case 'a':
        return large ? (uintptr_t)lists.lcounts : (uintptr_t)lists.counts;
    case 'v':
        return large ? (uintptr_t)lists.ldispls : (uintptr_t)lists.displs;
    case 'V':
        return (uintptr_t)lists.ldispls;
    case 'T':
        return (uintptr_t)lists.types;
    default:
        return (uintptr_t)&made; /* 'W' */
    }
}

static uintptr_t argument(char letter, int large, int mode, int is_it)
{
    switch (letter) {
    case 'n':
        return mode != NOTHING;
    case 'z':
        return mode == NOTHING ? 0 : 2048;
    case 't':
        return (uintptr_t)MPI_INT;
    case 'r':
        return (uintptr_t)(mode == DEVICE ? 0 : MPI_PROC_NULL);
    case 'R':
    case 'g':
    case 'd':
        return 0;
    case 'u':
    case 'p':
        return 1;
    case 'o':
        return (uintptr_t)MPI_SUM;
    case 'i':
        return (uintptr_t)MPI_INFO_NULL;
    case 'C':
        return (uintptr_t)comm;
    case 'N':
        return (uintptr_t)ring;
    case 'w':
        return (uintptr_t)win;
    case 'D':
        return (uintptr_t)dynamic;
    case 'f':
        return (uintptr_t)file;
    default:
        return pointer_argument(letter, large, mode, is_it);
    }
}

typedef int (*any_fn)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                      uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                      uintptr_t, uintptr_t, uintptr_t);

static any_fn find(const char *name)
{
    any_fn fn;

    *(void **)&fn = dlsym(RTLD_DEFAULT, name);
    if (!fn)
        mt_die("no function %s", name);
    return fn;
}

static int call(const char *name, const char *letters, int large, int mode,
                int which)
{
    uintptr_t a[13] = {0};
    int buffer = 0;

    set_lists(mode != NOTHING);
    memset(raised, 0, sizeof raised);
    message = MPI_MESSAGE_NO_PROC;
    request = (MPI_Request)0x12345;
    made = MPI_WIN_NULL;
    for (int i = 0; letters[i]; i++) {
        int is_it = mode == DEVICE && buffer == which;

        a[i] = argument(letters[i], large, mode, is_it);
        if (letters[i] == 'b') /* buffers must not overlap */
            a[i] += (uintptr_t)(256 * buffer++);
    }
    return find(name)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8],
                      a[9], a[10], a[11], a[12]);
}

/* What a call that went through has left. */
static void clean_up(const char *name, const char *letters)
{
    char end[64];
    void *ptr;
    int size;

    if (strchr(letters, 'q') && strstr(name, "_init"))
        MPI_Request_free(&request);
    else if (strchr(letters, 'q'))
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (strstr(name, "Buffer_attach"))
        MPI_Buffer_detach(&ptr, &size);
    if (made != MPI_WIN_NULL)
        MPI_Win_free(&made);
    if (strstr(name, "_begin")) {
        snprintf(end, sizeof end, "%.*s_end",
                 (int)(strstr(name, "_begin") - name), name);
        find(end)((uintptr_t)file, (uintptr_t)host,
                  (uintptr_t)MPI_STATUS_IGNORE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    }
}

static void passes(const char *name, const char *letters, int large, int mode)
{
    int rc;

    if (strstr(name, "attach") && mode == NOTHING)
        return; /* nothing to attach is an error of its own */
    if (strchr(letters, 'p'))
        return; /* MPICH 4.0.2 alone crashes for MPI_PROC_NULL */
    rc = call(name, letters, large, mode, 0);
    mt_check(rc == MPI_SUCCESS && raised[0] + raised[1] + raised[2] == 0,
             "%s with %s is refused: %d", name,
             mode == HOST ? "host memory" : "device memory and no data", rc);
    if (rc != MPI_SUCCESS)
        return;
    clean_up(name, letters);
    if (strchr(letters, 'D'))
        MPI_Win_detach(dynamic, host);
}

/* The text of the code is ours or that of its class, not of some other error.
 */
static void check_text(const char *name, int rc)
{
    char text[MPI_MAX_ERROR_STRING] = "", of_class[MPI_MAX_ERROR_STRING] = "";
    int len;

    MPI_Error_string(rc, text, &len);
    MPI_Error_string(MPI_ERR_BUFFER, of_class, &len);
    mt_check(!strncmp(text, "Coax: ", 6) || !strcmp(text, of_class),
             "%s: the code's text is '%s'", name, text);
}

static void refuses(const char *name, const char *letters, int large, int which)
{
    int object = strchr(letters, 'f') ? 2 : strpbrk(letters, "wD") ? 1 : 0;
    int rc = call(name, letters, large, DEVICE, which), class = -1;

    MPI_Error_class(rc, &class);
    mt_check(class == MPI_ERR_BUFFER, "%s returns class %d", name, class);
    check_text(name, rc);
    mt_check(raised[object] == 1 && raised[0] + raised[1] + raised[2] == 1,
             "%s: handlers called: %d of the communicator, %d of the window, "
             "%d of the file",
             name, raised[0], raised[1], raised[2]);
    mt_check(raised_class == MPI_ERR_BUFFER, "%s: the handler got class %d",
             name, raised_class);
    mt_check(!strchr(letters, 'q') || request == MPI_REQUEST_NULL,
             "%s leaves a request", name);
}

/* Without a large-count form in MPI, arrays cannot be kept for it. */
static void unsupported(const char *name, const char *letters)
{
    int class = -1;

    MPI_Error_class(call(name, letters, 1, HOST, 0), &class);
    mt_check(class == MPI_ERR_UNSUPPORTED_OPERATION, "%s returns class %d",
             name, class);
}

static void form(const struct guarded *g, int large)
{
    const char *at = g->buffers;
    char name[64];
    int n = 1, which;

    for (const char *p = g->buffers; *p; p++)
        n += *p == ' ';
    which = mt.rank % n;
    for (int i = 0; i < which; i++)
        at = strchr(at, ' ') + 1;
    snprintf(name, sizeof name, "MPI_%s%s", g->name, large ? "_c" : "");
    if (old && large && strchr(g->letters, 'a')) {
        unsupported(name, g->letters);
        return;
    }
    passes(name, g->letters, large, HOST);
    passes(name, g->letters, large, NOTHING);
    refuses(name, g->letters, large, which);
    refuses(name, g->letters, large, which);
    fflush(stdout);
    printf("expect %d %s %.*s\n", mt.rank, name, (int)strcspn(at, " "), at);
}

/* At a rank that is not the root the buffer is not looked at. */
static void not_the_root(void)
{
    void *there = mt.rank == 0 ? (void *)host : (void *)device.ptr;
    MPI_Request r = MPI_REQUEST_NULL;

    mt_check(MPI_Ireduce(host + 64, there, 1, MPI_INT, MPI_SUM, 0,
                         MPI_COMM_WORLD, &r) == MPI_SUCCESS,
             "a buffer that is not used is refused");
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    mt_check(MPI_Igather(host + 64, 1, MPI_INT, there, 1, MPI_INT, 0,
                         MPI_COMM_WORLD, &r) == MPI_SUCCESS,
             "a buffer that is not used is refused");
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void set_up(const char *scratch)
{
    int one = 1, yes = 1;
    MPI_Errhandler for_comm, for_win, for_file;
    char path[500];

    mt_cuda_open();
    host = mt_alloc(ROOM);
    memset(host, 0, ROOM);
    mt_buf_create(&device, MT_DEVICE, ROOM, 0);
    mt_buf_arm(&device, ROOM, 0);
    MPI_Comm_create_errhandler(on_comm, &for_comm);
    MPI_Win_create_errhandler(on_win, &for_win);
    MPI_File_create_errhandler(on_file, &for_file);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Cart_create(comm, 1, &one, &yes, 0, &ring);
    MPI_Win_create(host, ROOM, 1, MPI_INFO_NULL, comm, &win);
    MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &dynamic);
    MPI_Win_lock_all(0, win);
    snprintf(path, sizeof path, "%s/guard.%d", scratch, mt.rank);
    MPI_File_open(comm, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL,
                  &file);
    MPI_Comm_set_errhandler(comm, for_comm);
    MPI_Comm_set_errhandler(ring, for_comm);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, for_comm);
    MPI_Win_set_errhandler(win, for_win);
    MPI_Win_set_errhandler(dynamic, for_win);
    MPI_File_set_errhandler(file, for_file);
    MPI_Errhandler_free(&for_comm);
    MPI_Errhandler_free(&for_win);
    MPI_Errhandler_free(&for_file);
}

int main(int argc, char **argv)
{
    old = mt_option(argc, argv, "old", NULL) != NULL;
    mt_init();
    set_up(mt_option(argc, argv, "scratch", "/tmp"));
    for (int i = 0; i < nguarded; i++) {
        form(&guarded[i], 0);
        if (!guarded[i].plain_only)
            form(&guarded[i], 1);
    }
    not_the_root();
    MPI_File_close(&file);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Win_free(&dynamic);
    MPI_Comm_free(&ring);
    MPI_Comm_free(&comm);
    return mt_finish();
}
