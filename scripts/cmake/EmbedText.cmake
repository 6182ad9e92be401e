# verso_embed(<folder>): each style sheet and script of a page, src/<folder>/<name>.css or .js, as
# the header "<folder>/<name>.css.h" with the constant kNameCss, a std::string_view: so they are
# files that an editor and a browser's tools know, and the program still needs no file of its own.
function(verso_embed folder)
  file(GLOB parts CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${folder}/*.css
    ${CMAKE_SOURCE_DIR}/src/${folder}/*.js)
  foreach(part IN LISTS parts)
    set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${part})
    get_filename_component(file ${part} NAME)
    string(REGEX MATCHALL "[a-z]+" words ${file})
    set(constant k)
    foreach(word IN LISTS words)
      string(SUBSTRING ${word} 0 1 first)
      string(SUBSTRING ${word} 1 -1 rest)
      string(TOUPPER ${first} first)
      string(APPEND constant ${first}${rest})
    endforeach()
    file(READ ${part} text)
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/embedded/${folder}/${file}.h @ONLY CONTENT
"// Made of src/${folder}/${file} by scripts/cmake/EmbedText.cmake.
#pragma once

#include <string_view>

namespace verso {
inline constexpr std::string_view @constant@ = R\"embedded(@text@)embedded\";
}
")
    target_include_directories(verso_${folder} PRIVATE ${CMAKE_BINARY_DIR}/embedded)
  endforeach()
endfunction()
