internal import CommandLineKit
internal import EnvOperations
internal import EnvSchema
internal import Sealing
internal import Searching
internal import SharedProjects
internal import Vault

/// The values of one project and place, for `run` and `export`.
struct PlaceValues {
    let project: VaultProject
    /// One value per key, sorted by name.
    let values: [RevealedValue]
    /// The names of the variables without a value, which are left out.
    let missing: [String]
    /// The place, for messages.
    var place: String { effectivePlace.title }
    private let effectivePlace: ValueTarget
    /// Kept alive because freeing thousands of records is slow, and `run` replaces this process.
    private let index: VaultIndex
    private let reader: ValueReader
    /// Records that a writer of a group added, and that are not accepted.
    private let offers: Set<Identifier>

    /// Opens the values of the workspace's project and place, which may ask for the passphrase.
    ///
    /// - Parameters:
    ///   - only: Keys to include; nil for all.
    ///   - except: Keys to leave out.
    ///   - checksFirst: Whether to check project and keys before asking for a passphrase, which may
    ///     open the desktop keyring.
    ///   - allowsMissing: Whether records without a value are skipped with a warning, not refused; nil
    ///     for a caller that reports ``missing`` itself.
    ///   - startsProgram: Whether a program gets the values, which in development goes on with a
    ///     contested one.
    init(
        _ workspace: Workspace, _ options: ScopeOptions, only: Set<String>? = nil,
        except: Set<String> = [], checksFirst: Bool = true, allowsMissing: Bool?,
        startsProgram: Bool = false
    ) throws {
        let place = try options.place(workspace)
        let resolver = ProjectResolver(workspace)
        _ = try resolver.reference()
        let check: (VaultIndex) throws -> Void = { index in
            let project = try resolver.existing(in: index)
            _ = try Self.positions(
                in: place, of: project, only: only, except: except, index,
                offers: HeldGate.offers(in: project.id, of: index))
        }
        let keys = try workspace.session.keys(.values, checking: checksFirst ? check : nil)
        let vault = try workspace.session.opened()
        let index = try workspace.session.index(
            .valuesOnly, with: keys, of: resolver.existing(in:))
        let project = try resolver.existing(in: index)
        let held = try HeldGate.offers(in: project.id, of: index)
        let positions = try Self.positions(
            in: place, of: project, only: only, except: except, index, offers: held)
        if !index.journal.isEmpty {
            let used = Set(positions.map { index.variables[$0].id })
            try ContestGate.check(
                used, in: index,
                warnsOnly: startsProgram && place.environment == .target(.development),
                workspace.context)
            try HeldGate.check(used, in: index, .ofValues, in: place, workspace.context)
            let leftOut = held.values.filter {
                $0.attributes.scope.applies(in: place)
                    && only == nil && !except.contains($0.name)
            }
            HeldGate.warn(leftOut: leftOut, of: project.name, workspace.context)
        }
        self.index = index
        offers = Set(held.keys)
        effectivePlace = place
        self.project = project
        reader = try ValueReader.required(vault, index, keys)
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
        self.missing = missing
        if !missing.isEmpty, let allowsMissing {
            guard allowsMissing else { throw Self.missing(missing) }
            Self.warnOfSkipped(missing, workspace.context)
        }
        self.values = values
    }

    // MARK: Shell

    /// Refuses an inherited variable that has the value of another target: production's in the shell
    /// would reach the tests, and development's the migration of production.
    ///
    /// A value that the place has too is not another's. Values shorter than
    /// ``ValuePatterns/shortest`` bytes, such as `1` and `true`, are equal by chance.
    ///
    /// - Parameters:
    ///   - inherited: The entries `NAME=value` that the program inherits.
    ///   - overrides: Whether the place's values replace inherited ones.
    func checkShell(_ inherited: [[UInt8]], overrides: Bool) throws {
        // Only arrays of numbers: another type of collection costs every start of a program more than
        // the search.
        let nameCounts = inherited.map { entry in
            guard let end = entry.firstIndex(of: 0x3D), entry.count > end + ValuePatterns.shortest
            else { return -1 }
            return end
        }
        // The places of an entry and of a record of its name, in turn.
        var matches: [Int] = []
        for position in index.variables.indices where isInUse(position) {
            let name = index.variables[position].name.utf8
            let count = name.count
            for number in nameCounts.indices
            where nameCounts[number] == count && inherited[number].starts(with: name) {
                matches.append(number)
                matches.append(position)
            }
        }
        if matches.isEmpty { return }
        var (found, places): (Set<String>, Set<String>) = ([], [])
        for (number, entry) in inherited.enumerated() {
            let positions = stride(from: 0, to: matches.count, by: 2)
                .filter { matches[$0] == number }.map { matches[$0 + 1] }
            guard let any = positions.first else { continue }
            let name = index.variables[any].name
            let isReplaced =
                overrides && values.contains { $0.name.utf8.elementsEqual(name.utf8) }
            let equal = isReplaced ? [] : try positions.filter { try has(entry, theValueAt: $0) }
            guard !equal.isEmpty, !equal.contains(where: appliesHere) else { continue }
            found.insert(name)
            for position in equal {
                places.insert(index.variables[position].attributes.scope.description)
            }
        }
        if found.isEmpty { return }
        let names = found.sorted()
        let unset = "unset " + names.map { ShellWord.quoted($0) }.joined(separator: " ")
        throw CommandError(
            .conflict,
            "The shell's \(names.count == 1 ? "value" : "values") of \(VariableName.list(names)) "
                + "\(names.count == 1 ? "is" : "are") for \(places.sorted().joined(separator: "; ")), "
                + "but the program would run for \(place).",
            hint: found.isSubset(of: values.map(\.name))
                ? "Use the vault's \(names.count == 1 ? "value" : "values") with --override, or run: \(unset)"
                : "Run: \(unset)")
    }

    /// Whether a record of the project is in use. What a writer of a group added is not, until it is
    /// accepted.
    private func isInUse(_ position: Int) -> Bool {
        index.variables[position].project == project.id
            && index.variables[position].deletedAt == nil
            && !offers.contains(index.variables[position].id)
    }

    private func appliesHere(_ position: Int) -> Bool {
        index.variables[position].attributes.scope.applies(in: effectivePlace)
    }

    /// Returns whether an inherited entry has a record's name and current value.
    private func has(_ entry: [UInt8], theValueAt position: Int) throws -> Bool {
        let name = index.variables[position].name.utf8
        let start = name.count + 1
        guard entry.count >= start + ValuePatterns.shortest, entry[start - 1] == 0x3D,
            entry.starts(with: name),
            let value = try reader.currentValue(
                of: index.variables[position], in: SecretArena())
        else { return false }
        return entry.withBytes { entry in
            value.withBytes {
                $0.isEqualInConstantTime(to: entry.extracting(start..<entry.byteCount))
            }
        }
    }

    // MARK: Schema

    /// Returns what the schema of the project says; nil without one.
    ///
    /// - Parameter requires: Whether the command requires a check.
    func schemaAdvice(requires: Bool, _ workspace: Workspace) throws -> SchemaAdvice? {
        try SchemaAdvice.find(
            for: project, in: index, requires: requires, isWork: true, workspace)
    }

    /// Returns what a program gets: these values, and what it inherits.
    ///
    /// - Parameters:
    ///   - inherited: The values that the program inherits, by name.
    ///   - overrides: Whether these values replace inherited ones.
    func schemaLook(inherited: [String: [UInt8]], overrides: Bool) -> SchemaLook {
        let positions = Dictionary(
            values.indices.map { (values[$0].name, $0) }, uniquingKeysWith: { first, _ in first })
        return SchemaLook(
            side: .vault, target: effectivePlace.name, keys: Set(positions.keys)
        ) { item in
            let position = positions[item.key]
            if let value = inherited[item.key], !overrides || position == nil {
                return .init(value.withBytes { SchemaLook.content(of: $0, item) })
            }
            guard let position else { return .missing }
            return .init(SchemaLook.content(of: values[position].value, item))
        }
    }

    /// Returns the index positions of the records that apply in a place, one per key.
    private static func positions(
        in place: ValueTarget, of project: VaultProject, only: Set<String>?,
        except: Set<String>, _ index: VaultIndex, offers: [Identifier: Variable]
    ) throws -> [Int] {
        var positions = EffectiveVariables.positions(
            in: place, of: project.id, in: index, without: Set(offers.keys))
        if case .custom(let name) = place.environment, positions.isEmpty {
            try checkIsKnown(name, project, index)
        }
        guard only != nil || !except.isEmpty else { return positions }
        let all = Set(positions.map { index.variables[$0].name })
        let missing = except.union(only ?? []).subtracting(all)
        let offered = offers.values.filter { missing.contains($0.name) }
        let wanted = offered.filter { only?.contains($0.name) == true }
        guard wanted.isEmpty else { throw HeldGate.refusal(of: wanted, in: project.name) }
        if let unknown = missing.subtracting(offered.map(\.name)).sorted().first {
            throw RecordSelection.notFound(unknown, project, index)
        }
        positions.removeAll { position in
            let name = index.variables[position].name
            return except.contains(name) || only?.contains(name) == false
        }
        return positions
    }

    /// Refuses a custom environment that no variable of the project has ever had.
    private static func checkIsKnown(
        _ name: String, _ project: VaultProject, _ index: VaultIndex
    ) throws {
        let known = index.variables.filter { $0.project == project.id }
            .flatMap { $0.attributes.scope.customEnvironments }
        guard !known.contains(name) else { return }
        throw CommandError(
            .notFound, "No variable of \(project.name) applies to \(name).",
            hint: Suggestion.nearest(
                to: name, among: known + ["production", "preview", "development"]
            ).map { "Did you mean \($0)?" } ?? "List the variables with: zg-env list")
    }

    /// Returns a note about variables that the team on Vercel shares with this place and the vault
    /// does not have, by the cached responses; nil if there are none.
    func sharedVariablesNote(_ workspace: Workspace) throws -> String? {
        guard project.binding?.teamID != nil else { return nil }
        let answers = try VercelResponses(
            workspace, keys: try workspace.session.keys(.index), index: index)
        let positions = EffectiveVariables.positions(
            in: effectivePlace, of: project.id, in: index)
        let names = SharedListing(of: project, answers).names(in: effectivePlace)
            .subtracting(positions.map { index.variables[$0].name }).sorted()
        guard let first = names.first else { return nil }
        return "Shared by the team on Vercel, but not in this vault: \(VariableName.list(names)). "
            + "To create a variable for this project, run: zg-env set \(word: first) -p \(word: project.name) -t \(place)"
    }

    /// Writes to the audit log that the values are revealed; must be called before they are.
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
            outcome, names, project: project.name, place: place, seen: index.metadata)
    }

    // MARK: Missing values

    static let allowMissing = OptionSpec(
        flag: "allow-missing", "Skip variables that have no value in the vault")

    /// The error for variables without a value that must not be skipped.
    static func missing(_ names: [String]) -> CommandError {
        CommandError(
            .notFound,
            "The vault has no value for \(names.joined(separator: ", ")): Vercel did not reveal it.",
            hint: "Set a value, or add --allow-missing to skip such variables.")
    }

    /// Warns of variables that were skipped, because they have no value.
    static func warnOfSkipped(_ names: [String], _ context: Context) {
        context.warn(
            "missing-value",
            "Skipped, no value in the vault: \(names.joined(separator: ", ")).")
    }
}
