# Install rules: PREFIX/bin/coax finds PREFIX/<libdir>/libcoax.so relative to
# itself, so the installed tree can be moved.

include(CMakePackageConfigHelpers)
set(_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/coax)

# Linkers with --as-needed drop libcoax.so from a Fortran program, which names
# no symbol of it, and the MPI library from one that calls only what Coax takes.
target_link_options(coax INTERFACE LINKER:--no-as-needed)

install(TARGETS coax-cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS coax EXPORT coaxTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET coax-engine)
    install(TARGETS coax-engine LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/README.md
    DESTINATION ${CMAKE_INSTALL_DOCDIR})
# Where the links of the README point.
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR}
    FILES_MATCHING PATTERN *.md)
install(FILES ${CMAKE_SOURCE_DIR}/src/simgpu/README.md
    DESTINATION ${CMAKE_INSTALL_DOCDIR}/src/simgpu)

install(EXPORT coaxTargets NAMESPACE coax:: DESTINATION ${_config_dir})
write_basic_package_version_file(
    ${CMAKE_BINARY_DIR}/cmake/coaxConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/coaxConfig.cmake.in
    ${CMAKE_BINARY_DIR}/cmake/coaxConfig.cmake
    INSTALL_DESTINATION ${_config_dir})
install(FILES ${CMAKE_BINARY_DIR}/cmake/coaxConfig.cmake
    ${CMAKE_BINARY_DIR}/cmake/coaxConfigVersion.cmake
    DESTINATION ${_config_dir})

file(RELATIVE_PATH COAX_PC_PREFIX
    /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(${CMAKE_SOURCE_DIR}/cmake/coax.pc.in
    ${CMAKE_BINARY_DIR}/cmake/coax.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/cmake/coax.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
