# Programs as they are: bindings, sessions, habits of real programs.

# --- without MPI_Init --------------------------------------------------------

mt_program(sessions)
mt_add(mpi.sessions.plain 60 run.sh -m plain -n 2 sessions)
mt_add(mpi.sessions.host 60 run.sh -m host -n 2 -c -e COAX_SMALL=1K sessions)
mt_add(mpi.sessions.alone 60 run.sh -m sim -n 1 -c sessions --gpu)
foreach(order s wsfe wsef swef swfe)
    mt_add(mpi.sessions.${order} 60 run.sh -m sim -n 2 -c -e COAX_SMALL=1K
        sessions --order=${order} --gpu)
endforeach()
