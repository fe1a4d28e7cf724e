/* SPDX-License-Identifier: BSD-3-Clause */
/* run_program.c - finds the program and tells whether it can be preloaded.
 *
 * The loader ignores LD_PRELOAD without a word for static and set-uid
 * programs. They are started, with one line that says that Coax is not there;
 * refused where COAX_ALGO forces an algorithm that nobody would run. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cli/run.h"

#define SCRIPT_LINE 256 /* what the kernel reads of a script's first line */
#define SCRIPT_DEPTH 4
#define MAX_HEADERS 128

/* Looks through PATH; 0 with `out` filled. EACCES when a file of the name is
 * there but cannot be executed. */
static int search_path(const char *name, char *out)
{
    const char *path = getenv("PATH");
    char *copy = strdup(path ? path : "/usr/local/bin:/usr/bin:/bin");
    char *rest = copy, *dir;
    int error = copy ? ENOENT : ENOMEM;
    char file[PATH_MAX];

    while (error && (dir = strsep(&rest, ":"))) {
        struct stat st;
        int n = snprintf(file, sizeof file, "%s/%s", *dir ? dir : ".", name);

        if (n >= PATH_MAX || stat(file, &st) || !S_ISREG(st.st_mode))
            continue;
        error = access(file, X_OK) ? EACCES : 0;
        strcpy(out, file); /* of several, the one that error is about */
    }
    free(copy);
    return error;
}

static int not_found(const char *name)
{
    if (strchr(name, '/'))
        return cli_fail(CLI_NOT_FOUND, "program %s: %s", name, strerror(errno));
    if (access(name, F_OK) == 0)
        return cli_fail(CLI_NOT_FOUND,
                        "program %s is not in PATH; did you mean ./%s?", name,
                        name);
    return cli_fail(CLI_NOT_FOUND,
                    "program %s is not in PATH; give its path, such as ./%s",
                    name, name);
}

int run_find_program(const char *name, char *out)
{
    struct stat st;

    if (!strchr(name, '/')) {
        int error = *name ? search_path(name, out) : ENOENT;

        if (error == EACCES)
            return cli_fail(CLI_CANNOT_EXECUTE,
                            "%s is not executable; chmod +x would make it so",
                            out);
        return error ? not_found(name) : 0;
    }
    if (cli_join(out, PATH_MAX, name, "") || stat(name, &st))
        return not_found(name);
    if (S_ISDIR(st.st_mode))
        return cli_fail(CLI_CANNOT_EXECUTE, "%s is a folder, not a program",
                        name);
    if (access(name, X_OK))
        return cli_fail(CLI_CANNOT_EXECUTE,
                        "%s is not executable; chmod +x would make it so",
                        name);
    return 0;
}

/* Coax cannot get into the program, and says why; the program runs all the
 * same on plain MPI, unless the user has forced something. */
static int cannot_preload(const char *path, const char *why)
{
    const char *algo = getenv("COAX_ALGO");

    if (algo && *algo)
        return cli_fail(CLI_CANNOT_EXECUTE,
                        "%s %s: COAX_ALGO cannot be obeyed; unset it to run "
                        "without Coax",
                        path, why);
    cli_warn("%s %s: running without Coax", path, why);
    return 0;
}

/* Would the kernel start it in secure mode, where preloads are ignored? */
static int check_secure(const char *path)
{
    struct stat st;

    if (stat(path, &st))
        return 0;
    if ((st.st_mode & S_ISUID && st.st_uid != getuid()) ||
        (st.st_mode & S_ISGID && st.st_gid != getgid()) ||
        (getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0))
        return cannot_preload(path,
                              "has a set-uid, set-gid or capability mark, and "
                              "the loader ignores preloads there (a copy "
                              "without the mark would do)");
    return 0;
}

/* 1 when the program asks for a loader, whose path goes to `out` (PATH_MAX
 * bytes); 0 when not, -1 when unreadable. */
static int find_loader(int fd, const Elf64_Ehdr *header, char *out)
{
    Elf64_Phdr segment;

    if (header->e_phnum > MAX_HEADERS)
        return -1;
    for (int i = 0; i < header->e_phnum; i++) {
        off_t at = (off_t)header->e_phoff + (off_t)i * header->e_phentsize;

        if (pread(fd, &segment, sizeof segment, at) != (ssize_t)sizeof segment)
            return -1;
        if (segment.p_type != PT_INTERP)
            continue;
        if (segment.p_filesz >= PATH_MAX ||
            pread(fd, out, segment.p_filesz, (off_t)segment.p_offset) !=
                (ssize_t)segment.p_filesz)
            return -1;
        out[segment.p_filesz] = '\0';
        return 1;
    }
    return 0;
}

/* What this very executable is can be served: its machine and its loader. */
static int own_machine(char *loader)
{
    Elf64_Ehdr own = {0};
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    int machine = -1;

    *loader = '\0';
    if (fd < 0)
        return -1;
    if (read(fd, &own, sizeof own) == (ssize_t)sizeof own) {
        machine = own.e_machine;
        (void)find_loader(fd, &own, loader);
    }
    close(fd);
    return machine;
}

/* The loader called by name, "ld-linux-x86-64.so.2 ./app": it has no loader of
 * its own either, but preloads into what it starts. */
static int is_loader(int fd, const char *loader)
{
    struct stat program, ours;

    return fstat(fd, &program) == 0 && stat(loader, &ours) == 0 &&
           program.st_ino == ours.st_ino && program.st_dev == ours.st_dev;
}

static int check_elf(const char *path, int fd, const Elf64_Ehdr *header)
{
    char own[PATH_MAX], loader[PATH_MAX];

    if (header->e_ident[EI_CLASS] != ELFCLASS64)
        return cannot_preload(path, "is a 32-bit program, and Coax serves "
                                    "64-bit ones only");
    if (header->e_machine != own_machine(own))
        return cli_fail(CLI_CANNOT_EXECUTE,
                        "%s is for another kind of processor (ELF machine "
                        "%d); rebuild it for this one",
                        path, header->e_machine);
    if (find_loader(fd, header, loader) == 0 && !is_loader(fd, own))
        return cannot_preload(path, "is statically linked, so nothing can be "
                                    "preloaded (link it dynamically)");
    return 0;
}

/* Cuts the interpreter's path out of a first line "#! path argument". */
static const char *interpreter(char *line)
{
    char *path = line + 2 + strspn(line + 2, " \t");

    path[strcspn(path, " \t\r\n")] = '\0';
    return path;
}

static int check_file(const char *path, int depth)
{
    union {
        Elf64_Ehdr elf;
        char line[SCRIPT_LINE + 1];
    } head = {.line = ""};
    int fd, code = check_secure(path);
    ssize_t n;

    if (code)
        return code;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0; /* executable but not readable: the kernel decides */
    n = read(fd, head.line, SCRIPT_LINE);
    if (n >= (ssize_t)sizeof head.elf &&
        memcmp(head.elf.e_ident, ELFMAG, SELFMAG) == 0)
        code = check_elf(path, fd, &head.elf);
    else if (n > 2 && memcmp(head.line, "#!", 2) == 0) {
        const char *next = interpreter(head.line);

        if (access(next, X_OK))
            code = cli_fail(CLI_CANNOT_EXECUTE,
                            "%s asks for the interpreter '%s': %s", path, next,
                            strerror(errno));
        else if (depth < SCRIPT_DEPTH)
            code = check_file(next, depth + 1);
    }
    close(fd);
    return code;
}

int run_check_program(const char *path)
{
    return check_file(path, 0);
}
