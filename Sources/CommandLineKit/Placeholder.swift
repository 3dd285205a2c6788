// The first declarations of this target land with the next change.
