/// The objects that a place returned.
package struct PlaceReading {
    /// By path; their bytes fit their paths.
    package var objects: [ObjectPath: [UInt8]] = [:]
    /// Paths with bytes that do not fit them, that exceed their bound, or that are no regular file.
    /// They count as absent: the next ``GroupPlace/publish(_:to:)`` replaces them, except for
    /// entries and invites.
    package var refused: Set<ObjectPath> = []
    /// Paths that were not read, because the objects before them reached the byte limit.
    package var remaining: [ObjectPath] = []

    /// Adds bytes that were read.
    mutating func add(_ bytes: [UInt8], at path: ObjectPath) {
        if PlaceObject.fits(bytes, path) {
            objects[path] = bytes
        } else {
            refused.insert(path)
        }
    }
}
