"""Code that all packages share: dtypes and layouts, threads, memory, strided arrays."""
