extension [SchemaItem] {
    /// The items by key in byte order. Of several with the same key, the first counts.
    var declarationOrder: [SchemaItem] {
        var seen: Set<[UInt8]> = []
        return filter { seen.insert([UInt8]($0.key.utf8)).inserted }
            .sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }
}

extension ValueType {
    /// The members of an enum without repetition; nil for other types, and where none is known.
    var members: [String]? {
        guard name == .enum, case .list(let values) = options["values"], !values.isEmpty else {
            return nil
        }
        var seen: Set<[UInt8]> = []
        return values.filter { seen.insert([UInt8]($0.utf8)).inserted }
    }
}

extension Unicode.Scalar {
    /// Whether the character neither ends a line, nor controls a terminal, nor changes the order in
    /// which an editor shows what is around it.
    var isHarmlessInText: Bool {
        switch value {
        case 0x00...0x1F, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069,
            0xFEFF:
            false
        default: true
        }
    }
}
