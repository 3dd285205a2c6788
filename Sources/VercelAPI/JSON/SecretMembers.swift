package import Sealing

/// Takes the values of variables out of answers, straight from guarded memory into an arena.
package enum SecretMembers {
    /// Copies the text of the member `name` of the object in `body`.
    ///
    /// - Returns: Nil if it is missing or null.
    /// - Throws: ``JSONScanner/Problem/malformed`` too if it is neither text nor null, or is there
    ///   twice.
    package static func text(
        _ name: String, of body: RawSpan, into arena: SecretArena
    ) throws(JSONScanner.Problem) -> SecretSlice? {
        var scanner = JSONScanner()
        let found = try text(name, with: &scanner, in: body)
        try scanner.end(in: body)
        return try found?.copy(from: body, into: arena)
    }

    /// Copies the text of the member `name` of each object in a list: the array in `body`, or the
    /// array that is the member `list` of the object in `body`, or else that object alone.
    ///
    /// - Parameter isWanted: Tells by its place whether to copy the text of an element.
    /// - Returns: One entry for each element, nil where the member is missing, null or not wanted.
    package static func texts(
        _ name: String, ofList list: String, of body: RawSpan, into arena: SecretArena,
        where isWanted: (Int) -> Bool
    ) throws(JSONScanner.Problem) -> [SecretSlice?] {
        var scanner = JSONScanner()
        var found: [JSONText?]?
        if try scanner.kind(in: body) == .array {
            found = try texts(name, with: &scanner, in: body)
        } else {
            try scanner.object(in: body) { (scanner, member) throws(JSONScanner.Problem) in
                guard member.equals(list, in: body) else { return try scanner.skipValue(in: body) }
                guard found == nil else { throw .malformed }
                found = try texts(name, with: &scanner, in: body)
            }
        }
        try scanner.end(in: body)
        guard let found else {
            return [isWanted(0) ? try text(name, of: body, into: arena) : nil]
        }
        var copies: [SecretSlice?] = []
        copies.reserveCapacity(found.count)
        for (place, text) in found.enumerated() {
            copies.append(isWanted(place) ? try text?.copy(from: body, into: arena) : nil)
        }
        return copies
    }

    /// Copies all members of the object that is the member `name` of the object in `body`.
    ///
    /// - Returns: Nil if it is missing or null.
    /// - Throws: ``JSONScanner/Problem/malformed`` too if a member is no text or is there twice.
    package static func map(
        _ name: String, of body: RawSpan, into arena: SecretArena
    ) throws(JSONScanner.Problem) -> [String: SecretSlice]? {
        var scanner = JSONScanner()
        var map: [String: SecretSlice]?
        try scanner.object(in: body) { (scanner, member) throws(JSONScanner.Problem) in
            guard member.equals(name, in: body) else { return try scanner.skipValue(in: body) }
            if try scanner.kind(in: body) == .null { return try scanner.skipValue(in: body) }
            guard map == nil else { throw .malformed }
            var values: [String: SecretSlice] = [:]
            try scanner.object(in: body) { (scanner, key) throws(JSONScanner.Problem) in
                let value = try scanner.text(in: body).copy(from: body, into: arena)
                guard values.updateValue(value, forKey: key.name(in: body)) == nil else {
                    throw .malformed
                }
            }
            map = values
        }
        try scanner.end(in: body)
        return map
    }

    private static func texts(
        _ name: String, with scanner: inout JSONScanner, in body: RawSpan
    ) throws(JSONScanner.Problem) -> [JSONText?] {
        var texts: [JSONText?] = []
        try scanner.array(in: body) { (scanner) throws(JSONScanner.Problem) in
            texts.append(try text(name, with: &scanner, in: body))
        }
        return texts
    }

    /// Reads one object and finds the member `name` in it.
    private static func text(
        _ name: String, with scanner: inout JSONScanner, in body: RawSpan
    ) throws(JSONScanner.Problem) -> JSONText? {
        var isThere = false
        var text: JSONText?
        try scanner.object(in: body) { (scanner, member) throws(JSONScanner.Problem) in
            guard member.equals(name, in: body) else { return try scanner.skipValue(in: body) }
            guard !isThere else { throw .malformed }
            isThere = true
            if try scanner.kind(in: body) == .null { return try scanner.skipValue(in: body) }
            text = try scanner.text(in: body)
        }
        return text
    }
}
