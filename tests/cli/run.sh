#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh COAX CC - `coax run`: environment, refusals, exit codes.
. "$(dirname "$0")/lib.sh"

# The environment of the program.
run 0 run ./show
has out "^LD_PRELOAD=$front\$"
lacks out COAX_
lacks out LD_LIBRARY_PATH
LD_PRELOAD="$tmp/libtool.so" run 0 run ./show
has out "^LD_PRELOAD=$tmp/libtool.so:$front\$"
LD_PRELOAD="$front:$tmp/libtool.so" run 0 run ./show
has out "^LD_PRELOAD=$tmp/libtool.so:$front\$"
LD_PRELOAD="$front $tmp/libtool.so " run 0 run -- "$coax" run ./show
has out "^LD_PRELOAD=$tmp/libtool.so:$front\$"
run 0 run --stats --simgpu ./show
has out '^COAX_STATS=on$'
has out '^COAX_GPU=yes$'
has out "^LD_LIBRARY_PATH=$tmp/prefix/lib/coax/simgpu\$"
lacks out SIMGPU_DEVICES
LD_LIBRARY_PATH=/a:/b run 0 run --simgpu=3 ./show
has out '^SIMGPU_DEVICES=3$'
has out "^LD_LIBRARY_PATH=$tmp/prefix/lib/coax/simgpu:/a:/b\$"

# The program's own options and exit code; programs found in PATH.
run 7 run ./seven --help
run 7 run -- ./seven --stats
PATH="$tmp:$PATH" run 7 run seven
run 0 run sh -c 'exit 0'

# Wrong command lines.
refused 2 'no program given' run
refused 2 "no option '--fast'" run --fast ./seven
refused 2 "no option '--stat'" run --stat ./seven
refused 2 "no option '--sim=2'" run --sim=2 ./seven
refused 2 'number of 1 to 16' run --simgpu=0 ./seven
refused 2 'number of 1 to 16' run --simgpu=17 ./seven
refused 2 "no command 'ran'" ran
refused 2 "no option '--verison'" --verison

# Programs that cannot be found or executed.
refused 127 'No such file' run ./nowhere
refused 127 'is not in PATH' run coax-test-nowhere
refused 127 'did you mean ./seven' run seven
refused 126 'is not executable' run ./seven.c
refused 126 'is a folder' run ./prefix
printf '#!/no/such/interpreter\n' >orphan
chmod +x orphan
refused 126 "interpreter '/no/such/interpreter'" run ./orphan

# The loader, called by name, preloads into its program.
loader=$(readelf -l seven | sed -n 's/.*interpreter: \(.*\)]/\1/p')
run 7 run "$loader" ./seven
lacks err .

# Programs that the loader would start without Coax: they run, with one line,
# unless an algorithm is forced that nobody would run.
if "$cc" -static -o static seven.c 2>/dev/null; then
    warned 7 'statically linked.*running without Coax' run ./static
    COAX_ALGO=allreduce:ring refused 126 'statically linked' run ./static
    printf '#! %s/static\n' "$tmp" >script
    chmod +x script
    warned 7 'statically linked' run ./script
fi
cp seven narrow
printf '\001' | dd of=narrow bs=1 seek=4 conv=notrunc 2>dd.log
COAX_ALGO=bcast:chain refused 126 '32-bit' run ./narrow
cp seven foreign
printf '\363' | dd of=foreign bs=1 seek=18 conv=notrunc 2>dd.log
refused 126 'another kind of processor' run ./foreign
if [ "$(id -u)" -eq 0 ]; then
    cp seven raised
    chown 65534 raised
    chmod u+s raised
    warned 7 'set-uid' run ./raised
fi

# A damaged installation: one warning, from rank 0 only, and the program runs.
mv prefix/lib/libcoax-engine.so kept-engine
run 7 run ./seven
has err 'warn: .*libcoax-engine.so is missing'
PMI_RANK=0 run 7 run ./seven
has err 'is missing'
PMI_RANK=1 run 7 run ./seven
lacks err 'is missing'
mv kept-engine prefix/lib/libcoax-engine.so
mv "$front" kept-front
run 7 run ./seven
has err 'warn: .*libcoax.so is missing'
OMPI_COMM_WORLD_RANK=3 run 7 run ./seven
lacks err .
mv kept-front "$front"
rmdir prefix/lib/coax/simgpu
refused 1 'no simulated GPU' run --simgpu ./seven
mkdir 'a b' && cp -r prefix 'a b/'
coax="$tmp/a b/prefix/bin/coax"
refused 1 'has a space or a colon' run ./seven
coax=$tmp/prefix/bin/coax

# One message for a job whose ranks fail alike, also without rank 0.
for rank in 1 2 3 4; do
    PMI_RANK=$rank "$coax" run ./nowhere 2>"err$rank" &
done
wait
[ "$(cat err1 err2 err3 err4 | wc -l)" -eq 1 ] ||
    bad "not one message for four ranks: $(cat err1 err2 err3 err4)"

[ $failures -eq 0 ]
