internal import CommandLineKit
internal import EnvOperations
internal import Sealing
internal import Vault

/// The values that a program sees in one place: what `run` and `export` hand out.
struct PlaceValues {
    /// The project they belong to.
    let project: VaultProject
    /// The values, one a key, by name.
    let values: [RevealedValue]
    /// The place, as messages name it.
    let place: String
    /// What the index says of the vault as a whole.
    let metadata: IndexMetadata

    /// Opens the values of the invocation's project and place. Asks for the passphrase.
    ///
    /// - Parameters:
    ///   - only: Keys to hand out; nil for all.
    ///   - allowsMissing: Records without a value are left out and named, instead of failing.
    init(_ invocation: Invocation, only: Set<String>? = nil, allowsMissing: Bool) throws {
        let place = try ScopeOptions(invocation.command).place(invocation)
        let keys = try invocation.session.valueKeys()
        let vault = try invocation.session.opened()
        let index = try vault.index(with: keys, extent: .currentValues)
        metadata = index.metadata
        self.place = place.title
        project = try ProjectResolver(invocation).existing(in: index)
        let all = EffectiveVariables.inPlace(place, among: index.variables(of: project.id))
        if let only, let missing = only.subtracting(all.map(\.name)).sorted().first {
            throw RecordSelection.notFound(missing, project, index)
        }
        let records = only.map { only in all.filter { only.contains($0.name) } } ?? all
        guard let reader = try ValueReader(vault: vault, index: index, keys: keys) else {
            throw CommandError(.locked, "The values are locked.")
        }
        let arena = SecretArena()
        var values: [RevealedValue] = []
        values.reserveCapacity(records.count)
        var missing: [String] = []
        for (record, value) in zip(records, try reader.currentValues(of: records, in: arena)) {
            guard let value else {
                missing.append(record.name)
                continue
            }
            values.append(
                RevealedValue(variable: record, value: value, version: record.currentVersion))
        }
        if !missing.isEmpty {
            let names = DisplayText.safe(missing.joined(separator: ", "))
            guard allowsMissing else {
                throw CommandError(
                    .notFound,
                    "The vault holds no value of \(names): the platform would not show it.",
                    hint: "Set it, or leave it out with --allow-missing.")
            }
            invocation.context.warn(
                "missing-value", "Left out, since the vault holds no value: \(names).")
        }
        self.values = values
    }

    /// Has the audit log say that values go out, before they do.
    func audit(
        _ invocation: Invocation, except kept: [String] = [],
        outcome: String = AuditEntry.Outcome.givenOut
    ) throws {
        let kept = Set(kept)
        try invocation.audit(
            outcome,
            values.map(\.variable.name).filter { !kept.contains($0) }, project: project.name,
            place: place, seen: metadata)
    }

    static let allowMissing = OptionSpec(
        flag: "allow-missing", "Leave out variables that the vault holds no value of")
}
