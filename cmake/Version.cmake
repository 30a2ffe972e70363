# Writes OUT, a C++ file with the version facts, only when they changed.
# Run at every build: cmake -DSOURCE=… -DOUT=… -DVERSION=… -DBUILD=… -P Version.cmake
execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(commit unknown)
else()
  execute_process(COMMAND git -C ${SOURCE} status --porcelain --untracked-files=no
    OUTPUT_VARIABLE changes ERROR_QUIET)
  if(changes)
    string(APPEND commit +)
  endif()
endif()
set(text "#include \"base/version.hpp\"

namespace tare {
std::string_view version() { return \"${VERSION}\"; }
std::string_view commit() { return \"${commit}\"; }
std::string_view build() { return \"${BUILD}\"; }
}  // namespace tare
")
if(EXISTS ${OUT})
  file(READ ${OUT} old)
endif()
if(NOT "${old}" STREQUAL "${text}")
  file(WRITE ${OUT} "${text}")
endif()
