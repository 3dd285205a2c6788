// The first suite lands with the next change.
