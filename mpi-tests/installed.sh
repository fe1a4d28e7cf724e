#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# installed.sh CMAKE BUILD - an installed tree that was moved serves a job by
# whatever name it is called: the command by path, by relative path, by a link;
# the library preloaded by path, by relative path, by its bare name from a
# folder with a blank.
. "$(dirname "$0")/lib.sh"
MT_TIMEOUT=30
"$1" --install "$2" --prefix "$mt_tmp/first" >"$mt_tmp/log" 2>&1 ||
    mt_bad "install: $(cat "$mt_tmp/log")"
mv "$mt_tmp/first" "$mt_tmp/moved"
lib=$(dirname "$(find "$mt_tmp/moved" -name libcoax.so)")
counters=$MT_BIN/libshim_ucp.so:$MT_BIN/libshim_mpi.so:$MT_BIN/libyield.so

# served WHAT MPIRUN-ARGUMENTS...: the engine sends, Coax is silent.
served()
{
    what=$1
    shift
    timeout -k 5 $MT_TIMEOUT "$MT_MPIRUN" -n 2 -genv COAX_SMALL 0 "$@" \
        </dev/null >"$mt_tmp/out" 2>"$mt_tmp/err" ||
        mt_bad "$what: exit status $?: $(cat "$mt_tmp/err")"
    grep -q '^cost [1-9]' "$mt_tmp/out" ||
        mt_bad "$what: the engine sends nothing: $(cat "$mt_tmp/out")"
    [ -s "$mt_tmp/err" ] && mt_bad "$what: $(cat "$mt_tmp/err")"
}

cd "$mt_tmp" || exit 1
served "by path" -genv LD_PRELOAD "$counters" -genv MT_GPU 1 \
    "$mt_tmp/moved/bin/coax" run --simgpu "$MT_BIN/binding_c"
served "by relative path" -genv LD_PRELOAD "$counters" -genv MT_GPU 1 \
    moved/bin/coax run --simgpu "$MT_BIN/binding_c"
mkdir links
ln -s ../moved/bin/coax links/coax
PATH=$mt_tmp/links:$PATH served "by a link in PATH" -genv MT_GPU 1 \
    -genv LD_PRELOAD "$counters" coax run --simgpu "$MT_BIN/binding_c"
served "preload by relative path, then another folder" \
    -genv LD_PRELOAD "$counters:./moved/${lib##*/moved/}/libcoax.so" \
    -genv COAX_SCOPE all "$MT_BIN/binding_c" /

# Linked instead of preloaded: a Fortran program names no symbol of Coax, and a
# linker with --as-needed would drop it but for what pkg-config says.
if [ -x "$MT_MPIFORT" ]; then
    flags=$(PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --libs coax)
    # shellcheck disable=SC2086 # one word a flag
    "$MT_MPIFORT" -Wl,--as-needed -o linked "$MT_SRC/binding_f08.f90" \
        "$MT_LIB/static/libmt-binding_memory.a" $flags -ldl >log 2>&1 ||
        mt_bad "linking: $(cat log)"
    timeout -k 5 $MT_TIMEOUT "$MT_MPIRUN" -n 2 -genv COAX_SMALL 0 \
        -genv COAX_SCOPE all -genv LD_LIBRARY_PATH "$lib" \
        -genv MT_SCRATCH "$mt_tmp" \
        -genv LD_PRELOAD "$counters:$MT_BIN/libshim_front.so" ./linked \
        </dev/null >out 2>err || mt_bad "linked: exit status $?: $(cat err)"
    grep -q 'front 3 3 3 .* sends [1-9]' counts.0 ||
        mt_bad "linked: counted '$(cat counts.0)'"
fi

mkdir "with blank"
mv moved "with blank/moved"
served "preload by name, in a folder with a blank" -genv COAX_SCOPE all \
    -genv LD_PRELOAD "$counters:libcoax.so" \
    -genv LD_LIBRARY_PATH "$mt_tmp/with blank/moved/${lib##*/moved/}" \
    "$MT_BIN/binding_c"
mt_end
