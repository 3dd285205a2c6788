package import JSON
package import Sealing

/// Copies the values of variables from responses, directly from guarded memory into an arena.
///
/// All functions also throw `JSONError.malformed` if a member is repeated, or is neither a string
/// nor null.
package enum SecretMembers {
    /// Copies the string in the member `name` of the object in `body`.
    ///
    /// - Returns: Nil if it is missing or null.
    package static func text(
        _ name: String, of body: RawSpan, into arena: SecretArena
    ) throws(JSONError) -> SecretSlice? {
        try read(body) { tree in
            guard tree.kind(0) == .object else { throw JSONError.malformed }
            return try text(name, of: 0, in: tree, into: arena)
        }
    }

    /// Copies the string in the member `name` of each object in a list: the array in `body`, the
    /// array in the member `list` of the object in `body`, or else that object alone.
    ///
    /// - Parameter isWanted: Returns whether to copy the string of the element at an index.
    /// - Returns: One entry for each element, nil where the member is missing, null or not wanted.
    package static func texts(
        _ name: String, ofList list: String, of body: RawSpan, into arena: SecretArena,
        where isWanted: (Int) -> Bool
    ) throws(JSONError) -> [SecretSlice?] {
        try read(body) { tree in
            var elements = [0]
            if tree.kind(0) == .array {
                elements = tree.elements(of: 0)
            } else if let found = try member(list, of: 0, in: tree) {
                guard tree.kind(found) == .array else { throw JSONError.malformed }
                elements = tree.elements(of: found)
            }
            return try elements.enumerated().map { place, element in
                let arena = isWanted(place) ? arena : nil
                return try text(name, of: element, in: tree, into: arena)
            }
        }
    }

    /// Copies all members of the object in the member `name` of the object in `body`.
    ///
    /// - Returns: Nil if it is missing or null.
    package static func map(
        _ name: String, of body: RawSpan, into arena: SecretArena
    ) throws(JSONError) -> [String: SecretSlice]? {
        try read(body) { tree in
            guard let found = try member(name, of: 0, in: tree) else { return nil }
            guard tree.kind(found) == .object else { throw JSONError.malformed }
            var values: [String: SecretSlice] = [:]
            try tree.forEachMember(of: found) { key, value in
                let slice = try copy(value, in: tree, into: arena)
                guard values.updateValue(slice, forKey: try tree.text(key)) == nil else {
                    throw JSONError.malformed
                }
                return true
            }
            return values
        }
    }

    private static func read<Result>(
        _ body: RawSpan, _ work: (JSONTree) throws -> Result
    ) throws(JSONError) -> Result {
        do {
            return try JSONTree.read(body, work)
        } catch {
            throw error as? JSONError ?? .malformed
        }
    }

    /// Returns the node of a member's value, or nil if it is missing or null.
    private static func member(
        _ name: String, of object: Int, in tree: JSONTree
    ) throws -> Int? {
        guard tree.kind(object) == .object else { throw JSONError.malformed }
        var found: Int?
        try tree.forEachMember(of: object) { key, value in
            guard tree.isText(key, name) else { return true }
            guard found == nil else { throw JSONError.malformed }
            found = value
            return true
        }
        return found.flatMap { tree.isNull($0) ? nil : $0 }
    }

    /// - Parameter arena: Nil to only check that the member is a string.
    private static func text(
        _ name: String, of object: Int, in tree: JSONTree, into arena: SecretArena?
    ) throws -> SecretSlice? {
        guard let found = try member(name, of: object, in: tree) else { return nil }
        guard let arena else {
            guard tree.forEachByte(ofText: found, { _ in }) else { throw JSONError.malformed }
            return nil
        }
        return try copy(found, in: tree, into: arena)
    }

    private static func copy(
        _ node: Int, in tree: JSONTree, into arena: SecretArena
    ) throws -> SecretSlice {
        var count = 0
        guard tree.forEachByte(ofText: node, { _ in count += 1 }) else {
            throw JSONError.malformed
        }
        guard let slice = try? arena.allocate(count: count) else { throw JSONError.outOfMemory }
        slice.withMutableBytes { target in
            var place = 0
            _ = tree.forEachByte(ofText: node) { byte in
                target.storeBytes(of: byte, toByteOffset: place, as: UInt8.self)
                place += 1
            }
        }
        return slice
    }
}
