#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# launchers.sh - the preload exported over everything: shells, interpreters, the
# launcher and what it starts. All say what they say without it, and the ranks
# are served.
. "$(dirname "$0")/lib.sh"
MT_TIMEOUT=30
front=$MT_LIB/libcoax.so
counters=$MT_BIN/libshim_ucp.so:$MT_BIN/libyield.so

# same WHAT COMMAND...: same output on both streams and status with the preload.
same()
{
    what=$1
    shift
    "$@" >"$mt_tmp/out.0" 2>"$mt_tmp/err.0" </dev/null
    echo $? >>"$mt_tmp/out.0"
    LD_PRELOAD=$front "$@" >"$mt_tmp/out.1" 2>"$mt_tmp/err.1" </dev/null
    echo $? >>"$mt_tmp/out.1"
    cmp -s "$mt_tmp/out.0" "$mt_tmp/out.1" &&
        cmp -s "$mt_tmp/err.0" "$mt_tmp/err.1" ||
        mt_bad "$what differs: $(cat "$mt_tmp/out.1" "$mt_tmp/err.1")"
}

# shellcheck disable=SC2016 # for the inner shells
same sh sh -c 'echo $((6 * 7)); (exit 3)'
same "a pipeline" sh -c 'seq 100 | sort -rn | head -3; ls /nowhere'
same bash bash -c 'for i in {1..3}; do echo $i; done; exec false'
[ -x /usr/bin/python3 ] &&
    same python /usr/bin/python3 -c 'import subprocess, sys
print(subprocess.run(["echo", "inner"], capture_output=True).stdout)
sys.exit(4)'
same "the launcher" "$MT_MPIRUN" -n 2 sh -c 'echo "rank"'
same "the launcher's help" "$MT_MPIRUN" -info

# A batch script that exports it, a launcher that goes through a shell as ssh
# does, and a wrapper round the program.
cat >"$mt_tmp/remote" <<'END'
#!/bin/sh
while [ "${1#-}" != "$1" ]; do # options of ssh
    shift
done
shift # the host
exec sh -c "$*"
END
cat >"$mt_tmp/wrapper" <<'END'
#!/bin/sh
echo "wrapper on $(uname -s)" >&2
exec "$@"
END
chmod +x "$mt_tmp/remote" "$mt_tmp/wrapper"
cat >"$mt_tmp/batch" <<END
#!/bin/sh
export LD_PRELOAD=$counters:$front:$MT_BIN/libshim_mpi.so
export COAX_SCOPE=all COAX_SMALL=0
hostname >/dev/null
exec timeout -k 5 $MT_TIMEOUT "$MT_MPIRUN" -launcher ssh \\
    -launcher-exec "$mt_tmp/remote" -hosts one,two -n 2 \\
    "$mt_tmp/wrapper" "$MT_BIN/binding_c"
END
sh "$mt_tmp/batch" >"$mt_tmp/out" 2>"$mt_tmp/err" </dev/null ||
    mt_bad "batch: exit status $?"
grep -q '^cost [1-9]' "$mt_tmp/out" ||
    mt_bad "batch: the engine sends nothing: $(cat "$mt_tmp/out" "$mt_tmp/err")"
[ "$(sort -u "$mt_tmp/err")" = "wrapper on Linux" ] ||
    mt_bad "batch: $(cat "$mt_tmp/err")"

# What it costs a process that uses no MPI; for the reader, not judged.
nanoseconds()
{
    i=0 begin=$(date +%s%N)
    while [ $i -lt 200 ]; do
        LD_PRELOAD=$1 /bin/true
        i=$((i + 1))
    done
    echo $((($(date +%s%N) - begin) / 200))
}
nanoseconds '' >/dev/null
echo "a process takes $(nanoseconds '') ns, preloaded $(nanoseconds "$front")," \
    "again $(nanoseconds '') and $(nanoseconds "$front")"
mt_end
