internal import Groups
internal import Sealing
package import Vault

/// What some members of a group know of the values of its projects, compared with the values in use:
/// a statement about the objects that this vault has now.
package struct ExposureStatement {
    package let variables: [ExposedVariable]
    /// Whether one of them still has access to a project.
    package let isStillMember: Bool
    /// Changes whose contents are not here: what they hold is unknown.
    package let missingCount: Int
    /// Members who can write and were not seen since: values that they stored meanwhile may be
    /// known.
    package let silent: [Silent]

    /// A member who can write and was not seen since.
    package struct Silent: Sendable {
        package let member: Identifier
        package let acceptance: ExposedVariable.Acceptance?
    }
}

extension GroupView {
    /// Members whose knowledge is examined together.
    package struct Subject {
        /// At least one.
        package let members: Set<Identifier>
        /// What decisions name: the person, or the member if the person has other machines in the
        /// group.
        package let id: Identifier

        package init(members: Set<Identifier>, id: Identifier) {
            (self.members, self.id) = (members, id)
        }
    }

    /// Finds out what members know.
    ///
    /// - Parameters:
    ///   - asker: This vault's member, of whom nobody has to be told.
    ///   - index: With all versions.
    package func exposure(
        of subject: Subject, askedBy asker: Identifier, _ index: VaultIndex, _ reader: ValueReader
    ) throws -> ExposureStatement {
        let fingerprints = try ValueFingerprints()
        var items: [ExposureComparison.Item] = []
        var missing = 0
        var settled: [SettledMatter] = []
        for shared in try SharedProject.all(in: index) where shared.group == chain.group {
            let state = state(of: shared.compartment)
            let matters = SettledMatter.all(in: state, of: changes(in: shared.compartment))
            settled += matters
            // What they wrote themselves is known to them, and is nobody's value while it waits.
            missing += changes(in: shared.compartment).count {
                state.waiting[$0.name] != nil && !subject.members.contains($0.header.author)
            }
            items += try self.items(
                subject, shared, state, matters, fingerprints, index)
        }
        let comparison = ExposureComparison(fingerprints, index, reader)
        return ExposureStatement(
            variables: try comparison.variables(items),
            isStillMember: chain.headStates.contains { state in
                subject.members.contains { state.members[$0]?.isActive == true }
            },
            missingCount: missing,
            silent: silent(since: subject, but: asker).map { member in
                ExposureStatement.Silent(
                    member: member,
                    acceptance: Self.acceptance(.silence, subject.id, member, settled))
            })
    }

    /// The variables in use with a value that members know.
    package func knownRecords(of members: Set<Identifier>) -> Set<Identifier> {
        var found: Set<Identifier> = []
        for compartment in compartments {
            let known = Set(
                ExposedVersion.versions(knownTo: members, of: changes(in: compartment), in: chain)
                    .map(\.record))
            found.formUnion(
                state(of: compartment).records.lazy.filter { $0.isInUse && known.contains($0.id) }
                    .map(\.id))
        }
        return found
    }

    private func items(
        _ subject: Subject, _ shared: SharedProject, _ state: CompartmentState,
        _ settled: [SettledMatter], _ fingerprints: ValueFingerprints, _ index: VaultIndex
    ) throws -> [ExposureComparison.Item] {
        let exposed = ExposedVersion.versions(
            knownTo: subject.members, of: changes(in: shared.compartment), in: chain)
        let versions = Dictionary(grouping: exposed, by: \.record)
        let known = try SharedState.of(shared.compartment, shared.group, in: index)
        let records = Dictionary(
            (known?.records ?? []).map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        return try state.records.compactMap { record in
            guard let versions = versions[record.id] else { return nil }
            let references = Set(versions.map(\.reference))
            let stored = records[record.id]
            return ExposureComparison.Item(
                id: record.id, variable: stored?.variable, project: shared.project,
                name: record.names.first ?? "?",
                scope: record.scopes.first ?? Scope(targets: .development),
                isInUse: record.isInUse && !record.choices.isEmpty,
                isContested: record.contested.contains { [.value, .late].contains($0) },
                known: try references.sorted().map { try fingerprint($0, fingerprints) },
                since: versions.map(\.createdAt).min() ?? 0,
                current: try record.choices.map { try fingerprint($0.version, fingerprints) },
                numbers: Set(
                    (stored?.versions ?? []).filter { references.contains($0.reference) }
                        .map(\.number)),
                acceptance: Self.acceptance(.record, subject.id, record.id, settled))
        }
    }

    /// Nil for a value that does not open.
    private func fingerprint(
        _ reference: ChangeReference, _ fingerprints: ValueFingerprints
    ) throws -> ValueFingerprints.Fingerprint? {
        do {
            return try value(of: reference, in: SecretArena()).map(fingerprints.fingerprint)
        } catch let error as GroupError where error.code != .outOfMemory {
            return nil
        }
    }

    private static func acceptance(
        _ matter: Settlement.Matter, _ subject: Identifier, _ object: Identifier,
        _ settled: [SettledMatter]
    ) -> ExposedVariable.Acceptance? {
        let found = settled.last {
            $0.settlement.matter == matter && $0.settlement.subject == subject
                && $0.settlement.object == object
        }
        return found.map {
            ExposedVariable.Acceptance(
                author: $0.author, createdAt: $0.createdAt, reason: $0.settlement.reason)
        }
    }

    /// The members who can write, and of whom nothing shows that they know of the last entry which
    /// took rights from the subject.
    private func silent(since subject: Subject, but asker: Identifier) -> [Identifier] {
        let endings = chain.linksInOrder.filter { link in
            link.entry.removals.contains { subject.members.contains($0.member) }
                || link.entry.roles.contains {
                    $0.cut != nil && subject.members.contains($0.member)
                }
        }
        guard let last = endings.last?.entry.number else { return [] }
        var seen: Set<Identifier> = [asker]
        for link in chain.linksInOrder where link.entry.number >= last {
            seen.insert(link.entry.author)
            seen.formUnion(link.entry.admissions.map(\.member))
        }
        let writers = Set(
            chain.headStates.flatMap { state in
                state.members.filter { $0.value.isActive && $0.value.rights.role != .reader }.keys
            })
        return writers.subtracting(seen).subtracting(subject.members).filter {
            (lastSeen(of: $0) ?? 0) < last
        }.sorted()
    }
}
