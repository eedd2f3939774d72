#pragma once

// Exceptions of the library. They are those of the contract, because backends throw them too.
#include <cnc/contract/error.hpp>
