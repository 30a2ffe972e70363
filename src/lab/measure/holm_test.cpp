#include "lab/measure/holm.hpp"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tare::measure {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Holm, multiplies_step_by_step_and_never_falls) {
  // Sorted .005 .01 .03 .04: times 4, 3, 2, 1 is .02 .03 .06 .04, and .04 rises to .06.
  EXPECT_THAT(holm(std::vector<double>{0.01, 0.04, 0.03, 0.005}),
              ElementsAre(DoubleNear(0.03, 1e-12), DoubleNear(0.06, 1e-12), DoubleNear(0.06, 1e-12),
                          DoubleNear(0.02, 1e-12)));
}

TEST(Holm, one_p_value_is_left_alone_and_none_is_legal) {
  EXPECT_THAT(holm(std::vector<double>{0.2}), ElementsAre(0.2));
  EXPECT_THAT(holm({}), IsEmpty());
}

TEST(Holm, never_exceeds_one) {
  EXPECT_THAT(holm(std::vector<double>{0.6, 0.9, 0.7}), ElementsAre(1, 1, 1));
}

}  // namespace
}  // namespace tare::measure
