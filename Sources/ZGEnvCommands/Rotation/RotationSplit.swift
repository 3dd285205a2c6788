internal import CommandLineKit
internal import EnvOperations
internal import Sealing
internal import Vault

/// Splits the targets of `-t` off records with wider scopes, in the vault and on Vercel, before the
/// rotation. No value changes, so an interruption after the split has no effect on deployments. One
/// during it leaves an unfinished push: Vercel takes no two records for one target, so the narrower one
/// is created after the other has been narrowed.
struct RotationSplit {
    let key: String
    let scope: Scope
    /// The preparation with the whole records that overlap `scope`.
    let preparation: RotationSetup
    let workspace: Workspace

    /// Whether any record has a different scope.
    var isNeeded: Bool { preparation.places.contains(where: isSplit) }

    private func isSplit(_ place: RotationSetup.Place) -> Bool {
        place.records.contains(where: isWider)
    }

    private func isWider(_ record: Variable) -> Bool {
        !record.attributes.scope.subtracting(scope).isEmpty
    }

    /// The lines of the plan, as shown to the user.
    var lines: [String] {
        preparation.places.flatMap { place in
            place.records.filter(isWider).map { record in
                let rest = record.attributes.scope.subtracting(scope)
                return
                    "split \(key) in \(place.project.name): \(scope.description) gets its own value"
                    + " (unchanged: \(rest.description))"
            }
        }
    }

    /// Splits the records in the vault and pushes them.
    func apply() throws {
        for place in preparation.places where isSplit(place) {
            let records = try split(place)
            let report = try PushWork(
                workspace, place.bound, place.project, rules: .init(records: records)
            ).run(asks: false)
            if let failure = report.failure { throw failure }
        }
    }

    /// Returns the ids of the changed records.
    private func split(_ place: RotationSetup.Place) throws -> Set<Identifier> {
        let session = workspace.session
        let time = workspace.context.now()
        let ids = Set(place.records.map(\.id))
        let change = Change { index, _ in
            SplitRecord.of(index.variables.filter { ids.contains($0.id) && $0.isLive })
        } apply: { transaction, _, _ in
            guard let old = preparation.old else {
                throw CommandError(
                    .notFound, "The vault does not have the value of \(key).",
                    hint: "Run: zg-env set \(word: key) -p \(word: place.project.name)")
            }
            let edits = try old.withBytes { bytes in
                try transaction.assign(
                    bytes, as: place.records[0].currentVersion, to: scope, of: key,
                    in: place.project.id, at: time)
            }
            return ids.union(edits.map { transaction.index.variables[$0.position].id })
        }
        return try session.commit(
            change, as: Planned(SplitRecord.of(place.records), about: place.records))
    }

    private struct SplitRecord: Equatable {
        let id: Identifier
        let version: UInt64
        let scope: Scope

        static func of(_ records: [Variable]) -> [SplitRecord] {
            records.sorted { $0.id < $1.id }.map {
                .init(id: $0.id, version: $0.currentVersion, scope: $0.attributes.scope)
            }
        }
    }
}
