import EnvSchema
import JSON

/// Properties of reading any bytes as a schema, and of checking values against what it declares.
enum SchemaFuzzing {
    /// Reads the bytes after the first, which chooses notation and target: keys are unique, notes and
    /// lines are bounded by the text, reading twice gives the same, the result is JSON, and what is
    /// generated of it is the same twice and closes its comments.
    static func exercise(_ input: [UInt8]) throws {
        guard let choice = input.first else { return }
        let text = Array(input.dropFirst())
        let notations: [Schema.Notation?] = [.envSpec, .plain, .secretspec, nil]
        let targets = [nil, "production", "qa"]
        func read() throws(SchemaError) -> Schema {
            try SchemaReader.read(
                text, notation: notations[Int(choice & 3)],
                fileName: choice & 4 == 0 ? ".env.schema" : "secretspec.toml",
                target: targets[Int(choice >> 3) % 3], imports: ImportsOfItself(text: text))
        }
        let schema: Schema
        do throws(SchemaError) {
            schema = try read()
        } catch {
            try check(line: error.line ?? 0, text)
            return
        }
        guard try read() == schema else { throw FuzzFinding("two readings differ") }
        guard Set(schema.items.map { Array($0.key.utf8) }).count == schema.items.count else {
            throw FuzzFinding("a key is declared twice")
        }
        // Each import may read the text once more.
        let most = (text.count + 1) * (SchemaReader.maximumImports + 1)
        guard schema.items.count <= most, schema.notes.count <= most else {
            throw FuzzFinding("\(schema.items.count) items and \(schema.notes.count) notes")
        }
        for note in schema.notes { try check(line: note.line, text) }
        guard (try? JSONValue(parsing: schema.json.encoded)) != nil else {
            throw FuzzFinding("the result is not JSON")
        }
        try checkDeclarations(schema)
        for item in schema.items.prefix(64) {
            if let type = item.type {
                try check(type, Array("canary-value".utf8), declaredBy: text)
            }
        }
    }

    /// Splits the bytes at their first line break into a pattern and a value: checking ends, and the
    /// reason does not repeat the value.
    static func exerciseType(_ input: [UInt8]) throws {
        guard let choice = input.first else { return }
        let parts = input.dropFirst().split(
            separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
        guard let option = String(validating: parts.first ?? [], as: UTF8.self) else { return }
        let value = Array(parts.count > 1 ? parts[1] : [])
        let names = ValueType.Name.allCases
        let name = names[Int(choice) % names.count]
        var types = [
            ValueType(.string, options: ["matches": .text(option)]), ValueType(name),
            ValueType(.array, options: ["element": .type(ValueType(name))]),
            ValueType(.record, options: ["values": .type(ValueType(name))]),
            ValueType(
                .enum, options: ["values": .list(option.split(separator: ",").map(String.init))]),
        ]
        for key in ["min", "max", "minLength", "precision", "isDivisibleBy"]
        where name.takes(option: key) {
            types.append(ValueType(name, options: [key: .number(option)]))
        }
        for type in types { try check(type, value, declaredBy: Array(option.utf8)) }
    }

    private static func check(
        _ type: ValueType, _ value: [UInt8], declaredBy declared: [UInt8]
    ) throws {
        let fit = unsafe type.fit(of: value.span.bytes)
        guard unsafe type.fit(of: value.span.bytes) == fit else {
            throw FuzzFinding("two checks of a value differ")
        }
        switch fit {
        case .fits: break
        case .coerced(let reason), .misfit(let reason), .unchecked(let reason):
            // Short ones may be a word of the reason itself.
            guard value.count >= 12, let text = String(validating: value, as: UTF8.self),
                reason.contains(text),
                // A reason may name what the schema allows, which may be the same text.
                !String(decoding: declared, as: UTF8.self).contains(text)
            else { return }
            throw FuzzFinding("a reason repeats the value")
        }
    }

    private static func check(line: Int, _ text: [UInt8]) throws {
        let lines = text.count { $0 == 0x0A || $0 == 0x0D } + 1
        guard (0...lines).contains(line) else {
            throw FuzzFinding("line \(line) of \(lines)")
        }
    }

    private static func checkDeclarations(_ schema: Schema) throws {
        func declarations() -> String {
            TypeScriptDeclarations.text(
                items: schema.items, isRequiredEverywhere: { $0.requirement == .always },
                schemaName: ".env.schema")
        }
        let text = declarations()
        guard text == declarations() else { throw FuzzFinding("two declarations differ") }
        let (opened, closed) = (count("/**\n", in: text), count(" */\n", in: text))
        guard opened == closed else {
            throw FuzzFinding("\(opened) comments are opened and \(closed) closed")
        }
        let schemaText = JSONSchemaDeclarations.text(
            items: schema.items, isRequiredEverywhere: { _ in true }, schemaName: "x")
        guard (try? JSONValue(parsing: Array(schemaText.utf8))) != nil else {
            throw FuzzFinding("the JSON Schema is not JSON")
        }
    }

    private static func count(_ part: StaticString, in text: String) -> Int {
        let (bytes, wanted) = (Array(text.utf8), Array(part.description.utf8))
        guard bytes.count >= wanted.count else { return 0 }
        return (0...(bytes.count - wanted.count)).count {
            bytes[$0..<($0 + wanted.count)].elementsEqual(wanted)
        }
    }

    /// Gives every import the text itself, under a new identity each time.
    private struct ImportsOfItself: SchemaImports {
        let text: [UInt8]

        func file(at path: String, importedFrom importer: String?) -> SchemaImport? {
            SchemaImport(text: text, identity: (importer ?? "") + path)
        }
    }
}
