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

# --- language bindings -------------------------------------------------------

mt_preload(shim_front)
mt_program(binding_c)
target_sources(mt-binding_c PRIVATE binding_memory.c)

add_library(mt-binding_module MODULE binding_module.c)
target_link_libraries(mt-binding_module PRIVATE coax_flags ${MT_MPI_LINK})
target_include_directories(mt-binding_module SYSTEM PRIVATE
    ${COAX_MPI_INCLUDE_DIRS})
set_target_properties(mt-binding_module PROPERTIES
    OUTPUT_NAME binding_module PREFIX lib LIBRARY_OUTPUT_DIRECTORY ${MT_BIN})
add_executable(mt-binding_local binding_local.c)
target_link_libraries(mt-binding_local PRIVATE coax_flags ${CMAKE_DL_LIBS})
set_target_properties(mt-binding_local PROPERTIES OUTPUT_NAME binding_local
    RUNTIME_OUTPUT_DIRECTORY ${MT_BIN})

# By MPICH's compiler wrappers, as users build; with the memory helper in C.
add_library(mt-binding_memory STATIC binding_memory.c mt.c mtbuf.c)
target_include_directories(mt-binding_memory SYSTEM PRIVATE
    ${COAX_MPI_INCLUDE_DIRS})
target_link_libraries(mt-binding_memory PRIVATE coax_flags)
function(mt_wrapped wrapper name source)
    if(NOT ${wrapper})
        return()
    endif()
    add_custom_command(OUTPUT ${MT_BIN}/${name}
        COMMAND ${${wrapper}} -O1 ${ARGN} -I${CMAKE_CURRENT_SOURCE_DIR}
            -o ${MT_BIN}/${name} ${CMAKE_CURRENT_SOURCE_DIR}/${source}
            $<TARGET_FILE:mt-binding_memory> -ldl
        DEPENDS ${source} mt-binding_memory VERBATIM)
    add_custom_target(mt-${name} ALL DEPENDS ${MT_BIN}/${name})
endfunction()
find_program(MT_MPICXX mpicxx.mpich)
mt_wrapped(MT_MPICXX binding_cxx binding_cxx.cc)
mt_wrapped(MT_MPIFORT binding_f08 binding_f08.f90)
mt_wrapped(MT_MPIFORT binding_mpi binding_mpi.F90)
mt_wrapped(MT_MPIFORT binding_mpif binding_mpi.F90 -DUSE_MPIF)

foreach(language c cxx f08 use_mpi mpif_h local)
    mt_add(mpi.binding.${language} 60 bindings.sh ${language})
endforeach()
mt_add(mpi.binding.throw 60 run.sh -m sim -n 2 -e MT_GPU=1 binding_cxx throw)
mt_add(mpi.binding.mpi4py 180 bindings.sh mpi4py)

# --- what belongs to the program ---------------------------------------------

mt_program(state)
target_sources(mt-state PRIVATE hoststate.c)
mt_add(mpi.state.plain 60 run.sh -m plain -n 2 state)
mt_add(mpi.state.host 60 run.sh -m host -n 2 -c state)
mt_add(mpi.state.sim 60 run.sh -m sim -n 2 -c -e SIMGPU_DEVICES=2 state --gpu)
mt_add(mpi.state.staged 60 run.sh -m sim -n 2 -e SIMGPU_DEVICES=2
    -e COAX_SMALL=1G state --gpu)
add_library(mt-tinympi SHARED tinympi.c tinympi_rest.c)
target_link_libraries(mt-tinympi PRIVATE coax_flags)
target_include_directories(mt-tinympi SYSTEM PRIVATE ${COAX_MPI_INCLUDE_DIRS})
target_compile_definitions(mt-tinympi PRIVATE MPICH_SKIP_MPICXX)
set_target_properties(mt-tinympi PROPERTIES OUTPUT_NAME tinympi
    C_VISIBILITY_PRESET default LIBRARY_OUTPUT_DIRECTORY ${MT_BIN})
add_executable(mt-state_tiny state_tiny.c hoststate.c mt.c mtbuf.c)
target_include_directories(mt-state_tiny SYSTEM PRIVATE
    ${COAX_MPI_INCLUDE_DIRS})
target_link_libraries(mt-state_tiny PRIVATE coax_flags mt-tinympi
    ${CMAKE_DL_LIBS} m)
set_target_properties(mt-state_tiny PROPERTIES OUTPUT_NAME state_tiny
    RUNTIME_OUTPUT_DIRECTORY ${MT_BIN})
mt_add(mpi.state.no_ucx 30 state_tiny.sh)

# --- what is left, tools, children -------------------------------------------

mt_program(left)
foreach(mode host sim)
    mt_add(mpi.left.${mode} 60 left.sh ${mode})
endforeach()

foreach(kind plain both)
    add_library(mt-tool_${kind} MODULE tool.c)
    target_link_libraries(mt-tool_${kind} PRIVATE coax_flags ${CMAKE_DL_LIBS})
    target_include_directories(mt-tool_${kind} SYSTEM PRIVATE
        ${COAX_MPI_INCLUDE_DIRS})
    set_target_properties(mt-tool_${kind} PROPERTIES
        OUTPUT_NAME tool_${kind} PREFIX lib LIBRARY_OUTPUT_DIRECTORY ${MT_BIN})
endforeach()
target_compile_definitions(mt-tool_both PRIVATE TOOL_BOTH)
mt_add(mpi.tools 60 tools.sh)

mt_program(children)
mt_add(mpi.children.plain 60 run.sh -m plain -n 2 children)
mt_add(mpi.children.host 60 run.sh -m host -n 2 -c children)
mt_add(mpi.children.sim 60 run.sh -m sim -n 2 -c children --gpu)

mt_program(late_mix)
mt_add(mpi.late.mix 90 late_mix.sh)

mt_add(mpi.installed 60 installed.sh ${CMAKE_COMMAND} ${CMAKE_BINARY_DIR})
mt_add(mpi.launchers 60 launchers.sh)

# --- corners that once went wrong --------------------------------------------

mt_program(corners)
foreach(part traps inter blocks large)
    mt_add(mpi.corners.${part} 30 run.sh -m sim -n 3 -e COAX_SMALL=0
        corners --part=${part})
endforeach()
mt_add(mpi.corners.alias 30 run.sh -m sim -n 1 corners --part=alias)
set_property(TEST mpi.corners.alias APPEND PROPERTY ENVIRONMENT MT_LINES=yes)
mt_add(mpi.corners.child 30 run.sh -m sim -n 2 -e COAX_CUDA_SUPPORT=yes
    corners --part=child)
