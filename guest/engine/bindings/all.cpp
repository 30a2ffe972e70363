#include <array>

#include "engine/isolate/native.hpp"

namespace tare::engine {

extern const Binding async_context_frame_binding;
extern const Binding block_list_binding;
extern const Binding buffer_binding;
extern const Binding cjs_lexer_binding;
extern const Binding contextify_binding;
extern const Binding encoding_binding;
extern const Binding errors_binding;
extern const Binding icu_binding;
extern const Binding kept_graph_binding;
extern const Binding loop_binding;
extern const Binding messaging_binding;
extern const Binding module_wrap_binding;
extern const Binding modules_binding;
extern const Binding ossl_binding;
extern const Binding performance_binding;
extern const Binding serdes_binding;
extern const Binding string_decoder_binding;
extern const Binding sys_binding;
extern const Binding task_queue_binding;
extern const Binding timers_binding;
extern const Binding types_binding;
extern const Binding uncaught_binding;
extern const Binding url_binding;
extern const Binding util_binding;
extern const Binding v8_binding;
extern const Binding zlib_binding;

std::span<const Binding* const> all_bindings() {
  static constexpr std::array bindings{
      &async_context_frame_binding,
      &block_list_binding,
      &buffer_binding,
      &cjs_lexer_binding,
      &contextify_binding,
      &encoding_binding,
      &errors_binding,
      &icu_binding,
      &kept_graph_binding,
      &loop_binding,
      &messaging_binding,
      &module_wrap_binding,
      &modules_binding,
      &ossl_binding,
      &performance_binding,
      &serdes_binding,
      &string_decoder_binding,
      &sys_binding,
      &task_queue_binding,
      &timers_binding,
      &types_binding,
      &uncaught_binding,
      &url_binding,
      &util_binding,
      &v8_binding,
      &zlib_binding,
  };
  return bindings;
}

}  // namespace tare::engine
