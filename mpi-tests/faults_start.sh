#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# faults_start.sh - a fault while Coax starts on rank 1, a job for each: at the
# first calls of everything that is called once a process. The job goes on in
# the staged path on all ranks, or its calls are errors; with one line.
. "$(dirname "$0")/lib.sh"
MT_TIMEOUT=25
MT_FAULTS=yes

# job [hydra options]
job()
{
    mt_job sim -genv COAX_TIMEOUT 10 -genv UCX_MEM_MMAP_HOOK_MODE none "$@" \
        -n 2 "$MT_BIN/faults" --once --victim=1 >"$mt_tmp/out" 2>"$mt_tmp/err"
}

job || mt_bad "no job without a fault"
sed -n 's/^calls //p' "$mt_tmp/out" >"$mt_tmp/calls"
grep -q '^ucp_worker_create 1$' "$mt_tmp/calls" || mt_bad "nothing is counted"

tried=0
while read -r name calls; do
    extra= most=3
    case $name in
    aligned_alloc) extra=,mmap:1+ most=16 ;;
    dlsym | dlopen | ucp_config_modify | ucp_tag_probe_nb) most=2 ;;
    PMPI_* | *.end | ucp_tag_send_nbx | ucp_tag_recv_nbx) continue ;;
    esac
    n=1
    while [ "$n" -le "$calls" ] && [ "$n" -le "$most" ]; do
        tried=$((tried + 1))
        if ! job -genv MT_FAULT_RANK 1 -genv MT_FAULT "$name:$n$extra"; then
            mt_bad "$name:$n: exit status $?"
            cat "$mt_tmp/out" "$mt_tmp/err"
        fi
        # What is said in the run is counted by the program.
        [ "$(mt_coax_lines "$mt_tmp/err")" -eq 0 ] ||
            mt_bad "$name:$n: $(grep '^coax: ' "$mt_tmp/err")"
        n=$((n + 1))
    done
done <"$mt_tmp/calls"
echo "$tried faults tried"
[ "$tried" -ge 25 ] || mt_bad "only $tried faults tried"
mt_end
