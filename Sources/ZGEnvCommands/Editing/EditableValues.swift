internal import CommandLineKit
internal import DotEnv
internal import EnvOperations
internal import Sealing
internal import Vault

/// The variables that `edit` shows: one key's record, or all of a place, with their values.
struct EditableValues {
    let project: VaultProject
    /// What the command edits, for messages, such as `development` or a scope.
    let title: String
    let place: EditPlan.Place
    /// The one key that may stand in the text; nil for any.
    let onlyKey: String?
    /// What the index says of the vault as a whole.
    let metadata: IndexMetadata
    private(set) var base: EditPlan.Base
    private var values: [Identifier: RevealedValue] = [:]
    /// Records that no `.env` text can hold.
    private var unwritable: Set<Identifier> = []

    /// Opens the values that the workspace means, from the vault as it stands.
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

    /// The records that the command means.
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
                // Of a branch only its own records: a general one is changed without the branch.
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

    /// Why a value cannot be edited as a line of a `.env` text, or nil.
    private static func problem(with value: RevealedValue) -> (any Error)? {
        do {
            let text = try ExportText(format: .dotenv, values: [value])
            if text.unportable.isEmpty { return nil }
            // What is read in another way elsewhere must still be taken back as it stands.
            var buffer = try SecretBuffer(capacity: text.byteCount)
            try text.withBytes { try buffer.append($0) }
            _ = try EditedText(buffer, onlyKey: nil)
            return nil
        } catch let error as DotEnvError {
            var failure = CommandError(mapping: error)
            failure.hint = "Change it with: zg-env set \(word: value.name)"
            return failure
        } catch { return error }
    }

    /// The keys whose values the text gives out.
    var keys: [String] { base.shown.map(\.name) }

    /// The text to edit: a comment on top, then the variables by name.
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
            onlyKey.map { "\($0) of \(project.name)" } ?? "The variables of \(project.name)"
        var lines = [
            "\(subject), \(title). Save and close: zg-env then says what changes.",
            "A text as it was changes nothing. A line that is gone removes its variable, after a question.",
        ]
        if place.wanted == nil {
            lines.append("A change is for all targets that the variable has.")
        } else {
            lines.append("A change is for \(title) alone; other targets keep what they have.")
        }
        let left = base.hidden.map { record in
            unwritable.contains(record.id)
                ? "\(record.name) (no line of a .env text can hold it: change it with zg-env set)"
                : "\(record.name) (the vault has no value)"
        }
        if !left.isEmpty {
            lines.append("Not shown and left as they are: \(left.joined(separator: ", ")).")
        }
        return lines
    }

    /// What an edited text changes.
    func plan(_ edited: EditedText) -> EditPlan {
        EditPlan(keys: edited.keys, base: base, place: place) { number, record in
            guard let old = values[record.id]?.value,
                let new = edited.value(of: edited.keys[number])
            else { return false }
            return old.withBytes { old in new.withBytes { old.isEqualInConstantTime(to: $0) } }
        }
    }

    /// Takes over what became of `keys` meanwhile; see ``EditPlan/Base/rebased(on:for:)``.
    mutating func rebase(on newer: EditableValues, for keys: Set<String>) {
        base = base.rebased(on: newer.base, for: keys)
        for record in newer.base.shown where keys.contains(record.name) {
            values[record.id] = newer.values[record.id]
        }
        unwritable.formUnion(newer.unwritable)
    }
}

extension EditableValues {
    /// Takes records out of what the text was made of, since they are not there any more.
    mutating func forget(_ keys: Set<String>) {
        base = base.rebased(on: .init(shown: [], hidden: [], all: []), for: keys)
    }
}

extension Scope {
    /// Exactly one place.
    init(_ place: EffectiveVariables.Place) {
        switch place.environment {
        case .target(let target): self.init(targets: target, branch: place.branch)
        case .custom(let name):
            self.init(targets: [], customEnvironments: [name], branch: place.branch)
        }
    }
}
