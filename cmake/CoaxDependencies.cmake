# What Coax builds against. Nothing is fetched; each miss says what to install.

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

pkg_check_modules(UCX IMPORTED_TARGET ucx>=1.13)
if(NOT UCX_FOUND)
    message(FATAL_ERROR "UCX 1.13 or newer not found: install libucx-dev")
endif()

# MPICH by name: a second MPI on the machine must not be picked up.
find_program(COAX_MPICC NAMES mpicc.mpich DOC "MPICH compiler wrapper")
find_program(COAX_MPIRUN NAMES mpirun.mpich mpiexec.hydra DOC "MPICH launcher")
if(NOT COAX_MPICC)
    message(FATAL_ERROR "mpicc.mpich not found: install libmpich-dev, "
        "or pass -DCOAX_MPICC=/path/to/mpicc of an MPICH")
endif()
execute_process(COMMAND ${COAX_MPICC} -show
    OUTPUT_VARIABLE _show OUTPUT_STRIP_TRAILING_WHITESPACE)
string(REGEX MATCHALL "-I[^ ]+" _dirs "${_show}")
list(TRANSFORM _dirs REPLACE "^-I" "" OUTPUT_VARIABLE COAX_MPI_INCLUDE_DIRS)

# CUDA headers: the toolkit's, else the project's own declarations.
find_path(COAX_CUDA_TOOLKIT_INCLUDE cuda.h
    HINTS $ENV{CUDA_HOME}/include $ENV{CUDA_PATH}/include
    PATHS /usr/local/cuda/include NO_CMAKE_SYSTEM_PATH)
option(COAX_USE_CUDA_TOOLKIT "compile against the CUDA toolkit's headers" ON)
if(COAX_USE_CUDA_TOOLKIT AND COAX_CUDA_TOOLKIT_INCLUDE)
    set(CX_CUDA_INCLUDE_DIR ${COAX_CUDA_TOOLKIT_INCLUDE})
    message(STATUS "CUDA headers: ${CX_CUDA_INCLUDE_DIR}")
else()
    set(CX_CUDA_INCLUDE_DIR ${CMAKE_SOURCE_DIR}/src/cuda/include)
    message(STATUS "CUDA headers: none found, using the project's own")
endif()
message(STATUS "UCX ${UCX_VERSION}, MPI wrapper ${COAX_MPICC}")
