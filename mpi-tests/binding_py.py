# SPDX-License-Identifier: BSD-3-Clause
"""The three functions from mpi4py, by its buffer methods: numpy arrays, arrays
that call themselves a GPU's but lie in host memory, and arrays on a device.

binding_py.py [--gpu]; prints how many calls of each function it makes."""
import ctypes
import sys

import numpy
from mpi4py import MPI

N, BLOCK = 3000, 500
comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
bad = 0


class Host:
    """A numpy array as it is."""

    def __init__(self, n):
        self.array = numpy.zeros(n)
        self.arg = self.array

    def put(self, values):
        self.array[: len(values)] = values

    def get(self):
        return self.array


class FakeGpu(Host):
    """Host memory behind the interface of GPU arrays."""

    def __init__(self, n):
        super().__init__(n)
        self.arg = self

    @property
    def __cuda_array_interface__(self):
        return {
            "shape": self.array.shape,
            "typestr": self.array.dtype.str,
            "data": (self.array.ctypes.data, False),
            "version": 3,
        }


class Gpu:
    """Memory of a device, from the CUDA runtime."""

    runtime = None

    def __init__(self, n):
        if Gpu.runtime is None:
            Gpu.runtime = ctypes.CDLL("libcudart.so.13")
        self.n = n
        self.ptr = ctypes.c_void_p()
        self.call("cudaMalloc", ctypes.byref(self.ptr), ctypes.c_size_t(8 * n))
        self.arg = self

    def call(self, name, *args):
        if getattr(self.runtime, name)(*args) != 0:
            raise RuntimeError(name)

    def put(self, values):
        host = numpy.ascontiguousarray(values, dtype=numpy.double)
        self.call("cudaMemcpy", self.ptr, ctypes.c_void_p(host.ctypes.data),
                  ctypes.c_size_t(host.nbytes), 1)

    def get(self):
        host = numpy.empty(self.n)
        self.call("cudaMemcpy", ctypes.c_void_p(host.ctypes.data), self.ptr,
                  ctypes.c_size_t(host.nbytes), 2)
        return host

    @property
    def __cuda_array_interface__(self):
        return {
            "shape": (self.n,),
            "typestr": "<f8",
            "data": (self.ptr.value, False),
            "version": 3,
        }


def check(ok, what):
    global bad
    if not ok:
        bad += 1
        print(f"rank {rank}: wrong: {what}", file=sys.stderr)


def use(kind):
    a, b = kind(N), kind(N)
    name = kind.__name__
    ramp = numpy.arange(N, dtype=numpy.double)
    total = size * ramp + size * (size - 1) // 2

    a.put(ramp + rank)
    comm.Allreduce(a.arg, b.arg, op=MPI.SUM)
    check((b.get() == total).all(), f"{name}, Allreduce")
    comm.Allreduce(MPI.IN_PLACE, a.arg, op=MPI.SUM)
    check((a.get() == total).all(), f"{name}, Allreduce in place")
    a.put(ramp + rank)
    comm.Bcast([a.arg, N, MPI.DOUBLE], root=size - 1)
    check((a.get() == ramp + size - 1).all(), f"{name}, Bcast")
    a.put(ramp + rank)
    comm.Allgather([a.arg, BLOCK, MPI.DOUBLE], [b.arg, BLOCK, MPI.DOUBLE])
    for other in range(size):
        part = b.get()[other * BLOCK : (other + 1) * BLOCK]
        check((part == ramp[:BLOCK] + other).all(), f"{name}, Allgather")


kinds = [Host, FakeGpu]
if "--gpu" in sys.argv:
    kinds.insert(0, Gpu)  # CUDA is up before the first call, so Coax is too
for one in kinds:
    use(one)
# With MPI up, but none of it: messages of pickled objects.
check(comm.sendrecv(rank, (rank + 1) % size, source=(rank - 1) % size)
      == (rank - 1) % size, "objects")
if rank == 0:
    print("calls", 2 * len(kinds), len(kinds), len(kinds))
sys.stdout.flush()
sys.exit(1 if bad else 0)
