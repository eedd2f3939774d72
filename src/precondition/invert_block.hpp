#pragma once

namespace cnc::detail {

/// Inverts the b x b row-major block `a`, b in 1..16, into `inverse` (no overlap) by Gauss-Jordan
/// elimination with partial pivoting. Rows and columns are first scaled to magnitude one (by powers of
/// two, so without rounding), which makes "singular" mean singular and not merely badly scaled: unknowns
/// of different units in one block are common. `a` is overwritten.
///
/// Returns  false when the block is singular to working precision, or holds an entry that is not finite;
///          `inverse` is then undefined.
/// Source   Golub & Van Loan, "Matrix Computations", 4th ed., sections 3.4 and 3.5.2.
bool invert_block(int b, double* a, double* inverse);

}  // namespace cnc::detail
