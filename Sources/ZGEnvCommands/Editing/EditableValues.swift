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

    init(
        _ workspace: Workspace, key: String?, _ options: ScopeOptions, keys: VaultKeys
    ) throws {
        let resolver = ProjectResolver(workspace)
        let naming = try resolver.naming()
        let (vault, index, chosen) = try AcceptanceGate(workspace).open(
            .currentValues, with: keys
        ) { index in
            let project = try resolver.existing(in: index)
            let chosen = try Chosen(key, project, options, index, workspace)
            let use = CheckpointUse.Values(
                of: project.id, found: naming, at: index.positions(of: chosen.records)
            ) { name, scope in
                key.map { $0 == name } ?? chosen.place.besides.overlaps(scope)
            }
            return (.values(use), chosen)
        }
        metadata = index.metadata
        project = chosen.project
        onlyKey = key
        (title, place) = (chosen.title, chosen.place)
        let (all, records) = (index.variables(of: project.id), chosen.records)
        base = .init(shown: [], hidden: [], all: all)
        guard let reader = try ValueReader(vault: vault, index: index, keys: keys) else {
            throw CommandError(.locked, "The values are locked.")
        }
        let arena = SecretArena()
        for record in records {
            guard let value = try reader.currentValue(of: record, in: arena) else {
                base.hidden.append(record)
                continue
            }
            let revealed = RevealedValue(
                name: record.name, scope: record.attributes.scope, value: value,
                version: record.currentVersion)
            if let problem = Self.problem(with: revealed) {
                if key != nil { throw problem }
                unwritable.insert(record.id)
                base.hidden.append(record)
            } else {
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

        init(
            _ key: String?, _ project: VaultProject, _ options: ScopeOptions, _ index: VaultIndex,
            _ workspace: Workspace
        ) throws {
            self.project = project
            if let key {
                let wanted = try options.scope()
                let record = try RecordSelection.one(key, in: project, of: index, options)
                records = [record]
                title = (wanted ?? record.attributes.scope).description
                place = .init(wanted: wanted, besides: wanted ?? record.attributes.scope)
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
                self.place = .init(wanted: options.isEmpty ? nil : scope, besides: scope)
            }
        }
    }

    /// Returns why a value cannot be edited as a `.env` line; nil if it can.
    private static func problem(with value: RevealedValue) -> (any Error)? {
        do {
            let text = try ExportText(format: .dotenv, values: [value])
            if text.unportable.isEmpty { return nil }
            // A value that other parsers read differently must still survive a round trip here.
            var buffer = try SecretBuffer(capacity: text.byteCount)
            try text.withBytes { try buffer.append($0) }
            _ = try EditedText(buffer, onlyKey: nil)
            return nil
        } catch let error as DotEnvError {
            var failure = CommandError(mapping: error)
            failure.hint = "Change the value with: zg-env set \(word: value.name)"
            return failure
        } catch { return error }
    }

    /// The keys whose values are in the text.
    var keys: [String] { base.shown.map(\.name) }

    /// Returns the text to edit: a comment, then the variables sorted by name.
    func text() throws -> SecretBuffer {
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
            lines.append("A change applies to all targets of its variable.")
        } else {
            lines.append("A change applies only to \(title); other targets keep their values.")
        }
        let left = base.hidden.map { record in
            unwritable.contains(record.id)
                ? "\(record.name) (cannot be written as a .env line: use zg-env set)"
                : "\(record.name) (no value in the vault)"
        }
        if !left.isEmpty {
            lines.append("Not shown here and not changed: \(left.joined(separator: ", ")).")
        }
        return lines
    }

    /// Returns the changes that an edited text makes.
    func plan(_ edited: EditedText) -> EditPlan {
        EditPlan(keys: edited.keys, base: base, place: place) { number, record in
            guard let old = values[record.id]?.value,
                let new = edited.value(of: edited.keys[number])
            else { return false }
            return old.withBytes { old in new.withBytes { old.isEqualInConstantTime(to: $0) } }
        }
    }

    /// Adopts the current state of `keys`; see ``EditPlan/Base/rebased(on:for:)``.
    mutating func rebase(on newer: EditableValues, for keys: Set<String>) {
        base = base.rebased(on: newer.base, for: keys)
        for record in newer.base.shown where keys.contains(record.name) {
            values[record.id] = newer.values[record.id]
        }
        unwritable.formUnion(newer.unwritable)
    }
}

extension EditableValues {
    /// Drops records that no longer exist from the base of the text.
    mutating func forget(_ keys: Set<String>) {
        base = base.rebased(on: .init(shown: [], hidden: [], all: []), for: keys)
    }
}

extension Scope {
    /// Makes the scope of exactly one place.
    init(_ place: EffectiveVariables.Place) {
        switch place.environment {
        case .target(let target): self.init(targets: target, branch: place.branch)
        case .custom(let name):
            self.init(targets: [], customEnvironments: [name], branch: place.branch)
        }
    }
}
