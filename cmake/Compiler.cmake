# Compiler flags, ccache and sanitizers, the same for every target.

set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

find_program(CCACHE ccache)
if(CCACHE)
  # A precompiled header is only cached when ccache may ignore its defines. Depend mode saves the
  # preprocessor's run at every miss, which costs as much as the precompiled header saves.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_DEPEND=1 ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()

add_compile_options(-Wall -Wextra -fno-omit-frame-pointer)
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wpedantic> $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # g++ 12 warns about its own std::string here (GCC bug 105329, 105651).
  foreach(warning IN ITEMS restrict stringop-overflow stringop-overread array-bounds)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-${warning}>)
  endforeach()
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  if(TARE_UNITY)  # each file is a header then, to the compiler
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
  endif()
endif()
if(TARE_WERROR)
  add_compile_options(-Werror)
endif()
if(TARE_SANITIZE)
  add_compile_options(-fsanitize=${TARE_SANITIZE})
  if(TARE_SANITIZE MATCHES thread AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    add_compile_options(-Wno-tsan)  # asio's fences, which its mutexes make superfluous
  endif()
  add_link_options(-fsanitize=${TARE_SANITIZE})
endif()
if(NOT TARE_SANITIZE)
  add_link_options(-static-libstdc++ -static-libgcc)  # half of the time to start
endif()
add_compile_options(-ffunction-sections -fdata-sections)
add_link_options(-Wl,--gc-sections)
