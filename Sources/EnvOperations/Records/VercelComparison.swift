package import Vault

/// The records of one project beside what Vercel was just seen to have of it.
package struct VercelComparison: Sendable {
    /// What Vercel was just seen to have of a project.
    package struct Sight: Sendable {
        package let snapshot: ProjectSnapshot
        /// The names of the live deployment's variables; nil if nothing is live.
        package let liveNames: Set<String>?

        package var records: ListedRecords { snapshot.records }

        package init(_ snapshot: ProjectSnapshot, liveNames: Set<String>?) {
            self.snapshot = snapshot
            self.liveNames = liveNames
        }
    }

    package let project: VaultProject
    /// nil if Vercel was not asked just now.
    package let sight: Sight?
    /// The vault's records by Vercel's id.
    private let owners: [String: Variable]
    /// Vercel's records by name.
    private let records: [String: [VercelRecord]]

    /// - Parameter variables: All records of the project, including removed ones.
    package init(
        of project: VaultProject, among variables: [Variable], seeing sight: Sight?
    ) {
        self.project = project
        self.sight = sight
        owners = Dictionary(
            variables.compactMap { variable in
                variable.remote.flatMap { $0.isGone ? nil : ($0.id, variable) }
            }, uniquingKeysWith: { $1 })
        records = Dictionary(grouping: sight?.records.records ?? [], by: \.key)
    }

    /// Returns the vault's record of a record on Vercel; nil if this vault does not know it.
    func owner(of record: VercelRecord) -> Variable? { owners[record.id] }

    func records(named name: String, overlapping scope: Scope) -> [VercelRecord] {
        (records[name] ?? []).filter {
            $0.key.utf8.elementsEqual(name.utf8) && $0.attributes.scope.overlaps(scope)
        }
    }

    /// Returns whether production was built with a variable that Vercel no longer has for it.
    func isBuiltWithRemoved(_ name: String) -> Bool {
        sight?.liveNames?.contains(name) == true
            && records(named: name, overlapping: Scope(targets: .production)).isEmpty
    }

    /// The sorted names of Vercel's variables that this vault does not know, without those that Vercel
    /// sets itself: any of them may have a value that someone knows.
    package var unknownNames: [String] {
        Set(
            (sight?.records.records ?? []).filter {
                $0.attributes.kind != .system && owner(of: $0) == nil
            }.map(\.key)
        ).sorted()
    }
}
