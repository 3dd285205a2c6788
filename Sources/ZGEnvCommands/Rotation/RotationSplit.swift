internal import EnvOperations
internal import Sealing
internal import Vault

/// `-t` of a rotation where no record has exactly those targets: they leave the records that hold them and
/// become a record of their own, in the vault and on the platform, before anything is rotated. No value
/// changes by that, so one that is cut short after it has changed nothing for anybody.
struct RotationSplit {
    let key: String
    let scope: Scope
    /// Of the records that hold the targets, all of what they hold.
    let preparation: RotationPreparation
    let workspace: Workspace

    /// Tells whether there is anything to split.
    var isNeeded: Bool {
        preparation.places.contains { place in
            place.records.contains { $0.attributes.scope != scope }
        }
    }

    /// The split for people.
    var lines: [String] {
        preparation.places.flatMap { place in
            place.records.filter { $0.attributes.scope != scope }.map { record in
                let rest = record.attributes.scope.subtracting(scope)
                return "part \(key) of \(place.project.name) for \(scope.description) from "
                    + (rest.isEmpty
                        ? "the record that holds it" : "the one for \(rest.description)")
            }
        }
    }

    /// Splits, here and there.
    func apply() throws {
        for place in preparation.places
        where place.records.contains(where: { $0.attributes.scope != scope }) {
            let records = try split(place)
            var rules = PushPlan.Rules()
            rules.records = records
            let report = try PushWork(workspace, place.bound, place.project, rules: rules)
                .run(asks: false)
            if let failure = report.failure { throw failure }
        }
    }

    /// - Returns: The records that were touched.
    private func split(_ place: RotationPreparation.Place) throws -> Set<Identifier> {
        let session = workspace.session
        let time = workspace.context.now()
        return try session.update(with: try session.keys(.values)) { transaction in
            let records = transaction.index.variables.filter {
                $0.project == place.project.id && $0.name == key
            }
            for held in place.records {
                guard let now = records.first(where: { $0.id == held.id }), now.isLive,
                    now.currentVersion == held.currentVersion,
                    now.attributes.scope == held.attributes.scope
                else {
                    throw CommandError(
                        .conflict, "Somebody changed \(key) meanwhile.",
                        hint: "Nothing was changed; run the command again.")
                }
            }
            let edit = transaction.assign(
                scope, to: key, of: place.project.id, records: records,
                kind: place.records[0].attributes.kind, at: time)
            if edit.isNew {
                guard let old = preparation.old else {
                    throw CommandError(
                        .notFound, "The vault does not hold the value of \(key).",
                        hint: "Nothing was changed. Set it first.")
                }
                transaction.index.variables[edit.position].attributes.comment =
                    place.records[0].attributes.comment
                _ = try old.withBytes { bytes in
                    try transaction.store(bytes, forVariableAt: edit.position, at: time)
                }
            }
            return Set(place.records.map(\.id) + [transaction.index.variables[edit.position].id])
        }
    }
}
