#pragma once

// On an NVIDIA GPU its own launch policies hold, so that speed there tells about everything else.
#include <cuda/target/tuning.hpp>
