internal import JSON

extension ValueCheck {
    /// A longer list is not checked.
    static let maximumElements = 10_000
    private static let maximumSeparatorLength = 64

    // MARK: simple-object

    func object(_ value: ValueSlice) -> ValueFit {
        readingJSON(value) { $0.kind(0) == .object ? .fits : .misfit("JSON, but not an object") }
    }

    // MARK: array

    func array(_ value: ValueSlice, _ type: ValueType, _ depth: Int) -> ValueFit {
        let trimmed = value.trimmed
        if trimmed.first == UInt8(ascii: "[") {
            return readingJSON(trimmed) { array($0, 0, type, depth) }
        }
        let separator = type.text("separator") ?? ","
        // It is searched for at every byte.
        guard separator.utf8.count <= Self.maximumSeparatorLength else {
            return .unchecked("its separator is too long")
        }
        var elements = SplitText(trimmed, by: Array(separator.utf8))
        return list(type, depth) { elements.next().map { .text($0) } }
    }

    private func array(
        _ tree: JSONTree, _ node: Int, _ type: ValueType, _ depth: Int
    ) -> ValueFit {
        guard tree.kind(node) == .array else { return .misfit("not a JSON array") }
        let count = tree.count(node)
        var element = node + 1
        var index = 0
        return list(type, depth) {
            guard index < count else { return nil }
            defer {
                index += 1
                element = tree.next(after: element)
            }
            return .node(tree, element)
        }
    }

    private enum Element {
        case text(ValueSlice)
        case node(JSONTree, Int)
    }

    private func list(
        _ type: ValueType, _ depth: Int, _ next: () -> Element?
    ) -> ValueFit {
        let elementType = type.type("element") ?? ValueType(.string)
        var seen = SeenTexts(isUsed: type.flag("unique"))
        var fit = ValueFit.fits
        var count = 0
        while let element = next() {
            count += 1
            guard count <= Self.maximumElements else {
                return .unchecked("it has more than \(Self.maximumElements) elements")
            }
            let elementFit: ValueFit
            switch element {
            case .text(let text):
                elementFit = self.fit(of: text, to: elementType, depth: depth + 1)
                seen.insert(text)
            case .node(let tree, let node):
                elementFit = self.fit(of: tree, node, to: elementType, depth: depth + 1)
                seen.insert(tree, node)
            }
            fit = fit.combined(with: elementFit.prefixed("element \(count): "))
        }
        let size = size(
            count, least: type.number("minLength"), most: type.number("maxLength"),
            exact: type.number("isLength"), ("element", "elements"))
        if seen.hasRepetition {
            return (size ?? .misfit("two elements are equal")).combined(with: fit)
        }
        if seen.isIncomplete {
            fit = fit.combined(with: .unchecked("its elements are not compared"))
        }
        return size ?? fit
    }

    /// Lists may only be empty where the type says so.
    private func size(
        _ count: Int, least: Double?, most: Double?, exact: Double?, _ words: (String, String)
    ) -> ValueFit? {
        func counted(_ count: Double) -> String {
            SchemaText.counted(count, words.0, words.1)
        }
        let count = Double(count)
        if let least, count < least { return .misfit("fewer than \(counted(least))") }
        if least == nil, exact == nil, count == 0 { return .misfit("has no \(words.1)") }
        if let most, count > most { return .misfit("more than \(counted(most))") }
        if let exact, count != exact { return .misfit("not exactly \(counted(exact))") }
        return nil
    }

    // MARK: record

    func record(_ value: ValueSlice, _ type: ValueType, _ depth: Int) -> ValueFit {
        let trimmed = value.trimmed
        guard trimmed.first == UInt8(ascii: "{") else { return .misfit("not a JSON object") }
        return readingJSON(trimmed) { record($0, 0, type, depth) }
    }

    private func record(
        _ tree: JSONTree, _ node: Int, _ type: ValueType, _ depth: Int
    ) -> ValueFit {
        guard tree.kind(node) == .object else { return .misfit("not a JSON object") }
        guard tree.count(node) <= Self.maximumElements else {
            return .unchecked("it has more than \(Self.maximumElements) entries")
        }
        var names = SeenTexts(isUsed: true)
        var fit = ValueFit.fits
        var index = 0
        tree.forEachMember(of: node) { name, value in
            index += 1
            names.insert(tree, name)
            if let keyType = type.type("keyType") {
                let keyFit = self.fit(of: tree, name, to: keyType, depth: depth + 1)
                fit = fit.combined(with: keyFit.prefixed("the key of entry \(index): "))
            }
            if let valueType = type.type("values") {
                let valueFit = self.fit(of: tree, value, to: valueType, depth: depth + 1)
                fit = fit.combined(with: valueFit.prefixed("entry \(index): "))
            }
            return true
        }
        return size(
            names.count, least: type.number("entriesMinLength"),
            most: type.number("entriesMaxLength"), exact: type.number("entriesIsLength"),
            ("entry", "entries")) ?? fit
    }

    // MARK: JSON

    private func readingJSON(
        _ value: ValueSlice, _ body: (JSONTree) -> ValueFit
    ) -> ValueFit {
        // The reader skips a byte order mark; JSON.parse of JavaScript does not.
        guard value.first != 0xEF else { return .misfit("not JSON") }
        return unsafe value.withBytes { bytes in
            do {
                return try unsafe JSONTree.read(RawSpan(_unsafeBytes: bytes), body)
            } catch JSONError.tooDeep {
                return .unchecked("it is nested too deeply")
            } catch {
                return .misfit("not JSON")
            }
        }
    }

    private func fit(
        of tree: JSONTree, _ node: Int, to type: ValueType, depth: Int
    ) -> ValueFit {
        guard depth < ValueType.maximumDepth else {
            return .unchecked("its type is nested too deeply")
        }
        switch (tree.kind(node), type.name) {
        case (.array, .array): return array(tree, node, type, depth)
        case (.object, .record): return record(tree, node, type, depth)
        case (.object, .simpleObject): return .fits
        case (.array, .string), (.object, .string), (.null, .string):
            // The other tool makes some text of it, such as `[object Object]`.
            return type.options.isEmpty
                ? .coerced("not text") : .unchecked("it is not text")
        case (.array, _), (.object, _), (.null, _):
            return .misfit("not of the type \(type.name.rawValue)")
        default:
            return tree.withText(of: node) { self.fit(of: $0, to: type, depth: depth) }
        }
    }
}
