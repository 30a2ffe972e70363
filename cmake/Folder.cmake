# tare_folder(NAME [DEPENDS folder...] [LIBS library...])
#
# One folder is one library target, `tare_NAME`, made of every *.cpp in it, and
# one test program, `NAME_test`, made of every *_test.cpp. DEPENDS names other
# folders and is the whole list of arrows that leave this one: the test
# `architecture.arrows` holds it, and every #include, against the design.
function(tare_folder NAME)
  cmake_parse_arguments(arg "" "" "DEPENDS;LIBS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cpp)
  file(GLOB tests CONFIGURE_DEPENDS *_test.cpp)
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  list(TRANSFORM arg_DEPENDS PREPEND tare_)

  if(NOT sources)
    add_library(tare_${NAME} INTERFACE)
    return()
  endif()
  add_library(tare_${NAME} STATIC ${sources})
  target_include_directories(tare_${NAME} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(tare_${NAME} PUBLIC ${arg_DEPENDS} ${arg_LIBS})
  tare_pch(tare_${NAME})

  if(tests)
    add_executable(${NAME}_test ${tests})
    target_link_libraries(${NAME}_test PRIVATE tare_${NAME} GTest::gtest_main GTest::gmock)
    set_target_properties(${NAME}_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    target_compile_options(${NAME}_test PRIVATE -O0)  # what they test is optimised; they compile twice as fast
    target_compile_definitions(${NAME}_test PRIVATE TARE_GOLDEN_DIR="${CMAKE_SOURCE_DIR}/tests/golden")
    tare_pch(${NAME}_test)
    gtest_discover_tests(${NAME}_test
      TEST_PREFIX "${NAME}." DISCOVERY_MODE PRE_TEST
      PROPERTIES LABELS unit TIMEOUT 60)
  endif()
endfunction()

# Every target has its own precompiled header of the same few heavy headers.
function(tare_pch TARGET)
  if(TARE_PCH)
    target_precompile_headers(${TARGET} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch.hpp)
  endif()
endfunction()
include(GoogleTest)
