"""Results as columns, which every method reads: histories, the merging of rows that say the same, counts by
pair; and what makes passes over them fast (Numba when it is installed, one thread of BLAS). Imports only
`ratings.arrays`."""
