# SPDX-License-Identifier: BSD-3-Clause
# layers.awk - who may include what; run over files of src/, include/ and
# examples/, named relative to the top of the tree. Prints every breach.
#
#   pmpi -> engine -> {coll, ucx, cuda, tune} -> base
#
# The front meets the engine only through base/bridge.h.

BEGIN {
    allow["base"] = "base"
    allow["coll"] = "coll base"
    allow["ucx"] = "ucx base"
    allow["cuda"] = "cuda base"
    allow["tune"] = "tune base"
    allow["engine"] = "engine coll ucx cuda tune base"
    allow["pmpi"] = "pmpi base"
    allow["cli"] = "cli base"
    allow["simgpu"] = "simgpu cuda base"
}

function breach(text)
{
    printf "%s:%d: %s\n", FILENAME, FNR, text
    found = 1
}

function among(word, list)
{
    return index(" " list " ", " " word " ") > 0
}

# A header of ours, as "folder/name.h" or as "name.h" beside the file.
function check_ours(header,    target)
{
    if (header ~ /\.\.\//) {
        breach("includes by a path with ..: \"" header "\"")
        return
    }
    target = header
    if (!sub(/\/.*/, "", target))
        return
    if (!(target in allow)) {
        if (folder != "")
            breach("includes \"" header "\", which is no folder of src")
    } else if (folder == "") {
        breach("includes \"" header "\" from outside src")
    } else if (!among(target, allow[folder])) {
        breach(folder " must not include " target ": \"" header "\"")
    }
}

# A header of somebody else's.
function check_theirs(header)
{
    if (header == "mpi.h" && folder != "pmpi" && folder != "")
        breach("only pmpi includes mpi.h")
    if (header ~ /^(uct|ucs|ucm)\//)
        breach("nobody includes " header)
    if (header ~ /^ucp\// && (header != "ucp/api/ucp.h" || folder != "ucx"))
        breach("only ucx includes ucp/api/ucp.h: " header)
    if (header ~ /^hwloc(\.h|\/)/ && folder != "tune")
        breach("only tune includes hwloc: " header)
    if (header ~ /^(cuda[a-zA-Z_0-9]*\.h|nvml\.h|driver_types\.h|crt\/.*)$/ &&
        folder !~ /^(cuda|simgpu)$/ && folder != "")
        breach("only cuda and simgpu include CUDA headers: " header)
}

FNR == 1 {
    folder = ""
    if (FILENAME ~ /^src\//) {
        folder = FILENAME
        sub(/^src\//, "", folder)
        sub(/\/.*/, "", folder)
        if (!(folder in allow))
            breach("src/" folder " is not a folder that the layers know")
    }
    hides_stand_in = FILENAME !~ /^src\/(simgpu\/|cli\/run)/
}

/^[ \t]*#[ \t]*include[ \t]*["<]/ {
    header = $0
    sub(/^[^"<]*/, "", header)
    quoted = header ~ /^"/
    header = substr(header, 2)
    sub(/[">].*/, "", header)
    check_theirs(header)
    if (quoted)
        check_ours(header)
}

hides_stand_in && tolower($0) ~ /simgpu/ {
    breach("mentions simgpu; nothing may know the stand-in from a real GPU")
}

END {
    exit found
}
