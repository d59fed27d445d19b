"""Code that the other packages share: dtypes, dispatch, threads, memory, strided arrays."""
