# Threads, stacks, many communicators, cost: included by CMakeLists.txt.

foreach(program stacks hostcost)
    mt_program(${program})
endforeach()

mt_add(mpi.stacks 60 run.sh -m sim -n 2 stacks)

mt_add(mpi.cost 120 cost.sh auto)
mt_add(mpi.cost.sim 120 cost.sh sim)
mt_add(mpi.hostcost 240 hostcost.sh)
set_tests_properties(mpi.cost mpi.cost.sim mpi.hostcost
    PROPERTIES RUN_SERIAL ON)

mt_add(mpi.scalapack 600 scalapack.sh)
