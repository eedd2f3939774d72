#pragma once

#include "arguments.hpp"
#include "geometry/distortion.hpp"
#include "geometry/raster.hpp"
#include "surface.hpp"

#include <span>
#include <string>
#include <vector>

namespace cnc::cli {

/// The surface with a checkerboard mapped onto it, and beside it its map in the plane: darker where angles are bent,
/// triangles that came out the other way round in red.
geometry::Image parameterization_picture(const MeshArguments& arguments, const Surface& surface,
                                         std::span<const geometry::Uv> uv);

/// The surface before and after its points moved, from the same place.
geometry::Image smoothing_picture(const MeshArguments& arguments, const Surface& surface,
                                  const std::vector<geometry::Point>& moved);

/// The map in the plane as SVG: its outline filled with the checkerboard, its edges where they are not too many for a
/// reader, triangles that came out the other way round in red.
std::string layout_svg(const Surface& surface, std::span<const geometry::Uv> uv);

}  // namespace cnc::cli
