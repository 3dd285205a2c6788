// The first suite of this target lands with the next change.
