# SPDX-License-Identifier: BSD-3-Clause
# tables.awk - compares coll.def and guard.def with the declarations of mpi.h:
# numbers, names and types of arguments; and finds functions with a choice
# buffer that stand in no table, or in the list of exceptions for no reason.
#
# awk -f tables.awk HEADER... coll.def guard.def wrap.def exceptions

function bad(text)
{
    print text
    failures++
}

# All of a file without comments and line breaks.
function slurp(file,    text, line)
{
    text = ""
    while ((getline line <file) > 0)
        text = text " " line
    close(file)
    while (match(text, /\/\*([^*]|\*+[^*\/])*\*+\//))
        text = substr(text, 1, RSTART - 1) " " substr(text, RSTART + RLENGTH)
    return text
}

# Declarations: nparams[f], type[f, i], name[f, i], choice[f].
function read_header(file,    text, part, n, i, f, params, k, word)
{
    n = split(slurp(file), part, ";")
    for (i = 1; i <= n; i++) {
        if (!match(part[i], /int +MPIX?_[A-Za-z_0-9]+ *\(/) ||
            part[i] ~ /typedef/)
            continue
        f = substr(part[i], RSTART, RLENGTH)
        gsub(/^int +| *\($/, "", f)
        params = substr(part[i], RSTART + RLENGTH)
        sub(/\)[^)]*$/, "", params)
        sub(/\) *(MPICH_|ROMIO_).*/, "", params)
        nparams[f] = params ~ /^ *void *$/ ? 0 : split(params, word, ",")
        for (k = 1; k <= nparams[f]; k++) {
            sub(/\[\] *$/, "", word[k])
            match(word[k], /[A-Za-z_0-9]+ *$/)
            name[f, k - 1] = substr(word[k], RSTART)
            gsub(/ /, "", name[f, k - 1])
            type[f, k - 1] = substr(word[k], 1, RSTART - 1)
            if (type[f, k - 1] ~ /void *\* *$/)
                choice[f] = 1
        }
    }
}

# Rows of a table: row[1..nrows], each in one line.
function read_rows(file,    text, at, depth, c)
{
    text = slurp(file)
    nrows = 0
    while (match(text, / CX_(COLL|COLL_SERVED|COLL_LOCAL|GUARD|GUARD_ONE)\([A-Z]/)) {
        text = substr(text, RSTART + 1)
        depth = 0
        for (at = 1; at <= length(text); at++) {
            c = substr(text, at, 1)
            depth += (c == "(") - (c == ")")
            if (c == ")" && depth == 0)
                break
        }
        row[++nrows] = substr(text, 1, at)
        gsub(/[ "]/, "", row[nrows])
        text = substr(text, at)
    }
}

# Argument `i` of f must have a type and a name like these.
function expect(f, i, like_type, like_name)
{
    if (!(f in nparams))
        return
    if (type[f, i] !~ like_type || name[f, i] !~ like_name)
        bad(f ": argument " i " is '" type[f, i] name[f, i] "', not like '" \
            like_type "' and '" like_name "'")
    checks++
}

function has_args(f, n)
{
    known[f] = 1
    if (!(f in nparams))
        return bad("mpi.h declares no " f)
    if (nparams[f] != n)
        bad(f " has " nparams[f] " arguments, not " n)
    checks++
}

# Cuts the first field off `rest`: up to a comma outside of parentheses.
function field(    at, depth, c, out)
{
    depth = 0
    for (at = 1; at <= length(rest); at++) {
        c = substr(rest, at, 1)
        if (c == "," && depth == 0)
            break
        depth += (c == "(") - (c == ")")
    }
    out = substr(rest, 1, at - 1)
    rest = substr(rest, at + 1)
    return out
}

function check_side(f, side, buffer,    word, n, i, layout)
{
    if (side == "NONE")
        return
    n = split(side, word, /[(),]/)
    layout = word[1]
    i = layout ~ /^(EACH|VEC|WVEC)$/ ? 3 : 2
    expect(f, word[i] + 0, "void *[*]", buffer)
    seen[f, word[i] + 0] = 1
    expect(f, word[i + 1] + 0, "int|MPI_Count", "count")
    if (layout ~ /VEC/)
        expect(f, word[++i + 1] + 0, "int|MPI_Aint", "displs")
    expect(f, word[i + 2] + 0, "MPI_Datatype", "type")
}

# Every choice buffer of f must have been met.
function all_seen(f,    i)
{
    for (i = 0; i < nparams[f]; i++)
        if (type[f, i] ~ /void *\* *$/ && !((f, i) in seen))
            bad(f ": buffer " name[f, i] " is not in the table")
}

function check_coll_form(f, n, send, recv, root, comm)
{
    has_args(f, n)
    check_side(f, send, "^(sendbuf|inbuf)$")
    check_side(f, recv, "^(recvbuf|buffer|inoutbuf)$")
    if (root >= 0)
        expect(f, root, "int", "^root$")
    if (comm >= 0)
        expect(f, comm, "MPI_Comm", "^comm$")
    all_seen(f)
}

function check_coll(text,    what, base, stem, n, in_, pn, send, recv, root, comm, c)
{
    rest = substr(text, index(text, "(") + 1)
    what = substr(text, 1, index(text, "(") - 1)
    base = field()
    if (what == "CX_COLL_LOCAL") {
        n = field(); send = field(); recv = field()
        check_coll_form("MPI_" base, n, send, recv, -1, -1)
        check_coll_form("MPI_" base "_c", n, send, recv, -1, -1)
        return
    }
    stem = field(); n = field(); in_ = field(); pn = field()
    send = field(); recv = field(); root = field() + 0; comm = field() + 0
    for (c = 0; c < 2; c++) {
        check_coll_form("MPI_" base (c ? "_c" : ""), n, send, recv, root, comm)
        check_coll_form("MPI_I" stem (c ? "_c" : ""), in_, send, recv, root,
            comm)
        check_coll_form("MPI_" base "_init" (c ? "_c" : ""), pn, send, recv,
            root, comm)
    }
}

function check_buffer(f, text,    word, what)
{
    split(text, word, /[(),]/)
    what = word[1]
    expect(f, word[3] + 0, "void *[*]", "^" word[2] "$")
    seen[f, word[3] + 0] = 1
    if (what ~ /BYTES/) {
        expect(f, word[4] + 0, what == "ABYTES" || f ~ /_c$/ ? \
            "MPI_Aint|MPI_Count" : "^ *int", "size")
        return
    }
    if (word[4] != "NO")
        expect(f, word[4] + 0, what == "PARTS" || f ~ /_c$/ ? "MPI_Count" : \
            "^ *int", "count")
    expect(f, word[5] + 0, "MPI_Datatype", "type")
    if (word[6] != "NO")
        expect(f, word[6] + 0, "int", "^(dest|source|target_rank)$")
    if (what == "BUF_NO_OP")
        expect(f, word[7] + 0, "MPI_Op", "^op$")
}

function check_guard_form(f, n, object, request, buffers,    save, word)
{
    has_args(f, n)
    split(object, word, /[()]/)
    if (word[1] == "COMM")
        expect(f, word[2] + 0, "MPI_Comm", "^comm$")
    else if (word[1] == "WIN")
        expect(f, word[2] + 0, "MPI_Win", "^win$")
    else if (word[1] == "FILE")
        expect(f, word[2] + 0, "MPI_File", "^fh$")
    if (request != "NO")
        expect(f, request + 0, "MPIO?_Request", "^request$")
    else if (type[f, n - 1] ~ /MPIO?_Request/)
        bad(f ": its request is not in the table")
    save = rest
    rest = buffers
    while (rest != "")
        check_buffer(f, field())
    rest = save
    all_seen(f)
}

function check_guard(text,    what, base, n, object, request, buffers)
{
    what = substr(text, 1, index(text, "(") - 1)
    rest = substr(text, index(text, "(") + 1)
    sub(/\)$/, "", rest)
    base = field(); n = field(); object = field(); request = field()
    buffers = rest
    check_guard_form("MPI_" base, n, object, request, buffers)
    if (what == "CX_GUARD")
        check_guard_form("MPI_" base "_c", n, object, request, buffers)
    else if (("MPI_" base "_c") in nparams)
        bad("MPI_" base "_c exists, but the table has the plain form only")
}

BEGIN {
    for (i = 1; i < ARGC - 4; i++)
        read_header(ARGV[i])
    read_rows(ARGV[ARGC - 4])
    for (i = 1; i <= nrows; i++)
        check_coll(row[i])
    colls = nrows
    read_rows(ARGV[ARGC - 3])
    for (i = 1; i <= nrows; i++)
        check_guard(row[i])
    # Names that stand alone in wrap.def have wrappers of their own.
    while ((getline line <ARGV[ARGC - 2]) > 0)
        if (match(line, /^CX_WRAP\([A-Za-z_]+\)/))
            known["MPI_" substr(line, 9, RLENGTH - 9)] = 1
    while ((getline line <ARGV[ARGC - 1]) > 0) {
        if (line ~ /^#/ || line == "")
            continue
        split(line, word, " ")
        if (word[2] == "")
            bad(word[1] ": no reason given")
        if (!(word[1] in choice))
            bad(word[1] ": has no choice buffer, or is not in mpi.h")
        if (word[1] in known)
            bad(word[1] ": in a table and in the list of exceptions")
        known[word[1]] = 1
    }
    for (f in choice)
        if (!(f in known))
            bad(f " has a choice buffer and is in no table")
    if (checks < 1500 || colls < 20)
        bad("only " checks " checks of " colls " collectives: the files were " \
            "not understood")
    printf "%d checks\n", checks
    exit failures > 0
}
