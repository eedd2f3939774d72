# What Doxygen reads of a header (see Doxyfile).

# "/// Errors   text" begins a line of its own, as it does in the comment.
s,^( *)/// (Shapes|Sizes|Values|Types|Async|Errors|Cost|Method|Source|Units)  +,\1/// @n<b>\2</b> ,

# Members whose names say it everywhere are described once, here.
s,^( *using value_type = [^/]*;)$,\1  ///< type of the stored values,
s,^( *using memory_space = [^/]*;)$,\1  ///< where the data are,
s,^( *bool operator==.*= default;)$,\1  ///< equal member by member,
s,^( *index_t rows = 0;)$,\1  ///< scalars,
s,^( *index_t cols = 0;)$,\1  ///< scalars,
s,^( *int block_size = 1;)$,\1  ///< rows and columns of a block,
s,^( *index_t block_rows\(\) .*\})$,\1  ///< a partial last one included,
s,^( *constexpr index_t block_rows\(\) .*\})$,\1  ///< a partial last one included,
s,^( *index_t block_cols\(\) .*\})$,\1  ///< a partial last one included,
s,^( *constexpr index_t block_cols\(\) .*\})$,\1  ///< a partial last one included,
s,^( *offset_t stored\(\) .*\})$,\1  ///< stored values\, fill included,
s,^( *const char\* format_name\(\) .*\})$,\1  ///< as on the command line\, without the block size,
