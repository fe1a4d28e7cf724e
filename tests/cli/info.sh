#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# info.sh COAX CC - `coax info`, help and version.
. "$(dirname "$0")/lib.sh"

run 0 --version
has out '^coax [0-9]'
for words in help --help -h; do
    run 0 $words
    has out '^COMMANDS'
done
run 2
for command in run info; do
    run 0 help $command
    cp out by-help
    run 0 $command --help
    cmp -s out by-help || bad "two helps of $command"
    for part in NAME SYNOPSIS DESCRIPTION OPTIONS 'EXIT STATUS'; do
        has out "^$part\$"
    done
    [ "$(awk 'length > 79' out | wc -l)" -eq 0 ] || bad "long lines: $command"
done
refused 2 "no command 'nothing'" help nothing
refused 2 "no option '--fast'" info --fast
refused 2 "no option '--js'" info --js
refused 2 "no argument 'x'" info x
refused 2 'needs --env' info --markdown

# This installation's engine is none, which is a problem and not a failure.
run 1 info
has out 'not an engine of Coax'
has out "$front"
has out '^MPI$'
has out '^network devices$'
has out 'COAX_SCOPE  *auto$'
has out 'none in the settings'
COAX_SCOPE=device COAX_SCOPES=1 COAX_TIMEOUT=soon run 1 info
has out 'COAX_SCOPE  *device  (set)$'
has out 'COAX_SCOPES'
has out 'COAX_TIMEOUT'
lacks out 'none in the settings'

# A library that kills whoever loads it costs one line.
printf '%s\n' '#include <stdlib.h>' \
    '__attribute__((constructor)) static void f(void) { abort(); }' >kill.c
"$cc" -shared -fPIC -o prefix/lib/libcoax-engine.so kill.c || exit 1
run 1 info
has out 'ended with signal 6'
has out '^settings$'
rm prefix/lib/libcoax-engine.so "$front"
run 1 info
has out 'libcoax.so: it is missing'

run 1 info --json
has out '^{$'
has out '^}$'
has out '"version": "'
run 0 info --env
has out '^    COAX_SCOPE (choice, default auto): '
run 0 info --env --json
has out '"name": "COAX_SCOPE"'
run 0 info --env --markdown
has out "^| .COAX_SCOPE. | choice |"

# As built: the engine answers.
"$built" info >out 2>err
status=$?
[ $status -eq 0 ] || bad "coax info of the build: status $status: $(cat out err)"

# A network that cannot start: one line, and a problem.
UCX_TLS=nothing "$built" info >out 2>err
status=$?
[ $status -eq 1 ] || bad "no network: status $status"
[ "$(wc -l <err)" -eq 1 ] || bad "no network: not one line: $(cat err)"
has err 'coax: error: .*UCX_TLS'
has out 'network cannot be started'
grep -q UCX out && bad "no network: UCX speaks: $(cat out)"

[ $failures -eq 0 ]
