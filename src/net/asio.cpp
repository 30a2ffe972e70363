// The compiled half of Boost.Asio.

#include <boost/asio/impl/src.hpp>
