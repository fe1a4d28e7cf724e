# Every predefined type and operation, user-defined ones, derived types on both
# sides of each threshold, large counts: included by CMakeLists.txt.

foreach(program everyop everytype aliases)
    mt_program(${program})
    target_sources(mt-${program} PRIVATE rtypes.c)
    target_link_libraries(mt-${program} PRIVATE test_oracle)
endforeach()
mt_program(userops)
mt_program(bigcount)

mt_add(mpi.everytype.plain 60 run.sh -m plain -n 3 everytype)
mt_add(mpi.everytype.sim 60 run.sh -m sim -n 3 -c -e COAX_SMALL=0
    everytype --way=engine --gpu)
mt_add(mpi.everytype.staged 60 run.sh -m sim -n 3 -c -e COAX_SMALL=1G
    everytype --way=staged --gpu)
mt_add(mpi.everyop.plain 120 run.sh -m plain -n 3 everyop --plain)
mt_add(mpi.everyop.host 120 run.sh -m host -n 3 -c -e COAX_SMALL=0
    everyop --way=engine)
mt_add(mpi.everyop.ring 120 run.sh -m host -n 3 -c -e COAX_SMALL=0
    -a allreduce:ring everyop --way=engine)
mt_add(mpi.everyop.sim 120 run.sh -m sim -n 3 -c -e COAX_SMALL=0
    everyop --way=engine --gpu)
mt_add(mpi.everyop.staged 120 run.sh -m sim -n 3 -c -e COAX_SMALL=1G
    everyop --way=staged --gpu)
mt_add(mpi.bigcount.host 300 run.sh -m host -n 2 -t 290 -c
    -e COAX_TIMEOUT=280 bigcount)
mt_add(mpi.bigcount.staged 300 run.sh -m sim -n 2 -t 290 -c -e SIMGPU_MEM=4G
    bigcount --gpu)
set_tests_properties(mpi.bigcount.host mpi.bigcount.staged
    PROPERTIES LABELS "mpi;slow")

mt_add(mpi.userops.plain 60 run.sh -m plain -n 3 userops)
mt_add(mpi.userops.host 60 run.sh -m host -n 3 -c -e COAX_SMALL=0 userops)
mt_add(mpi.userops.sim 60 run.sh -m sim -n 3 -c -e COAX_SMALL=0 userops --gpu)

# Around COAX_SMALL, where 85 units are 4080 bytes and 3 x 28 are 4032, and
# around the change of algorithm at 64 KiB.
mt_add(mpi.types.small.host 60 run.sh -m host -n 3 -c -e COAX_SMALL=4K
    types --units=28,29,85,86 --small=4096)
mt_add(mpi.types.small.sim 60 run.sh -m sim -n 3 -c -e COAX_SMALL=4K
    types --units=28,29 --small=4096 --gpu)
mt_add(mpi.types.edge 60 run.sh -m host -n 3 -c
    types --units=455,456,1365,1366 --small=4096)

mt_preload(shim_logical)
mt_add(mpi.aliases.host 60 run.sh -m host -n 3 -c aliases)
mt_add(mpi.aliases.sim 60 run.sh -m sim -n 3 -c aliases --gpu)
mt_add(mpi.aliases.foreign 60 run.sh -m host -n 3 -c aliases --foreign)
set_tests_properties(mpi.aliases.foreign PROPERTIES
    ENVIRONMENT "MT_CONFIG=${MT_BIN}/config.sh;MT_BEHIND=libshim_logical.so")

# What the Fortran compiler means by its kinds.
if(MT_MPIFORT)
    mt_wrapped(MT_MPIFORT fkinds fkinds.f90 -w -fallow-argument-mismatch)
    mt_add(mpi.fkinds 60 run.sh -m host -n 3 fkinds)
endif()
