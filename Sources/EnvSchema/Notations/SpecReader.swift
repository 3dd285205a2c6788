/// Reads env-spec files with the files that they import.
final class SpecReader {
    private let imports: any SchemaImports
    /// The files that are being read, from the schema inwards.
    private var identities: [String] = []
    private var importCount = 0
    private var importedBytes = 0

    /// What a file and its imports declare.
    private struct Contents {
        var items: [SchemaItem] = []
        var notes: [SchemaNote] = []
        /// Notes that hold only if no file names the item with the environment.
        var environmentNotes: [SchemaNote] = []
        var environmentKey: String?
        /// The line that names ``environmentKey``.
        var environmentLine = 0
    }

    init(imports: any SchemaImports) {
        self.imports = imports
    }

    /// - Parameter bytes: UTF-8 without NUL, CR LF and byte order mark.
    func read(_ bytes: [UInt8]) throws(SchemaError) -> Schema {
        var contents = try contents(of: bytes, path: nil)
        if let key = contents.environmentKey {
            // These are variables of the other tool.
            let isBuiltIn = key.utf8.starts(with: "VARLOCK_".utf8)
            if !isBuiltIn, !contents.items.contains(where: { $0.key == key }) {
                contents.notes.append(
                    SchemaNote(.environmentKeyMissing, key: key, line: contents.environmentLine))
            }
        } else {
            contents.notes += contents.environmentNotes
        }
        return Schema(
            notation: .envSpec, items: contents.items,
            notes: Array(Self.sorted(contents.notes).prefix(NoteList.maximumCount)),
            environmentKey: contents.environmentKey)
    }

    /// Notes of the schema by line, then those of its imports.
    private static func sorted(_ notes: [SchemaNote]) -> [SchemaNote] {
        notes.sorted { ($0.path == nil ? $0.line : .max) < ($1.path == nil ? $1.line : .max) }
    }

    private func contents(of bytes: [UInt8], path: String?) throws(SchemaError) -> Contents {
        let document: SpecDocument
        do throws(SchemaError) {
            document = try SpecDocument(bytes)
        } catch {
            throw SchemaError(error.code, line: error.line, path: path)
        }
        let notes = NoteList()
        let header = SpecHeader(document.header, notes: notes)
        if header.isDisabled {
            return Contents(
                notes: [SchemaNote(.fileDisabled, line: header.disablingLine, path: path)])
        }
        for decorator in document.detached {
            notes.add(.detachedDecorator, decorator: decorator.name, line: decorator.line)
        }
        var contents = Contents()
        contents.environmentKey = header.environmentKey?.key
        contents.environmentLine = header.environmentKey?.line ?? 0
        read(document.items, header, notes, path, into: &contents)
        contents.notes = notes.sorted
        if let path {
            for index in contents.notes.indices { contents.notes[index].path = path }
        }
        try follow(header.imports, path: path, into: &contents)
        return contents
    }

    /// Reads the items of a file. A key keeps its first place, with what its last line says.
    private func read(
        _ items: [SpecItem], _ header: SpecHeader, _ notes: NoteList, _ path: String?,
        into contents: inout Contents
    ) {
        var places: [String: Int] = [:]
        var last: [Int] = []
        places.reserveCapacity(items.count)
        for (index, item) in items.enumerated() {
            if let place = places[item.key] {
                notes.add(.duplicateKey, key: item.key, line: item.line)
                last[place] = index
            } else {
                places[item.key] = last.count
                last.append(index)
            }
        }
        contents.items.reserveCapacity(last.count)
        for index in last {
            let reading = SpecItemReading(items[index], header, notes)
            var item = reading.read()
            item.path = path
            contents.items.append(item)
            if let line = reading.environmentLine {
                contents.environmentNotes.append(
                    SchemaNote(.noCurrentEnvironment, key: item.key, line: line, path: path))
            }
        }
    }

    // MARK: - Imports

    private func follow(
        _ list: [SpecImport], path: String?, into contents: inout Contents
    ) throws(SchemaError) {
        guard !list.isEmpty else { return }
        var places: [String: Int] = [:]
        for (index, item) in contents.items.enumerated() { places[item.key] = index }
        let own = contents.items.count
        for entry in list where entry.isEnabled {
            guard let imported = try imported(entry) else {
                guard contents.notes.count < NoteList.maximumCount else { continue }
                var note = SchemaNote(.importNotFollowed, line: entry.line, path: path)
                note.subject = entry.path.isEmpty ? nil : NoteList.cut(entry.path)
                contents.notes.append(note)
                continue
            }
            var kept = Set<String>()
            var replaced = Set<String>()
            for item in imported.items where entry.imports(item.key) {
                if let place = places[item.key] {
                    // The importing file wins, and of two imports the later one.
                    if place < own { continue }
                    contents.items[place] = item
                    replaced.insert(item.key)
                } else {
                    places[item.key] = contents.items.count
                    contents.items.append(item)
                }
                kept.insert(item.key)
            }
            func isReplaced(_ note: SchemaNote) -> Bool { note.key.map(replaced.contains) ?? false }
            func isKept(_ note: SchemaNote) -> Bool { note.key.map(kept.contains) ?? true }
            if !replaced.isEmpty {
                contents.notes.removeAll(where: isReplaced)
                contents.environmentNotes.removeAll(where: isReplaced)
            }
            contents.notes += imported.notes.filter(isKept)
            contents.environmentNotes += imported.environmentNotes.filter(isKept)
            if contents.environmentKey == nil, let key = imported.environmentKey,
                entry.imports(key)
            {
                contents.environmentKey = key
                contents.environmentLine = entry.line
            }
        }
    }

    /// Returns what an imported file declares, or nil if it is not followed.
    private func imported(_ entry: SpecImport) throws(SchemaError) -> Contents? {
        guard entry.isPlain, identities.count < SchemaReader.maximumImportDepth,
            importCount < SchemaReader.maximumImports
        else { return nil }
        importCount += 1
        guard let file = imports.file(at: entry.path, importedFrom: identities.last),
            !identities.contains(file.identity),
            importedBytes + file.text.count <= SchemaReader.maximumImportedSize
        else { return nil }
        importedBytes += file.text.count
        let path = NoteList.cut(entry.path)
        let bytes: [UInt8]
        do throws(SchemaError) {
            bytes = try SchemaReader.normalized(file.text)
        } catch {
            throw SchemaError(error.code, line: error.line, path: path)
        }
        identities.append(file.identity)
        defer { identities.removeLast() }
        return try contents(of: bytes, path: path)
    }
}
