! SPDX-License-Identifier: BSD-3-Clause
! fortran.f90 - the three functions from the mpi_f08 and the mpi bindings: with
! MPI_IN_PLACE, large counts and an array section.
module old_binding
  use mpi
  implicit none
contains
  subroutine old_calls(n, bad)
    integer, intent(in) :: n
    integer, intent(inout) :: bad
    integer :: rank, np, ierr, i
    double precision :: x(n)
    integer, allocatable :: all(:)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, np, ierr)
    x = [(dble(rank + i), i = 1, n)]
    call MPI_Allreduce(MPI_IN_PLACE, x, n, MPI_DOUBLE_PRECISION, MPI_SUM, &
                       MPI_COMM_WORLD, ierr)
    if (any(x /= [(dble(np * (np - 1) / 2 + np * i), i = 1, n)])) bad = bad + 1
    allocate (all(np))
    call MPI_Allgather(rank, 1, MPI_INTEGER, all, 1, MPI_INTEGER, &
                       MPI_COMM_WORLD, ierr)
    if (any(all /= [(i, i = 0, np - 1)])) bad = bad + 1
    x = rank
    call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, np - 1, MPI_COMM_WORLD, ierr)
    if (any(x /= np - 1)) bad = bad + 1
  end subroutine old_calls
end module old_binding

program fortran
  use mpi_f08
  use old_binding, only: old_calls
  implicit none
  integer, parameter :: n = 3000
  integer :: rank, np, bad, i
  integer(MPI_COUNT_KIND) :: wide
  double precision :: x(n), grid(4, n)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, np)
  bad = 0
  x = [(dble(rank + i), i = 1, n)]
  call MPI_Allreduce(MPI_IN_PLACE, x, n, MPI_DOUBLE_PRECISION, MPI_SUM, &
                     MPI_COMM_WORLD)
  if (any(x /= [(dble(np * (np - 1) / 2 + np * i), i = 1, n)])) bad = bad + 1
  wide = n
  x = [(dble(rank + i), i = 1, n)]
  call MPI_Allreduce(MPI_IN_PLACE, x, wide, MPI_DOUBLE_PRECISION, MPI_SUM, &
                     MPI_COMM_WORLD)
  if (any(x /= [(dble(np * (np - 1) / 2 + np * i), i = 1, n)])) bad = bad + 1
  grid = rank
  call MPI_Bcast(grid(2, :), n, MPI_DOUBLE_PRECISION, np - 1, MPI_COMM_WORLD)
  if (any(grid(2, :) /= np - 1) .or. any(grid(1, :) /= rank)) bad = bad + 1
  call old_calls(n, bad)
  print '(a,i0,a,i0,a)', 'rank ', rank, ': ', bad, ' wrong'
  call MPI_Finalize()
  if (bad > 0) error stop 1
end program fortran
