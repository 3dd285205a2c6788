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
    var place: String { effectivePlace.title }
    private let effectivePlace: EffectiveVariables.Place
    /// What the index says of the vault as a whole.
    var metadata: IndexMetadata { index.metadata }
    /// Kept: to take its thousands of records apart costs as much as to open some, and `run` becomes
    /// another program.
    private let index: VaultIndex

    /// Opens the values of the workspace's project and place. Asks for the passphrase.
    ///
    /// - Parameters:
    ///   - only: Keys to hand out; nil for all.
    ///   - except: Keys to leave out.
    ///   - allowsMissing: Records without a value are left out and named, instead of failing.
    init(
        _ workspace: Workspace, _ options: ScopeOptions, only: Set<String>? = nil,
        except: Set<String> = [],
        allowsMissing: Bool
    ) throws {
        let place = try options.place(workspace)
        let keys = try workspace.session.keys(.values)
        let resolver = ProjectResolver(workspace)
        let naming = try resolver.naming()
        let opened = try AcceptanceGate(workspace).open(.currentValues, with: keys) { index in
            let project = try resolver.existing(in: index)
            let positions = try Self.positions(
                in: place, of: project, only: only, except: except, index)
            let use = CheckpointUse.Values(of: project.id, found: naming, at: positions) {
                only?.contains($0) != false && !except.contains($0)
                    && EffectiveVariables.applies($1, in: place)
            }
            return (.values(use), (project: project, positions: positions))
        }
        let (vault, index) = (opened.vault, opened.index)
        let positions = opened.choice.positions
        self.index = index
        effectivePlace = place
        project = opened.choice.project
        guard let reader = try ValueReader(vault: vault, index: index, keys: keys) else {
            throw CommandError(.locked, "The values are locked.")
        }
        let found = try reader.currentValues(
            at: positions, in: SecretArena(zeroed: false))
        var values: [RevealedValue] = []
        values.reserveCapacity(positions.count)
        var missing: [String] = []
        for (position, value) in zip(positions, found) {
            guard let value else {
                missing.append(index.variables[position].name)
                continue
            }
            values.append(
                RevealedValue(
                    name: index.variables[position].name,
                    scope: index.variables[position].attributes.scope, value: value,
                    version: index.variables[position].currentVersion))
        }
        if !missing.isEmpty {
            let names = missing.joined(separator: ", ")
            guard allowsMissing else {
                throw CommandError(
                    .notFound,
                    "The vault holds no value of \(names): the platform would not show it.",
                    hint: "Set it, or leave it out with --allow-missing.")
            }
            workspace.context.warn(
                "missing-value", "Left out, since the vault holds no value: \(names).")
        }
        self.values = values
    }

    /// Where the records stand in the index that apply in a place, one a key.
    private static func positions(
        in place: EffectiveVariables.Place, of project: VaultProject, only: Set<String>?,
        except: Set<String>, _ index: VaultIndex
    ) throws -> [Int] {
        var positions = EffectiveVariables.positions(in: place, of: project.id, in: index)
        guard only != nil || !except.isEmpty else { return positions }
        let all = Set(positions.map { index.variables[$0].name })
        if let missing = except.union(only ?? []).subtracting(all).sorted().first {
            throw RecordSelection.notFound(missing, project, index)
        }
        positions.removeAll { position in
            let name = index.variables[position].name
            return except.contains(name) || only?.contains(name) == false
        }
        return positions
    }

    /// What is to be said of variables that Vercel's team shares with the place, by what the platform last
    /// showed, and that the vault does not have: a program goes without them. Nil where there are none.
    func remarkOnShared(_ workspace: Workspace) throws -> String? {
        guard project.binding?.teamID != nil else { return nil }
        let answers = try PlatformAnswers(
            workspace, keys: try workspace.session.keys(.index), index: index)
        let positions = EffectiveVariables.positions(
            in: effectivePlace, of: project.id, in: index)
        let names = SharedListing(of: project, answers).names(in: effectivePlace)
            .subtracting(positions.map { index.variables[$0].name }).sorted()
        guard let first = names.first else { return nil }
        let list =
            names.prefix(10).joined(separator: ", ")
            + (names.count > 10 ? " and \(names.count - 10) more" : "")
        return "Shared by the team on Vercel, and not in this vault: \(list). "
            + "Give the project one of its own with: zg-env set \(first) -p \(project.name) -t \(place)"
    }

    /// Has the audit log say that values go out, before they do.
    func audit(
        _ workspace: Workspace, except kept: [String] = [],
        outcome: String = AuditEntry.Outcome.givenOut
    ) throws {
        var names = values.map(\.name)
        if !kept.isEmpty {
            let kept = Set(kept)
            names.removeAll { kept.contains($0) }
        }
        try workspace.audit(
            outcome, names, project: project.name, place: place, seen: metadata)
    }

    static let allowMissing = OptionSpec(
        flag: "allow-missing", "Leave out variables that the vault holds no value of")
}
