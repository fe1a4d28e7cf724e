# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# mpi4py.sh - sourced: finds or makes a Python with mpi4py and numpy, and sets
# `python` and the search path of the jobs. MT_PYTHON names another one, say
# with an mpi4py that was built against MPICH.
#
# The wheels of mpi4py load any MPI of the MPICH ABI at run time, by its common
# name and with RTLD_LOCAL; Debian's MPICH goes by another, so a link stands in.
venv=$MT_BIN/venv
python=${MT_PYTHON:-$venv/bin/python}

# Makes a virtual environment, once a build tree; without any network or Python
# the test is not run, and says so.
mpi4py_make()
{
    base=/usr/bin/python3
    [ -x $base ] || base=$(command -v python3) ||
        mt_skip "NOT RUN: there is no python3"
    rm -rf "$venv"
    "$base" -m venv "$venv" >"$mt_tmp/venv" 2>&1 ||
        mt_skip "NOT RUN: no virtual environment: $(tail -2 "$mt_tmp/venv")"
    "$venv/bin/python" -m pip --disable-pip-version-check --quiet install --no-compile \
        --only-binary :all: 'mpi4py>=4.1,<5' 'numpy<3' >"$mt_tmp/venv" 2>&1 ||
        mt_skip "NOT RUN: pip has no mpi4py: $(tail -2 "$mt_tmp/venv")"
    touch "$venv/complete"
}

[ -n "${MT_PYTHON:-}" ] || [ -e "$venv/complete" ] || mpi4py_make
mkdir -p "$mt_tmp/mpi"
mpich=$(ldd "$MT_BIN/binding_c" | sed -n 's/.*libmpich[^ ]* => \([^ ]*\) .*/\1/p')
ln -s "${mpich:?}" "$mt_tmp/mpi/libmpi.so.12"
export MPI4PY_LIBMPI="$mt_tmp/mpi/libmpi.so.12"
export LD_LIBRARY_PATH="$mt_tmp/mpi"
MT_LIBRARY_PATH=$mt_tmp/mpi
