! SPDX-License-Identifier: BSD-3-Clause
! fkinds.f90 - reductions of the compiler's own kinds: what it writes for true,
! its quad numbers, pairs, and types asked for by precision. The sizes lie on
! both sides of COAX_SMALL.
program fkinds
  use mpi
  implicit none
  integer, parameter :: quad = selected_real_kind(30)
  integer, parameter :: sizes(2) = [5, 20000]
  integer :: rank, np, bad, ierr, i, k, n

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, np, ierr)
  bad = 0
  do k = 1, 2
    n = sizes(k)
    call logicals()
    call quads()
    call pairs()
    call precisions()
  end do
  call MPI_Allreduce(MPI_IN_PLACE, bad, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(a,i0)', 'wrong: ', bad
  call MPI_Finalize(ierr)
  if (bad > 0) error stop 1
contains
  subroutine expect(ok)
    logical, intent(in) :: ok
    if (.not. ok) bad = bad + 1
  end subroutine expect

  ! Every pattern of true and false over the ranks.
  subroutine logicals()
    logical :: x(n), y(n)
    integer :: r, ntrue
    x = [(btest(i, rank), i = 1, n)]
    call MPI_Allreduce(x, y, n, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, ierr)
    do i = 1, n
      call expect(y(i) .eqv. all([(btest(i, r), r = 0, np - 1)]))
    end do
    call MPI_Allreduce(x, y, n, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD, ierr)
    do i = 1, n
      call expect(y(i) .eqv. any([(btest(i, r), r = 0, np - 1)]))
      call expect(transfer(y(i), 0) == transfer(y(i) .and. .true., 0))
    end do
    call MPI_Allreduce(x, y, n, MPI_LOGICAL, MPI_LXOR, MPI_COMM_WORLD, ierr)
    do i = 1, n
      ntrue = count([(btest(i, r), r = 0, np - 1)])
      call expect(y(i) .eqv. mod(ntrue, 2) == 1)
    end do
  end subroutine logicals

  ! Numbers that no shorter format holds.
  subroutine quads()
    real(quad) :: x(n), y(n)
    complex(quad) :: z(n), w(n)
    real(quad), parameter :: tiny_part = 2.0_quad**(-80)
    x = [(i + rank * tiny_part, i = 1, n)]
    call MPI_Allreduce(x, y, n, MPI_REAL16, MPI_SUM, MPI_COMM_WORLD, ierr)
    do i = 1, n
      call expect(y(i) == np * i + np * (np - 1) / 2 * tiny_part)
    end do
    call MPI_Allreduce(x, y, n, MPI_REAL16, MPI_MAX, MPI_COMM_WORLD, ierr)
    do i = 1, n
      call expect(y(i) == i + (np - 1) * tiny_part)
    end do
    z = cmplx(x, -x, quad)
    call MPI_Allreduce(z, w, n, MPI_COMPLEX32, MPI_SUM, MPI_COMM_WORLD, ierr)
    do i = 1, n
      call expect(real(w(i)) == np * i + np * (np - 1) / 2 * tiny_part)
      call expect(aimag(w(i)) == -real(w(i)))
    end do
  end subroutine quads

  subroutine pairs()
    double precision :: x(2, n), y(2, n)
    integer :: u(2, n), v(2, n)
    x(1, :) = [(dble(mod(i + rank, np)), i = 1, n)]
    x(2, :) = rank
    call MPI_Allreduce(x, y, n, MPI_2DOUBLE_PRECISION, MPI_MAXLOC, MPI_COMM_WORLD, ierr)
    u = int(x)
    u(1, :) = u(1, :) / 2 ! ties
    call MPI_Allreduce(u, v, n, MPI_2INTEGER, MPI_MINLOC, MPI_COMM_WORLD, ierr)
    do i = 1, n
      call expect(y(1, i) == np - 1)
      call expect(mod(i + int(y(2, i)), np) == np - 1)
      call expect(v(1, i) == 0)
      call expect(v(2, i) == lowest(i))
    end do
  end subroutine pairs

  integer function lowest(element)
    integer, intent(in) :: element
    do lowest = 0, np - 1
      if (mod(element + lowest, np) / 2 == 0) return
    end do
  end function lowest

  subroutine precisions()
    integer, parameter :: big = selected_int_kind(18), dp = selected_real_kind(15, 300)
    integer(big) :: a(n), b(n)
    real(dp) :: x(n), y(n)
    integer :: type
    call MPI_Type_create_f90_integer(18, type, ierr)
    a = [(10_big**12 * i + rank, i = 1, n)]
    call MPI_Allreduce(a, b, n, type, MPI_SUM, MPI_COMM_WORLD, ierr)
    call MPI_Type_create_f90_real(15, 300, type, ierr)
    x = [(i * 1.0e200_dp + rank, i = 1, n)]
    call MPI_Allreduce(x, y, n, type, MPI_MAX, MPI_COMM_WORLD, ierr)
    do i = 1, n
      call expect(b(i) == np * 10_big**12 * i + np * (np - 1) / 2)
      call expect(y(i) == i * 1.0e200_dp + (np - 1))
    end do
  end subroutine precisions
end program fkinds
