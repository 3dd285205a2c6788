internal import CommandLineKit
internal import DotEnv
internal import EnvOperations
internal import Sealing
internal import Vault

/// The variables to edit, with their values: one record, or all of a place.
struct EditableValues {
    let project: VaultProject
    /// The target or scope, for messages.
    let title: String
    let place: EditPlan.Place
    /// The only key allowed in the text; nil for any.
    let onlyKey: String?
    let metadata: IndexMetadata
    private(set) var base: EditPlan.Base
    private var values: [Identifier: RevealedValue] = [:]
    /// Records that cannot be written as a `.env` line.
    private var unwritable: Set<Identifier> = []
    /// Keys with several values, of which the text shows none.
    private var separate: Set<String> = []
    /// Whether the text is the value of the only key, because no `.env` line can hold it.
    private(set) var isRaw = false

    init(
        _ workspace: Workspace, key: String?, _ options: ScopeOptions, keys: VaultKeys
    ) throws {
        let resolver = ProjectResolver(workspace)
        let vault = try workspace.session.opened()
        let index = try vault.index(with: keys, extent: .currentValues)
        let chosen = try Chosen(
            key, try resolver.existing(in: index), options, index, workspace)
        metadata = index.metadata
        project = chosen.project
        onlyKey = key
        (title, place, separate) = (chosen.title, chosen.place, chosen.separate)
        let (all, records) = (index.variables(of: project.id), chosen.records)
        base = .init(shown: [], hidden: [], all: all)
        let reader = try ValueReader.required(vault, index, keys)
        let arena = SecretArena()
        for record in records {
            guard let value = try reader.currentValue(of: record, in: arena) else {
                base.hidden.append(record)
                continue
            }
            let revealed = RevealedValue(value, of: record)
            if key == nil, Self.isUnwritable(revealed) {
                unwritable.insert(record.id)
                base.hidden.append(record)
            } else {
                isRaw = Self.isUnwritable(revealed)
                values[record.id] = revealed
                base.shown.append(record)
            }
        }
    }

    private struct Chosen {
        let project: VaultProject
        let records: [Variable]
        let title: String
        let place: EditPlan.Place
        var separate: Set<String> = []

        init(
            _ key: String?, _ project: VaultProject, _ options: ScopeOptions, _ index: VaultIndex,
            _ workspace: Workspace
        ) throws {
            self.project = project
            if let key {
                let record = try RecordSelection.one(key, in: project, of: index, options)
                let scope = try options.scope()
                // All of a variable's targets are the same as none named.
                let wanted = scope == record.attributes.scope ? nil : scope
                records = [record]
                title = (wanted ?? record.attributes.scope).description
                place = .init(wanted: wanted, besides: wanted ?? record.attributes.scope)
            } else if options.isEmpty {
                let keys = Dictionary(grouping: index.variables(of: project.id), by: \.name)
                    .mapValues { $0.filter { $0.attributes.scope.branch == nil } }
                records = keys.values.filter { $0.count == 1 }.flatMap(\.self)
                    .sorted { $0.name < $1.name }
                separate = Set(keys.filter { $0.value.count != 1 }.keys)
                title = "all targets"
                self.place = .init(wanted: nil, besides: Scope(targets: .all))
            } else {
                let place = try options.place(workspace)
                let scope = Scope(place)
                // Only records of this branch: others are edited without the branch.
                records = EffectiveVariables.inPlace(
                    place,
                    among: index.variables(of: project.id).filter {
                        $0.attributes.scope.branch == place.branch
                    })
                title = place.title
                self.place = .init(wanted: scope, besides: scope)
            }
        }
    }

    /// Returns whether a value cannot be edited as a `.env` line.
    private static func isUnwritable(_ value: RevealedValue) -> Bool {
        do {
            let text = try ExportText(format: .dotenv, values: [value])
            if text.unportable.isEmpty { return false }
            // A value that other parsers read differently must still survive a round trip here.
            var buffer = try SecretBuffer(capacity: text.byteCount)
            try text.withBytes { try buffer.append($0) }
            _ = try EditedText(buffer, onlyKey: nil)
            return false
        } catch { return true }
    }

    /// The keys whose values are in the text.
    var keys: [String] { base.shown.map(\.name) }

    /// The file name by which an editor chooses the colors.
    var fileName: String {
        let name = onlyKey ?? project.name
        let isPlain =
            name.utf8.count <= 100
            && name.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
                    || (0x61...0x7A).contains(byte) || [0x2D, 0x2E, 0x5F].contains(byte)
            }
        return (isPlain ? name : "variables") + (isRaw ? ".txt" : ".env")
    }

    /// Returns the text to edit: a comment, then the variables sorted by name; or a value alone.
    func text() throws -> SecretBuffer {
        if isRaw, let value = base.shown.first.flatMap({ values[$0.id] })?.value {
            var text = try SecretBuffer(capacity: max(value.count, 1))
            try value.withBytes { try text.append($0) }
            return text
        }
        let body = try ExportText(
            format: .dotenv, values: base.shown.compactMap { values[$0.id] })
        var text = try SecretBuffer(capacity: body.byteCount + 4_096)
        for line in comment {
            try Array("# \(DisplayText.safe(sentence: line))\n".utf8).withBytes {
                try text.append($0)
            }
        }
        try text.append(0x0A)
        try body.withBytes { try text.append($0) }
        return text
    }

    private var comment: [String] {
        let subject =
            onlyKey.map { "\($0) in \(project.name)" } ?? "The variables of \(project.name)"
        var lines = [
            "\(subject), \(title). Save and close the file to apply your changes.",
            "If you do not edit the file, nothing changes. Deleting a line removes its variable; zg-env asks first.",
        ]
        if place.wanted == nil {
            lines.append("A change to a value applies to all targets of that variable.")
            lines += narrowScopes
        } else {
            lines.append("A change applies only to \(title); other targets keep their values.")
        }
        let left = base.hidden.map { record in
            unwritable.contains(record.id)
                ? "\(record.name) (no .env line can hold it; edit it with: zg-env edit \(word: record.name)\(placeText))"
                : "\(record.name) (no value in the vault)"
        }
        if !left.isEmpty {
            lines.append(
                "Not shown in this file, and not changed: \(left.joined(separator: ", ")).")
        }
        if !separate.isEmpty {
            lines.append(
                "Not shown, because targets or branches have separate values (edit them with -t or -b): \(separate.sorted().joined(separator: ", "))."
            )
        }
        return lines
    }

    /// The options that select this place and project again.
    private var placeText: String {
        " -p \(word: project.name)" + (place.wanted?.optionText ?? "")
    }

    /// A line for each scope of the shown variables other than all targets.
    private var narrowScopes: [String] {
        guard onlyKey == nil else { return [] }
        let scopes = Dictionary(grouping: base.shown, by: \.attributes.scope)
            .filter { $0.key != Scope(targets: .all) }
            .map { scope, records in
                (scope.description, records.map(\.name).joined(separator: ", "))
            }
        return scopes.sorted { $0.0 < $1.0 }.map { "Only for \($0.0): \($0.1)." }
    }

    /// Parses a text from the editor.
    ///
    /// - Throws: ``ExitCode/usage`` for a key with several values, of which it would change one.
    func edited(_ text: consuming SecretBuffer, _ workspace: Workspace) throws -> EditedText {
        if isRaw, let onlyKey, let value = base.shown.first.flatMap({ values[$0.id] })?.value {
            return try EditedText(
                text, valueOf: onlyKey, keepsNewline: value.withBytes { $0.endsInLineFeed })
        }
        let edited = try EditedText(text, onlyKey: onlyKey)
        if let key = edited.keys.first(where: { separate.contains($0) }) {
            throw CommandError(
                .usage, "\(key) has separate values for its targets or branches.",
                hint: "Edit it with -t or -b.")
        }
        return edited
    }

    /// Returns the changes that an edited text makes.
    func plan(_ edited: EditedText) -> EditPlan {
        EditPlan(keys: edited.keys, base: base, place: place) { number, record in
            guard let old = values[record.id]?.value,
                let new = edited.value(of: edited.keys[number])
            else { return false }
            return old.equals(new)
        }
    }

    /// Adopts the current state of `keys`; see ``EditPlan/Base/rebased(on:for:)``.
    mutating func rebase(on newer: EditableValues, for keys: Set<String>) {
        base = base.rebased(on: newer.base, for: keys)
        for record in newer.base.shown where keys.contains(record.name) {
            values[record.id] = newer.values[record.id]
        }
        unwritable.formUnion(newer.unwritable)
        separate.formUnion(newer.separate)
    }

    /// Drops records that no longer exist from the base of the text.
    mutating func forget(_ keys: Set<String>) {
        base = base.rebased(on: .init(shown: [], hidden: [], all: []), for: keys)
    }
}
