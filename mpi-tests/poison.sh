#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# poison.sh - a copy that fails on rank 1 alone: the program finds no success
# with wrong data, the job ends, and only the failing rank
# reports an error.
#
# poison.sh PATH SMALL: calls of SMALL bytes or less are staged
. "$(dirname "$0")/lib.sh"
MT_TIMEOUT=20

mt_job sim -genv COAX_SMALL "$2" -genv COAX_TIMEOUT 10 -n 3 \
    "$MT_BIN/poison" --path="$1" >"$mt_tmp/out" 2>"$mt_tmp/err"
status=$?
[ "$status" -eq 0 ] || mt_bad "exit status $status"
grep -q ' 0 failures' "$mt_tmp/out" || mt_bad "no result"
grep '^mt: ' "$mt_tmp/err"
[ "$(mt_coax_lines "$mt_tmp/err")" -gt 0 ] || mt_bad "nobody speaks"
if grep '^coax: ' "$mt_tmp/err" | grep -v 'rank 1\]' >"$mt_tmp/others"; then
    mt_bad "errors of ranks that are well: $(head -3 "$mt_tmp/others")"
fi
mt_end
