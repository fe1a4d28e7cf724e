! SPDX-License-Identifier: BSD-3-Clause
! binding_f08.f90 - the three functions from mpi_f08: in place, large counts,
! and sections of arrays, which MPICH makes derived types of. The buffers are
! seen by Fortran but may lie on a GPU: only binding_memory.c touches them.
program binding_f08
  use mpi_f08
  use iso_c_binding
  implicit none
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
  integer(MPI_COUNT_KIND), parameter :: wide = n, wide_block = block
  integer :: rank, np, bad, i
  double precision, target :: host(n), rows(2, n)
  double precision, pointer :: x(:), y(:), grid(:, :)
  type(c_ptr) :: a, b
  double precision :: total

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, np)
  bad = 0
  total = np * (np - 1) / 2
  a = bm_alloc(2 * n * 8_c_size_t)
  b = bm_alloc(2 * n * 8_c_size_t)
  call c_f_pointer(a, x, [n])
  call c_f_pointer(b, y, [n])
  call c_f_pointer(a, grid, [2, n])

  call fill()
  call MPI_Allreduce(MPI_IN_PLACE, x, n, MPI_DOUBLE_PRECISION, MPI_SUM, &
                     MPI_COMM_WORLD)
  call check(a, n, np, total)
  call fill()
  call MPI_Allreduce(x, y, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  call check(b, n, np, total)
  call MPI_Allreduce(MPI_IN_PLACE, x, wide, MPI_DOUBLE_PRECISION, MPI_SUM, &
                     MPI_COMM_WORLD)
  call check(a, n, np, total)

  call fill()
  call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, np - 1, MPI_COMM_WORLD)
  call check(a, n, 1, dble(np - 1))
  call fill()
  call MPI_Bcast(x, wide, MPI_DOUBLE_PRECISION, np - 1, MPI_COMM_WORLD)
  call check(a, n, 1, dble(np - 1))
  rows = rank
  call bm_write(a, c_loc(rows), 2 * n * 8_c_size_t)
  call MPI_Bcast(grid(2, :), n, MPI_DOUBLE_PRECISION, np - 1, MPI_COMM_WORLD)
  call bm_read(c_loc(rows), a, 2 * n * 8_c_size_t)
  if (any(rows(2, :) /= np - 1) .or. any(rows(1, :) /= rank)) bad = bad + 1

  call fill()
  call MPI_Allgather(x, block, MPI_DOUBLE_PRECISION, y, block, &
                     MPI_DOUBLE_PRECISION, MPI_COMM_WORLD)
  call check_block(np - 1)
  call MPI_Allgather(x, wide_block, MPI_DOUBLE_PRECISION, y, wide_block, &
                     MPI_DOUBLE_PRECISION, MPI_COMM_WORLD)
  call check_block(0)
  host = -1
  host(block * rank + 1:block * (rank + 1)) = [(dble(rank + i), i = 0, block - 1)]
  call bm_write(b, c_loc(host), n * 8_c_size_t)
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, y, block, &
                     MPI_DOUBLE_PRECISION, MPI_COMM_WORLD)
  call check_block(np - 1)

  if (rank == 0) print '(a)', 'calls 3 3 3'
  call MPI_Finalize()
  if (bad > 0) error stop 1
contains
  subroutine fill()
    host = [(dble(rank + i), i = 0, n - 1)]
    call bm_write(a, c_loc(host), n * 8_c_size_t)
  end subroutine fill
  subroutine check(at, length, factor, add)
    type(c_ptr), intent(in) :: at
    integer, intent(in) :: length, factor
    double precision, intent(in) :: add
    call bm_read(c_loc(host), at, length * 8_c_size_t)
    if (any(host(:length) /= [(factor * dble(i) + add, i = 0, length - 1)])) &
      bad = bad + 1
  end subroutine check
  subroutine check_block(from)
    integer, intent(in) :: from
    call bm_read(c_loc(host), b, n * 8_c_size_t)
    if (any(host(from * block + 1:(from + 1) * block) /= &
            [(dble(from + i), i = 0, block - 1)])) bad = bad + 1
  end subroutine check_block
end program binding_f08
