#include <cnc/context.hpp>

#include "parallel.hpp"

namespace cnc {

int default_threads() { return detail::set_up_threads(); }

}  // namespace cnc
