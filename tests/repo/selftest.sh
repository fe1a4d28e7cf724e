#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# selftest.sh COAX CC - plants breaches and fails when a check misses one.
here=$(cd "$(dirname "$0")" && pwd)
set -u
coax=${1:?the coax command}
cc=${2:?the C compiler}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
failures=0

bad()
{
    echo "FAIL: $*"
    failures=$((failures + 1))
}

# fresh: an empty tree with one good file for every folder used below.
fresh()
{
    rm -rf "$tmp/tree"
    mkdir -p "$tmp/tree/src/base" "$tmp/tree/examples"
    printf '#include "base/a.h"\n#include <stdio.h>\nint a;\n' \
        >"$tmp/tree/src/base/a.c"
    printf '#include <mpi.h>\n#include <cuda_runtime_api.h>\n' \
        >"$tmp/tree/examples/e.c"
    cp "$here/../../.clang-format" "$tmp/tree/"
}

passes()
{
    sh "$@" >"$tmp/out" 2>&1 || bad "a clean tree does not pass: $* $(cat "$tmp/out")"
}

# fails WHAT CHECK ARGUMENTS...: the check must end with 1 and say something.
fails()
{
    what=$1
    shift
    sh "$@" >"$tmp/out" 2>&1
    status=$?
    [ $status -eq 77 ] && return
    [ $status -eq 1 ] || bad "not noticed: $what (status $status)"
    [ -s "$tmp/out" ] || bad "noticed without a word: $what"
}

# planted FILE LINE: a breach of the layers.
planted()
{
    fresh
    mkdir -p "$tmp/tree/$(dirname "$1")"
    printf '%s\n' "$2" >"$tmp/tree/$1"
    fails "$1: $2" "$here/layers.sh" "$tmp/tree"
}

fresh
passes "$here/layers.sh" "$tmp/tree"
passes "$here/sizes.sh" "$tmp/tree"
planted src/base/b.c '#include "coll/plan.h"'
planted src/base/b.c '#include "../coll/plan.h"'
planted src/coll/b.c '#include "ucx/ucx.h"'
planted src/coll/b.h '#  include "cuda/gpu.h"'
planted src/cuda/b.cu '#include "tune/model.h"'
planted src/tune/b.c '#include "engine/engine.h"'
planted src/engine/b.c '#include "pmpi/front.h"'
planted src/pmpi/b.c '#include "engine/engine.h"'
planted src/cli/b.c '#include "engine/engine.h"'
planted src/cli/b.c '#include "tests/x.h"'
planted src/engine/b.c '#include <mpi.h>'
planted src/engine/b.c '#include <ucp/api/ucp.h>'
planted src/ucx/b.c '#include <ucs/type/status.h>'
planted src/ucx/b.c '#include <uct/api/uct.h>'
planted src/cuda/b.c '#include <hwloc.h>'
planted src/engine/b.c '#include <cuda.h>'
planted src/pmpi/b.c '#include "cuda_runtime_api.h"'
planted src/engine/b.c '/* with SimGPU only */'
planted src/cli/info.c '/* simgpu */'
planted src/other/b.c 'int b;'
planted examples/b.c '#include "base/log.h"'

fresh
awk 'BEGIN { for (i = 0; i < 651; i++) print "" }' >"$tmp/tree/src/base/b.c"
fails "a file of 651 lines" "$here/sizes.sh" "$tmp/tree"
fresh
awk 'BEGIN { print "void f(void)\n{"; for (i = 0; i < 99; i++) print "    f();"
    print "}" }' >"$tmp/tree/src/base/b.c"
fails "a function of 101 lines" "$here/sizes.sh" "$tmp/tree"
fresh
printf 'int b( void )\n{\n  return 1;\n}\n' >"$tmp/tree/src/base/b.c"
fails "a badly formatted file" "$here/format.sh" "$tmp/tree"

printf 'int coax_a;\nint coax_b;\n' >"$tmp/a.c"
"$cc" -shared -fPIC -o "$tmp/a.so" "$tmp/a.c" || bad "cannot compile"
"$cc" -shared -fPIC -Wl,--no-as-needed -o "$tmp/needs.so" "$tmp/a.c" \
    -Wl,-soname,x "$tmp/a.so" || bad "cannot link"
printf '# both\ncoax_a\ncoax_b\n' >"$tmp/both"
printf 'coax_a\n' >"$tmp/one"
printf 'coax_a\ncoax_b\ncoax_c\n' >"$tmp/three"
passes "$here/symbols.sh" "$tmp/a.so" "$tmp/both"
fails "a symbol too many" "$here/symbols.sh" "$tmp/a.so" "$tmp/one"
fails "a missing symbol" "$here/symbols.sh" "$tmp/a.so" "$tmp/three"
fails "a library too many" "$here/symbols.sh" "$tmp/needs.so" "$tmp/both"
fails "no library" "$here/symbols.sh" "$tmp/none.so" "$tmp/both"

{
    echo '<!-- settings: begin -->'
    "$coax" info --env --markdown
    echo '<!-- settings: end -->'
} >"$tmp/README"
passes "$here/readme.sh" "$coax" "$tmp/README"
sed -i 's/COAX_STATS/COAX_STATE/' "$tmp/README"
fails "a wrong table" "$here/readme.sh" "$coax" "$tmp/README"
: >"$tmp/README"
fails "no table" "$here/readme.sh" "$coax" "$tmp/README"

[ $failures -eq 0 ]
