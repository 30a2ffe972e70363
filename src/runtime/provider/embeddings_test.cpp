#include "runtime/provider/embeddings.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/json.hpp"

namespace tare::provider {
namespace {

json::Array vector_of(std::string_view body, std::size_t index) {
  const json::Value reply = json::parse(embeddings_reply(body), "the reply");
  return reply.at("data").at(index).at("embedding").as_array();
}

TEST(Embeddings, a_text_has_one_vector_of_length_one) {
  const json::Array a = vector_of(R"({"model":"e","input":["a","b","a"]})", 0);
  EXPECT_EQ(a.size(), 256U);
  double squares = 0;
  for (const json::Value& x : a) squares += std::pow(x.to_number<double>(), 2);
  EXPECT_NEAR(squares, 1.0, 1e-5);
  EXPECT_EQ(a, vector_of(R"({"input":"a"})", 0));
  EXPECT_EQ(a, vector_of(R"({"input":["a","b","a"]})", 2));
  EXPECT_NE(a, vector_of(R"({"input":["a","b","a"]})", 1));
}

TEST(Embeddings, dimensions_and_base64_as_asked_for) {
  EXPECT_EQ(vector_of(R"({"input":"a","dimensions":3})", 0).size(), 3U);
  const json::Value reply = json::parse(
      embeddings_reply(R"({"input":"a","dimensions":1,"encoding_format":"base64"})"), "the reply");
  const std::string text(reply.at("data").at(0).at("embedding").as_string());
  EXPECT_TRUE(text == "AACAPw==" || text == "AACAvw==") << text << " is neither 1 nor -1";
}

TEST(Embeddings, refuses_another_body) {
  for (const char* body : {"", "{}", "[]", R"({"input":[]})", R"({"input":[1]})",
                           R"({"input":"a","dimensions":0})", R"({"input":"a","dimensions":4097})"}) {
    EXPECT_THROW(embeddings_reply(body), Error) << body;
  }
}

}  // namespace
}  // namespace tare::provider
