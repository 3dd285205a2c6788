// The first helpers land with the next change.
