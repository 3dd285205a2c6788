package import Vault
internal import VercelAPI

/// Selects the readable variables on Vercel that become sensitive, from the current state of the
/// vault and of Vercel. The caller has to check that the values agree.
///
/// Vercel does not allow sensitive variables for development, so the part of a scope that stays
/// readable becomes a separate record.
package struct HardeningPlan: Equatable, Sendable {
    /// A record on Vercel that becomes sensitive.
    package struct Candidate: Equatable, Sendable {
        package let record: VercelRecord
        /// The vault's record of it; nil if it has none.
        package let variable: Variable?
        /// The scope that becomes sensitive.
        package let hardened: Scope
        /// The scope that stays readable; empty if nothing does or the vault has a
        /// record for it.
        package let rest: Scope

        package init(record: VercelRecord, variable: Variable?, hardened: Scope, rest: Scope) {
            self.record = record
            self.variable = variable
            self.hardened = hardened
            self.rest = rest
        }

        /// Whether the vault has to import Vercel's value first.
        package var lacksValue: Bool { (variable?.currentVersion ?? 0) == 0 }

        /// Whether the vault's record is already sensitive.
        package var isPrepared: Bool { variable?.attributes.kind == .sensitive }
    }

    /// A record that becomes sensitive in the vault only: Vercel's already is, or does not exist
    /// yet.
    package struct Declaration: Equatable, Sendable {
        package let variable: Variable
        /// The scope that becomes sensitive.
        package let hardened: Scope
        /// The scope that stays readable, as a separate record; may be empty.
        package let rest: Scope
    }

    /// What the caller selects.
    package struct Rules: Equatable, Sendable {
        /// The keys; nil for all.
        package var keys: Set<String>?
        /// Targets and custom environments; nil for production and preview, with the custom
        /// environments of the same records.
        package var places: Scope?
        /// Records for which the journal has a write with unknown outcome.
        package var begun: Set<Identifier> = []

        package init() {}
    }

    /// The records that become sensitive, sorted by key.
    package private(set) var candidates: [Candidate] = []
    /// The records that should become sensitive but cannot.
    package private(set) var omissions: [RecordNote] = []
    /// Records that are already sensitive, but whose value may not have arrived because an earlier
    /// run was interrupted. They are sent again.
    package private(set) var unconfirmed: [Candidate] = []
    /// Records that become sensitive in the vault and are sent.
    package private(set) var declared: [Declaration] = []
    /// The names of readable variables that Vercel does not accept as Secrets, because their prefix
    /// makes them public; sorted.
    package private(set) var publicNames: [String] = []
    /// The names of readable variables that an integration manages; sorted.
    package private(set) var managed: [String] = []
    /// Readable parts that an earlier run split off but did not send or not read back.
    package private(set) var leftovers: [Variable] = []

    private let variables: [Variable]
    private let rules: Rules
    private let vacated: VacatedScopes
    /// Records on Vercel without a record in the vault.
    private let unownedRecords: [VercelRecord]

    /// - Parameters:
    ///   - variables: All records of the project, including removed ones.
    ///   - platform: All records of the project on Vercel.
    package init(variables: [Variable], platform: ListedRecords, rules: Rules) {
        self.variables = variables
        self.rules = rules
        vacated = VacatedScopes(variables)
        let owned = Set(variables.compactMap { $0.remote?.id })
        unownedRecords = platform.filter { !owned.contains($0.id) }
        let ordered = platform.sorted {
            ($0.key, $0.attributes.scope.description, $0.id)
                < ($1.key, $1.attributes.scope.description, $1.id)
        }
        for record in ordered where includes(record.key) {
            if record.integration == nil, record.attributes.kind == .sensitive {
                judgeSensitive(record)
            }
            guard [.plain, .encrypted].contains(record.attributes.kind) else { continue }
            let hardened = part(of: record.attributes.scope)
            if hardened.isEmpty { continue }
            if record.integration != nil {
                if rules.keys != nil {
                    omit(record, "an integration manages it on Vercel", .managed)
                } else if managed.last != record.key {
                    managed.append(record.key)
                }
            } else if PublicPrefix(of: record.key)?.isRefusedForSecrets == true {
                if publicNames.last != record.key { publicNames.append(record.key) }
            } else {
                judge(record, hardened)
            }
        }
        for variable in variables.sorted(by: { ($0.name, $0.id) < ($1.name, $1.id) })
        where rules.keys?.contains(variable.name) ?? false {
            judgeUnsent(variable, platform)
        }
        leftovers = variables.filter { includes($0.name) && isLeftover($0) }
            .sorted { ($0.name, $0.id) < ($1.name, $1.id) }
    }

    /// Returns the names of what would be sent for a scope of that kind.
    package func names(for isMeant: (Scope) -> Bool) -> Set<String> {
        let candidates = (candidates + unconfirmed).filter { isMeant($0.record.attributes.scope) }
        let own = (declared.map(\.variable) + leftovers).filter { isMeant($0.attributes.scope) }
        return Set(candidates.map(\.record.key) + own.map(\.name))
    }

    private func includes(_ key: String) -> Bool { rules.keys?.contains(key) ?? true }

    /// Returns the part of a scope that becomes sensitive.
    private func part(of scope: Scope) -> Scope {
        guard let places = rules.places else {
            let targets = scope.targets.subtracting(.development)
            return targets.isEmpty
                ? Scope(targets: [])
                : Scope(
                    targets: targets, customEnvironments: scope.customEnvironments,
                    branch: scope.branch)
        }
        return Scope(
            targets: scope.targets.intersection(places.targets).subtracting(.development),
            customEnvironments: scope.customEnvironments.filter {
                places.customEnvironments.contains($0)
            }, branch: scope.branch)
    }

    private mutating func judge(_ record: VercelRecord, _ hardened: Scope) {
        let scope = record.attributes.scope
        guard let variable = variables.first(where: { $0.remote?.id == record.id }) else {
            let isTaken = variables.contains {
                $0.isLive && $0.name == record.key && $0.attributes.scope.overlaps(scope)
            }
            guard !isTaken else {
                return omit(record, "the vault has another variable for that scope")
            }
            let isLeft = variables.contains { vacated.place(of: $0)?.isTaken(by: record) ?? false }
            guard !isLeft else {
                return omit(record, "it still has a scope on Vercel that was removed in the vault")
            }
            candidates.append(
                Candidate(
                    record: record, variable: nil, hardened: hardened,
                    rest: scope.subtracting(hardened)))
            return
        }
        guard variable.isLive else {
            return omit(record, "it was removed from the vault, but not yet from Vercel")
        }
        guard variable.name == record.key else { return omitRenamed(record, variable.name) }
        // Once hardened, nothing shows any more that the other one is in its place.
        if let place = vacated.place(of: variable), unownedRecords.contains(where: place.isTaken) {
            return omit(
                record, "Vercel has another variable for a scope that this variable no longer has")
        }
        if variable.attributes.kind == .sensitive {
            let own = variable.attributes.scope
            guard own.subtracting(scope).isEmpty, own.branch == scope.branch else {
                return omit(record, "its targets in the vault and on Vercel differ")
            }
            candidates.append(
                Candidate(
                    record: record, variable: variable, hardened: own, rest: Scope(targets: [])))
            return
        }
        guard variable.attributes.scope == scope else {
            return omit(record, "its targets in the vault and on Vercel differ")
        }
        candidates.append(
            Candidate(
                record: record, variable: variable, hardened: hardened,
                rest: scope.subtracting(hardened)))
    }

    private mutating func omit(
        _ record: VercelRecord, _ reason: String, _ way: RecordNote.Way = .either
    ) {
        omissions.append(RecordNote(record, reason, way: way))
    }

    /// Omits a record whose variable has another name in the vault: only a push renames.
    private mutating func omitRenamed(_ record: VercelRecord, _ name: String) {
        omit(record, "it has a different name in the vault", .together(with: name, force: false))
    }

    /// Checks a sensitive record. Vercel does not show the value, so only whether it was certainly
    /// sent is known.
    private mutating func judgeSensitive(_ record: VercelRecord) {
        guard let variable = variables.first(where: { $0.remote?.id == record.id }),
            let remote = variable.remote, variable.isLive, variable.currentVersion > 0
        else { return }
        let isReadable = [.plain, .encrypted].contains(variable.attributes.kind)
        // A team's policy made it sensitive, or another person did and the user named the key.
        let isForced = isReadable && (remote.agreed.kind == .sensitive || rules.keys != nil)
        guard isForced || variable.attributes.kind == .sensitive && remote.pushedVersion == 0
        else { return }
        guard variable.name == record.key else { return omitRenamed(record, variable.name) }
        // A record that changed since is sent only if the journal has a write for it.
        let isSeen = record.updatedAt == remote.agreedUpdatedAt
        guard isSeen || rules.begun.contains(variable.id) else {
            return omit(record, "it was changed on Vercel, and its value is unknown")
        }
        if isForced { return declare(variable, as: record) }
        // Its targets may differ too: sending it again repairs what an earlier run sent in part.
        unconfirmed.append(
            Candidate(
                record: record, variable: variable, hardened: variable.attributes.scope,
                rest: Scope(targets: [])))
    }

    /// Checks a named variable that Vercel does not have, because a team may only allow sensitive
    /// ones.
    private mutating func judgeUnsent(_ variable: Variable, _ platform: ListedRecords) {
        let isThere = platform.contains {
            $0.key == variable.name && $0.attributes.scope.overlaps(variable.attributes.scope)
        }
        guard variable.isLive, variable.remote == nil, variable.currentVersion > 0,
            [.plain, .encrypted].contains(variable.attributes.kind), !isThere
        else { return }
        declare(variable)
    }

    /// - Parameter record: Vercel's sensitive record; nil if it has none. What that hides stays
    ///   hidden, whatever was selected; development only if nothing was.
    private mutating func declare(_ variable: Variable, as record: VercelRecord? = nil) {
        let scope = variable.attributes.scope
        var hardened = part(of: scope)
        if var hidden = record?.attributes.scope {
            if rules.places != nil { hidden.targets.remove(.development) }
            hardened = scope.shared(with: [hardened, hidden])
        }
        guard !hardened.isEmpty else { return }
        declared.append(
            Declaration(
                variable: variable, hardened: hardened,
                rest: scope.subtracting(hardened)))
    }

    /// Returns whether a record was split off, which happens at the same time as the other part
    /// becomes sensitive.
    private func isLeftover(_ variable: Variable) -> Bool {
        guard variable.isLive, (variable.remote?.pushedVersion ?? 0) == 0,
            variable.currentVersion > 0, variable.attributes.kind != .sensitive
        else { return false }
        return variables.contains {
            $0.isLive && $0.project == variable.project && $0.name == variable.name
                && $0.attributes.kind == .sensitive && $0.updatedAt == variable.createdAt
        }
    }
}
