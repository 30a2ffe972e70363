#pragma once

#include <cstdint>

/// The parts of ICU that the Node that hosts this exports, by their names in it: its headers don't come with
/// Node.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
struct UConverter;
UConverter* ucnv_open_78(const char* name, int* status);
void ucnv_close_78(UConverter* converter);
void ucnv_toUnicode_78(UConverter* converter, char16_t** target, const char16_t* target_limit,
                       const char** source, const char* source_limit, std::int32_t* offsets,
                       signed char flush, int* status);
int ucnv_toUCountPending_78(const UConverter* converter, int* status);
using UConverterToUCallback = void (*)(const void* context, void* args, const char* units,
                                       std::int32_t length, int reason, int* status);
void ucnv_setToUCallBack_78(UConverter* converter, UConverterToUCallback action, const void* context,
                            UConverterToUCallback* old_action, const void** old_context, int* status);
void ucnv_setSubstChars_78(UConverter* converter, const char* characters, signed char length, int* status);
void UCNV_TO_U_CALLBACK_STOP_78(const void* context, void* args, const char* units, std::int32_t length,
                                int reason, int* status);
const char* u_errorName_78(int status);
std::int8_t u_charType_78(std::int32_t character);
std::int32_t u_getIntPropertyValue_78(std::int32_t character, int property);
signed char u_hasBinaryProperty_78(std::int32_t character, int property);
}
// NOLINTEND(readability-identifier-naming)
