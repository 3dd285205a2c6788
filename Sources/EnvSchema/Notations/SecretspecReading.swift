/// A secretspec.toml that is being read, with the notes so far.
struct SecretspecReading: ~Copyable {
    struct Profile: Sendable {
        let name: String
        let table: Int
    }

    let document: TOMLDocument
    private var notes: [SchemaNote] = []
    private var hasProviders = false

    init(_ document: consuming TOMLDocument) { self.document = document }

    /// Notes of one line stay in the order in which they were made.
    var sortedNotes: [SchemaNote] { notes.sorted { $0.line < $1.line } }

    mutating func note(_ code: SchemaNote.Code, key: String? = nil, line: Int) {
        notes.append(SchemaNote(code, key: key, line: line))
    }

    /// Notes once that the file says where values are, which concerns only secretspec.
    mutating func noteProvider(_ node: Int) {
        guard !hasProviders else { return }
        hasProviders = true
        note(.providerIgnored, line: document.line(node))
    }

    /// Reads what is not about keys.
    mutating func readHeader() {
        for node in document.children(0) {
            switch document.key(node) {
            case "project", "profiles": break
            case "providers": noteProvider(node)
            case "scopes": note(.scopesNotApplied, line: document.line(node))
            default: note(.unknownField, line: document.line(node))
            }
        }
        guard let project = document.child(0, "project") else {
            return note(.revisionUnknown, line: 0)
        }
        var hasRevision = false
        for node in document.children(project) {
            let line = document.line(node)
            switch document.key(node) {
            // When secretspec asks for a reason is no statement about variables.
            case "name", "require_reason": break
            case "revision":
                hasRevision = true
                if document.string(node) != "1.0" { note(.revisionUnknown, line: line) }
            case "extends": note(.extendsNotFollowed, line: line)
            default: note(.unknownField, line: line)
            }
        }
        if !hasRevision { note(.revisionUnknown, line: document.line(project)) }
    }

    /// Returns the profile that stands for the target, or nil with a note.
    mutating func profile(for target: String?) throws(SchemaError) -> Profile? {
        guard let profiles = document.child(0, "profiles") else { throw SchemaError(.noProfile) }
        guard document.children(profiles).contains(where: { document.isTable($0) }),
            document.isTable(profiles)
        else { throw SchemaError(.noProfile, line: document.line(profiles)) }
        for name in SecretspecReader.profileNames(for: target) {
            guard let table = document.child(profiles, name) else { continue }
            guard document.isTable(table) else {
                note(.badValue, line: document.line(table))
                continue
            }
            if name == SecretspecReader.defaultProfile, name != target ?? name {
                note(.profileDefault, line: 0)
            }
            return Profile(name: name, table: table)
        }
        note(.profileUnmapped, line: 0)
        return nil
    }

    /// Returns the profile's keys and those that it inherits, in the order of the lines that say
    /// most of them.
    mutating func items(of profile: Profile) -> [SchemaItem] {
        let defaults = defaults(of: profile)
        var entries: [(key: String, entry: SecretspecEntry)] = []
        var places: [String: Int] = [:]
        if profile.name != SecretspecReader.defaultProfile, defaults.inherits,
            let profiles = document.child(0, "profiles"),
            let inherited = document.child(profiles, SecretspecReader.defaultProfile)
        {
            if document.isTable(inherited) {
                for node in keys(of: inherited) {
                    let key = document.key(node)
                    places[key] = entries.count
                    entries.append((key, entry(node)))
                }
            } else {
                note(.badValue, line: document.line(inherited))
            }
        }
        for node in keys(of: profile.table) {
            let own = entry(node)
            let key = document.key(node)
            if let place = places[key] {
                entries[place].entry = own.inheriting(from: entries[place].entry)
            } else {
                entries.append((key, own))
            }
        }
        let ordered = entries.indices.sorted {
            let (one, other) = (entries[$0].entry, entries[$1].entry)
            return (one.line, one.place) < (other.line, other.place)
        }
        var items: [SchemaItem] = []
        items.reserveCapacity(entries.count)
        for index in ordered where isVariable(entries[index].key, line: entries[index].entry.line) {
            items.append(item(entries[index].key, entries[index].entry, defaults))
        }
        return items
    }

    private func keys(of table: Int) -> [Int] {
        document.children(table).filter { document.key($0) != "defaults" }
    }

    private mutating func defaults(of profile: Profile) -> SecretspecDefaults {
        var defaults = SecretspecDefaults()
        guard let table = document.child(profile.table, "defaults") else { return defaults }
        guard document.isTable(table) else {
            note(.badValue, line: document.line(table))
            return defaults
        }
        for node in document.children(table) {
            switch document.key(node) {
            case "inherit": defaults.inherits = flag(node, nil) ?? true
            case "required": defaults.required = flag(node, nil)
            case "default": defaults.value = string(node, nil)
            case "providers": noteProvider(node)
            default: note(.unknownField, line: document.line(node))
            }
        }
        return defaults
    }

    /// Returns whether a program can have a variable of this name, and notes names that
    /// secretspec itself refuses.
    private mutating func isVariable(_ key: String, line: Int) -> Bool {
        let isWord = key.utf8.allSatisfy(\.isNamePart)
        let startsWithDigit = key.utf8.first.map { $0 <= UInt8(ascii: "9") } ?? true
        if isWord, !startsWithDigit { return true }
        note(.keyNotPortable, key: key, line: line)
        return key.utf8.allSatisfy {
            $0 > UInt8(ascii: " ") && $0 < 0x7F && $0 != UInt8(ascii: "=")
        }
            && !key.isEmpty
    }

    private mutating func item(
        _ key: String, _ entry: SecretspecEntry, _ defaults: SecretspecDefaults
    ) -> SchemaItem {
        noteEffects(of: entry, key)
        // A composed value needs its parts, and no other.
        let defaultValue =
            entry.isComposed ? nil : entry.defaultValue ?? defaults.value
        var item = SchemaItem(key: key, line: entry.line, isSensitive: true)
        item.description = entry.description
        if entry.isComposed {
            item.value = .function("composed")
            note(.functionValue, key: key, line: entry.line)
        } else if let defaultValue {
            item.value = .default(defaultValue)
        }
        switch entry.required ?? defaults.required.map({ .flag($0) }) {
        case .flag(let isRequired): item.requirement = isRequired ? .always : .never
        case .groups(let groups):
            item.groups = groups
            note(.groupRequired, key: key, line: entry.line)
        case nil: item.requirement = defaultValue == nil ? .always : .never
        }
        return item
    }

    private mutating func noteEffects(of entry: SecretspecEntry, _ key: String) {
        if entry.description ?? "" == "" { note(.noDescription, key: key, line: entry.line) }
        if let field = entry.isPath, field.value { note(.asPath, key: key, line: field.line) }
        if let field = entry.generatedType {
            note(.generateNoted, key: key, line: field.line)
        } else if let field = entry.generates, field.value {
            note(.generateNoted, key: key, line: field.line)
        }
        if let field = entry.storedForm { note(.storedFormIgnored, key: key, line: field.line) }
    }
}
