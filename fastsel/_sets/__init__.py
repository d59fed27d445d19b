"""Arrays as sets: which items are in both arrays, in either array, or in only one of them."""
