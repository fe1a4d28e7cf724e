# SPDX-License-Identifier: BSD-3-Clause
# callgrind.awk - what libcoax.so costs, from one callgrind profile.
#
# Prints the trigger of the profile and the instructions of ours: the self cost
# of every function in libcoax.so, and the inclusive cost of everything that it
# calls elsewhere except the MPI library's own function, one of `names`.

BEGIN {
    if (names == "")
        names = "Allreduce|Bcast|Allgather"
    wanted = "^P?MPI_(" names ")(_c)?$"
}

# "(12) name" the first time, "(12)" later; objects and functions have a
# table each.
function object(text,    id)
{
    id = text
    sub(/\).*/, ")", id)
    if (text != id)
        objects[id] = substr(text, length(id) + 2)
    return objects[id]
}

function func_name(text,    id)
{
    id = text
    sub(/\).*/, ")", id)
    if (text != id)
        funcs[id] = substr(text, length(id) + 2)
    return funcs[id]
}

/^desc: Trigger:/ { sub(/^desc: Trigger: *(Client Request: )?/, ""); trigger = $0 }
/^ob=/ { ob = object(substr($0, 4)); next }
/^fn=/ { fn = func_name(substr($0, 4)); cob = ob; next }
/^cob=/ { cob = object(substr($0, 5)); next }
/^cfn=/ { cfn = func_name(substr($0, 5)); next }
/^calls=/ {
    split(substr($0, 7), word, " ")
    calls = word[1]
    getline
    target = cob
    cob = ob
    if (ob !~ /libcoax\.so$/ || target ~ /libcoax\.so$/)
        next
    if (target ~ /libmpich|libmpi\./ && cfn ~ wanted)
        library += calls
    else {
        ours += $2
        outside[cfn] += $2
    }
    next
}
/^[0-9+*-]/ { if (ob ~ /libcoax\.so$/) ours += $2 }
END {
    printf "%s %d %d\n", trigger, ours, library
    for (f in outside)
        printf "    of these in %s: %d\n", f, outside[f]
}
