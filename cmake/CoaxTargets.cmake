# One OBJECT library a folder; flags live in one INTERFACE target.

add_library(coax_flags INTERFACE)
target_compile_options(coax_flags INTERFACE
    -std=c11 -Wall -Wextra -Wpedantic -Wvla -Wshadow -Wmissing-prototypes
    -ffp-contract=off)
target_compile_definitions(coax_flags INTERFACE
    _GNU_SOURCE COAX_VERSION="${PROJECT_VERSION}")
target_include_directories(coax_flags INTERFACE ${CMAKE_SOURCE_DIR}/src)

option(COAX_WERROR "treat warnings as errors" OFF)
if(COAX_WERROR)
    target_compile_options(coax_flags INTERFACE -Werror)
endif()
set(COAX_SANITIZE "" CACHE STRING "sanitizers, e.g. address,undefined")
if(COAX_SANITIZE)
    target_compile_options(coax_flags INTERFACE
        -fsanitize=${COAX_SANITIZE} -fno-omit-frame-pointer)
    target_link_options(coax_flags INTERFACE -fsanitize=${COAX_SANITIZE})
endif()

# coax_object(NAME sources...): the OBJECT library of one folder of src/.
function(coax_object name)
    add_library(${name} OBJECT ${ARGN})
    target_link_libraries(${name} PRIVATE coax_flags)
endfunction()

# One id a build tree: front and engine refuse each other when it differs. From
# the sources' contents, so that an unchanged rebuild keeps it.
file(GLOB _sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/base/*.h)
set(_all "${PROJECT_VERSION}")
foreach(_source IN LISTS _sources)
    file(SHA256 ${_source} _sum)
    string(APPEND _all ${_sum})
endforeach()
string(SHA256 _all "${_all}")
string(SUBSTRING "${_all}" 0 8 _all)
set(COAX_BUILD_ID "${PROJECT_VERSION}-${_all}")
