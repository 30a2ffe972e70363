# tare_folder(NAME [PIC] [DEPENDS folder...] [LIBS library...])
#
# One folder is one library target, `tare_NAME`, made of every *.cpp in it, and
# one test program, `NAME_test`, made of every *_test.cpp. DEPENDS names other
# folders and is the whole list of arrows that leave this one: the test
# `architecture.arrows` holds it, and every #include, against the design. PIC: it
# is linked into a shared object.
function(tare_folder NAME)
  cmake_parse_arguments(arg "PIC" "" "DEPENDS;LIBS" ${ARGN})
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
  if(arg_PIC)
    set_target_properties(tare_${NAME} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
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

# One precompiled header of the few heavy headers for all libraries and programs, and one for the tests, which are not
# optimised. A library of a shared object has flags of its own, and so its own header.
function(tare_pch TARGET)
  if(NOT TARE_PCH)
    return()
  endif()
  get_target_property(type ${TARGET} TYPE)
  get_target_property(pic ${TARGET} POSITION_INDEPENDENT_CODE)
  if(${TARGET} MATCHES "_test$")
    target_precompile_headers(${TARGET} REUSE_FROM tare_pch_tests)
    target_compile_definitions(${TARGET} PRIVATE FMT_SHARED)
  elseif(pic)
    target_precompile_headers(${TARGET} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch.hpp)
  else()
    target_precompile_headers(${TARGET} REUSE_FROM tare_pch)
    target_compile_definitions(${TARGET} PRIVATE FMT_SHARED)  # as the header was compiled, which has fmt in it
  endif()
endfunction()

function(tare_pch_targets)
  if(NOT TARE_PCH)
    return()
  endif()
  file(WRITE ${CMAKE_BINARY_DIR}/pch.cpp "")
  foreach(name IN ITEMS tare_pch tare_pch_tests)
    add_library(${name} OBJECT ${CMAKE_BINARY_DIR}/pch.cpp)
    target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(${name} PRIVATE fmt::fmt)
    target_precompile_headers(${name} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch.hpp)
  endforeach()
  target_compile_options(tare_pch_tests PRIVATE -O0)
endfunction()
