! SPDX-License-Identifier: BSD-3-Clause
! binding_mpi.F90 - the three functions from `use mpi`, or with USE_MPIF from
! mpif.h. The buffers may lie on a GPU: only binding_memory.c touches them.
program binding_mpi
#ifndef USE_MPIF
  use mpi
#endif
  use iso_c_binding
  implicit none
#ifdef USE_MPIF
  include 'mpif.h'
#endif
  interface
    function bm_alloc(nbytes) bind(c)
      import c_ptr, c_size_t
      integer(c_size_t), value :: nbytes
      type(c_ptr) :: bm_alloc
    end function bm_alloc
    subroutine bm_write(dst, src, nbytes) bind(c)
      import c_ptr, c_size_t
      type(c_ptr), value :: dst, src
      integer(c_size_t), value :: nbytes
    end subroutine bm_write
    subroutine bm_read(dst, src, nbytes) bind(c)
      import c_ptr, c_size_t
      type(c_ptr), value :: dst, src
      integer(c_size_t), value :: nbytes
    end subroutine bm_read
  end interface
  integer, parameter :: n = 3000, block = 500
  integer :: rank, np, bad, i, ierr
  double precision, target :: host(n)
  double precision, pointer :: x(:), y(:)
  type(c_ptr) :: a, b
  double precision :: total

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, np, ierr)
  bad = 0
  total = np * (np - 1) / 2
  a = bm_alloc(n * 8_c_size_t)
  b = bm_alloc(n * 8_c_size_t)
  call c_f_pointer(a, x, [n])
  call c_f_pointer(b, y, [n])

  call fill()
  call MPI_Allreduce(MPI_IN_PLACE, x, n, MPI_DOUBLE_PRECISION, MPI_SUM, &
                     MPI_COMM_WORLD, ierr)
  call check(a, 0, n, np, total)
  call fill()
  call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, &
                     ierr)
  call check(b, 0, n, np, total)
  call fill()
  call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, np - 1, MPI_COMM_WORLD, ierr)
  call check(a, 0, n, 1, dble(np - 1))
  call fill()
  call MPI_Allgather(x, block, MPI_DOUBLE_PRECISION, y, block, &
                     MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierr)
  call check(b, block * (np - 1), block, 1, dble(np - 1))
  host = -1
  host(block * rank + 1:block * (rank + 1)) = [(dble(rank + i), i = 0, block - 1)]
  call bm_write(b, c_loc(host), n * 8_c_size_t)
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, y, block, &
                     MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierr)
  call check(b, block * (np - 1), block, 1, dble(np - 1))

  if (rank == 0) print '(a)', 'calls 2 1 2'
  call MPI_Finalize(ierr)
  if (bad > 0) error stop 1
contains
  subroutine fill()
    host = [(dble(rank + i), i = 0, n - 1)]
    call bm_write(a, c_loc(host), n * 8_c_size_t)
  end subroutine fill
  subroutine check(at, first, length, factor, add)
    type(c_ptr), intent(in) :: at
    integer, intent(in) :: first, length, factor
    double precision, intent(in) :: add
    call bm_read(c_loc(host), at, n * 8_c_size_t)
    if (any(host(first + 1:first + length) /= &
            [(factor * dble(i) + add, i = 0, length - 1)])) bad = bad + 1
  end subroutine check
end program binding_mpi
