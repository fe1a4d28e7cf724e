# Threads, stacks, many communicators, cost: included by CMakeLists.txt.

foreach(program stacks hostcost many)
    mt_program(${program})
endforeach()
target_sources(mt-many PRIVATE simcount.c)
target_sources(mt-hostcost PRIVATE simcount.c)

mt_add(mpi.stacks 60 run.sh -m sim -n 2 stacks)

mt_add(mpi.threads.calls.host 240 run.sh -m host -n 2 -c -t 230
    threads --calls=3000)
mt_add(mpi.threads.calls.sim 240 run.sh -m sim -n 2 -c -t 230
    threads --gpu --calls=10000)

mt_add(mpi.many.plain 120 run.sh -m plain -n 2 many --total=3000)
mt_add(mpi.many.host 240 run.sh -m host -n 2 -c -t 230 many --total=3000
    --bytes=32768)
mt_add(mpi.many.sim 240 run.sh -m sim -n 2 -c -t 230 many --gpu
    --bytes=32768)

mt_add(mpi.cost 120 cost.sh auto)
mt_add(mpi.cost.sim 120 cost.sh sim)
mt_add(mpi.hostcost 600 hostcost.sh)
set_tests_properties(mpi.cost mpi.cost.sim mpi.hostcost
    PROPERTIES RUN_SERIAL ON)

mt_add(mpi.scalapack 600 scalapack.sh)
