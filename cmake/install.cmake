# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts under the prefix: the program, the SDK's headers, the libraries behind berth::main and
# berth::testing, and the CMake package that defines both. `--target sdk` builds just that.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

get_property(folders GLOBAL PROPERTY BERTH_TEST_FOLDERS)
set(libraries berth_main berth_plugin_testing)
foreach(name IN LISTS folders)
  list(APPEND libraries berth_${name})
endforeach()
foreach(library IN LISTS libraries)
  string(REPLACE berth_ "" name ${library})
  set_target_properties(${library} PROPERTIES EXPORT_NAME internal_${name})
endforeach()
# The two that authors name.
set_target_properties(berth_main PROPERTIES EXPORT_NAME main)
set_target_properties(berth_plugin_testing PROPERTIES EXPORT_NAME testing)
# Authors' sources are compiled as ours: what the headers need, and numbers that do not depend on the processor.
target_compile_features(berth_sdk PUBLIC cxx_std_20)
target_compile_options(berth_sdk INTERFACE $<INSTALL_INTERFACE:-ffp-contract=off>)

install(TARGETS ${libraries} EXPORT berth ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/berth
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/berth DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS berth RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/berth)
install(EXPORT berth NAMESPACE berth:: FILE berthTargets.cmake DESTINATION ${package_dir})
configure_package_config_file(cmake/berthConfig.cmake.in ${PROJECT_BINARY_DIR}/berthConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
# Nothing is promised from one 0.x to the next.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/berthConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/berthConfig.cmake ${PROJECT_BINARY_DIR}/berthConfigVersion.cmake
        DESTINATION ${package_dir})

add_custom_target(sdk DEPENDS berth ${libraries})
