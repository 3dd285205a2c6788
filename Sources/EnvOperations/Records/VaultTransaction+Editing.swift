internal import Sealing
package import Vault
internal import VercelAPI

/// One record that got a value, and the effect on the key's others.
package struct RecordEdit: Equatable {
    /// The record's position in the transaction's index.
    package let position: Int
    package let isNew: Bool
    /// Other records that lost targets.
    package let touched: [Touched]
    /// The strictest type that a value had in this scope before; nil if there was none.
    package var before: VariableAttributes.Kind?

    /// A record other than the one that was set.
    package struct Touched: Equatable {
        /// Its scope before.
        package let before: Scope
        /// Its scope now; empty if it was removed.
        package let after: Scope
        /// The version of its value; 0 without one.
        package let version: UInt64
    }
}

extension VaultTransaction {
    /// Returns the project of that name, creating it if necessary.
    package mutating func project(
        named name: String, at time: UInt64
    ) -> (project: VaultProject, isNew: Bool) {
        if let project = index.project(named: name) { return (project, false) }
        let project = VaultProject(name: name, createdAt: time)
        index.projects.append(project)
        return (project, true)
    }

    /// Gives all targets of a scope one value of a variable, and no other target.
    ///
    /// Its records keep the types and comments that their targets have; see ``AssignedPart``. The
    /// targets are removed from all other records; see ``ScopeAssignment``.
    ///
    /// - Parameters:
    ///   - number: The version that the value already is; nil for a new one.
    ///   - positions: Indices of the key's records, including removed ones; nil to look for them.
    /// - Returns: The records that have the value, that with the heaviest target first.
    package mutating func assign(
        _ value: RawSpan, as number: UInt64? = nil, to scope: Scope, of key: String,
        in project: Identifier, records positions: [Int]? = nil,
        _ wishes: AssignmentWishes = AssignmentWishes(), at time: UInt64
    ) throws(VaultError) -> [RecordEdit] {
        var positions =
            positions
            ?? index.variables.indices.filter {
                index.variables[$0].project == project && index.variables[$0].name == key
            }
        var wishes = wishes
        // No schema makes a Secret of what its name makes public.
        if wishes.declared == .sensitive, PublicPrefix(of: key)?.isRefusedForSecrets == true {
            wishes.declared = nil
        }
        let records = positions.map { index.variables[$0] }
        var edits: [RecordEdit] = []
        for part in AssignedPart.parts(of: scope, among: records, wishes) {
            let edit = assign(part, to: key, of: project, among: positions, at: time)
            if edit.isNew { positions.append(edit.position) }
            edits.append(edit)
        }
        _ = try store(value, as: number, forVariablesAt: edits.map(\.position), at: time)
        return edits
    }

    /// Makes sure that one record has exactly a part's scope, with its type and comment.
    private mutating func assign(
        _ part: AssignedPart, to key: String, of project: Identifier, among positions: [Int],
        at time: UInt64
    ) -> RecordEdit {
        let live = positions.filter { index.variables[$0].isLive }
        let plan = ScopeAssignment(of: part.scope, among: live.map { index.variables[$0] })
        let touched = leave(plan, at: time)
        let attributes = VariableAttributes(
            kind: part.kind ?? DefaultType.kind(of: key, in: part.scope, index),
            scope: part.scope, comment: part.comment)
        let isNew = plan.record == nil
        let position =
            live.first { index.variables[$0].id == plan.record }
            ?? add(key, attributes, of: project, at: time)
        if index.variables[position].attributes != attributes {
            index.variables[position].attributes = attributes
            index.variables[position].updatedAt = time
        }
        index.variables[position].rotationSeconds = part.rotationSeconds
        return RecordEdit(
            position: position, isNew: isNew, touched: touched, before: part.before)
    }

    /// Changes type and comment of the records that have any of a scope, and leaves their values.
    ///
    /// - Parameter positions: Indices of the key's records.
    package mutating func revise(
        _ positions: [Int], in scope: Scope, _ wishes: AssignmentWishes, at time: UInt64
    ) {
        for position in positions {
            var attributes = index.variables[position].attributes
            guard index.variables[position].isLive, attributes.scope.overlaps(scope) else {
                continue
            }
            attributes.kind = wishes.kind ?? attributes.kind
            attributes.comment = wishes.comment(keeping: attributes.comment)
            guard index.variables[position].attributes != attributes else { continue }
            index.variables[position].attributes = attributes
            index.variables[position].updatedAt = time
        }
    }

    /// Removes the scope of a plan from all other records.
    private mutating func leave(
        _ plan: ScopeAssignment, at time: UInt64
    ) -> [RecordEdit.Touched] {
        var touched: [RecordEdit.Touched] = []
        for narrowing in plan.narrowed {
            guard let position = position(of: narrowing.record) else { continue }
            touched.append(
                .init(
                    before: index.variables[position].attributes.scope, after: narrowing.scope,
                    version: index.variables[position].currentVersion))
            index.variables[position].attributes.scope = narrowing.scope
            index.variables[position].updatedAt = time
        }
        for id in plan.removed {
            guard let position = position(of: id) else { continue }
            touched.append(
                .init(
                    before: index.variables[position].attributes.scope, after: Scope(targets: []),
                    version: index.variables[position].currentVersion))
            remove(at: position, time: time)
        }
        return touched
    }

    /// Adds a record without a value.
    mutating func add(
        _ key: String, _ attributes: VariableAttributes, of project: Identifier, at time: UInt64
    ) -> Int {
        index.variables.append(
            Variable(project: project, name: key, attributes: attributes, createdAt: time))
        return index.variables.count - 1
    }

    /// Makes a record sensitive whose name was that of a sensitive one, so that the next value of that
    /// name is not readable. Development has no sensitive values by itself, and gets a record of its
    /// own.
    ///
    /// - Parameter former: The records that had its name before.
    /// - Returns: Whether its type changed.
    package mutating func keepType(
        of former: [Variable], at position: Int, time: UInt64
    ) throws(VaultError) -> Bool {
        let variable = index.variables[position]
        var scope = variable.attributes.scope
        scope.targets.remove(.development)
        guard variable.isLive, variable.attributes.kind != .sensitive, !scope.isEmpty,
            former.contains(where: {
                $0.id != variable.id && $0.attributes.kind == .sensitive
                    && $0.attributes.scope.overlaps(scope)
            })
        else { return false }
        guard scope != variable.attributes.scope else {
            index.variables[position].attributes.kind = .sensitive
            return true
        }
        let arena = SecretArena()
        guard
            let value = try recordedValue(
                of: variable.id, version: variable.currentVersion, in: arena)
        else { return false }
        _ = try value.withBytes { (bytes) throws(VaultError) in
            try assign(
                bytes, as: variable.currentVersion, to: scope, of: variable.name,
                in: variable.project, AssignmentWishes(kind: .sensitive), at: time)
        }
        return true
    }

    /// Marks a record as removed. Its history stays, and so does Vercel's record until a push.
    package mutating func remove(at position: Int, time: UInt64) {
        index.variables[position].deletedAt = time
        index.variables[position].updatedAt = time
    }

    /// Returns a record's position in the index.
    package func position(of id: Identifier) -> Int? {
        index.variables.firstIndex { $0.id == id }
    }
}
