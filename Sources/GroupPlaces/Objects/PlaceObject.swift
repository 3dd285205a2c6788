internal import Groups

/// The bytes of a group's object, and where they belong.
package struct PlaceObject: Equatable, Sendable {
    package let path: ObjectPath
    package let bytes: [UInt8]

    /// Returns nil if the bytes do not fit the path, or if the path cannot be written: an entry's
    /// number has more than ten digits or is 0.
    package init?(_ path: ObjectPath, _ bytes: [UInt8]) {
        guard Self.fits(bytes, path) else { return nil }
        switch path {
        case .entry(let number), .losingEntry(let number, _):
            guard number > 0, number <= ObjectPath.largestNumber else { return nil }
        case .change, .invite, .join: break
        }
        self.path = path
        self.bytes = bytes
    }

    /// Returns whether bytes are within the bound of their kind and have the hash of the path, if
    /// the path has one. Whether an entry has its number and an invite its id, the decoder says.
    package static func fits(_ bytes: [UInt8], _ path: ObjectPath) -> Bool {
        guard !bytes.isEmpty, bytes.count <= path.limit else { return false }
        return path.hash.map { GroupHash(of: bytes) == $0 } ?? true
    }
}
