package import Vault

/// What a command asks of a value that it assigns.
package struct AssignmentWishes {
    /// The type; nil to keep or take over one.
    package var kind: VariableAttributes.Kind?
    /// The comment, empty for none; nil to keep or take over one.
    package var comment: String?
    /// The type that a schema gives a value in a target that never had one.
    package var declared: VariableAttributes.Kind?
    /// The records that the value comes from; it is as strict as there.
    package var sources: [Variable]

    package init(
        kind: VariableAttributes.Kind? = nil, comment: String? = nil,
        declared: VariableAttributes.Kind? = nil, sources: [Variable] = []
    ) {
        (self.kind, self.comment) = (kind, comment)
        (self.declared, self.sources) = (declared, sources)
    }
}

/// The targets of a value that have type and comment in common. A value keeps, in each target, those of
/// the value that it replaces there, so that none gets weaker because another target gets the same one.
package struct AssignedPart: Equatable {
    package private(set) var scope: Scope
    /// nil if the key has never had a type.
    package let kind: VariableAttributes.Kind?
    package let comment: String?
    /// The shortest period of the replaced values; 0 without one.
    package private(set) var rotationSeconds: UInt64 = 0
    /// The strictest type that a value has there now; nil without one.
    package private(set) var before: VariableAttributes.Kind?

    /// Divides a scope, the part with the heaviest target first.
    ///
    /// In a target without a value, the removed value of that target counts, and so do all values of
    /// the key that were there later or still are: one of them may have had this target and lost it
    /// without a trace. Sensitive ones do not count for development. The strictest of all is
    /// taken over, with the comment of the other targets that get the value.
    ///
    /// - Parameter records: All records of one key, including removed ones.
    package static func parts(
        of scope: Scope, among records: [Variable], _ wishes: AssignmentWishes = .init()
    ) -> [AssignedPart] {
        let targets = scope.valueTargets
        var parts: [AssignedPart] = []
        func add(
            _ target: ValueTarget, _ kind: VariableAttributes.Kind?, _ comment: String?,
            where isAlike: (AssignedPart) -> Bool
        ) -> Int {
            if let place = parts.firstIndex(where: isAlike) {
                parts[place].scope.formUnion(Scope(target))
                return place
            }
            parts.append(AssignedPart(scope: Scope(target), kind: kind, comment: comment))
            return parts.count - 1
        }
        var open: [ValueTarget] = []
        for target in targets {
            guard let now = records.first(where: { $0.isLive && $0.isFor(target) }) else {
                open.append(target)
                continue
            }
            let kind = wishes.kind(keeping: now.attributes.kind, in: target)
            let comment = wishes.comment(keeping: now.attributes.comment)
            let place = add(target, kind, comment) { $0.kind == kind && $0.comment == comment }
            parts[place].before = [parts[place].before, now.attributes.kind].strictest
            let periods = [parts[place].rotationSeconds, now.rotationSeconds].filter { $0 > 0 }
            parts[place].rotationSeconds = periods.min() ?? 0
        }
        // A value that replaces others describes what they did; the heaviest target decides.
        let comment = wishes.comment(keeping: parts.lazy.compactMap(\.comment).first)
        for target in open {
            let kind = wishes.kind(
                keeping: formerKind(in: target, among: records, wishes.declared), in: target)
            _ = add(target, kind, comment) { $0.kind == kind }
        }
        return targets.compactMap { target in
            parts.first { $0.scope.valueTargets.first == target }
        }
    }

    private static func formerKind(
        in target: ValueTarget, among records: [Variable], _ declared: VariableAttributes.Kind?
    ) -> VariableAttributes.Kind? {
        let last = records.filter { $0.isFor(target) }
            .max { ($0.deletedAt ?? 0) < ($1.deletedAt ?? 0) }
        let later = records.filter { record in
            guard let end = record.deletedAt else { return true }
            return last?.deletedAt.map { $0 < end } ?? true
        }
        let isOpen = Scope(target).isOnlyDevelopment
        var kinds = later.map(\.attributes.kind).filter { !isOpen || $0 != .sensitive }
        if let kind = last?.attributes.kind {
            kinds.append(isOpen && kind == .sensitive ? .encrypted : kind)
        } else if let declared {
            kinds.append(declared)
        }
        return kinds.strictest
    }
}

extension AssignmentWishes {
    fileprivate func kind(
        keeping kept: VariableAttributes.Kind?, in target: ValueTarget
    ) -> VariableAttributes.Kind? {
        if let kind { return kind }
        let there = sources.filter { $0.isFor(target) }
        return ((there.isEmpty ? sources : there).map(\.attributes.kind) + [kept]).strictest
    }

    func comment(keeping kept: String?) -> String? {
        comment.map { $0.isEmpty ? nil : $0 } ?? kept
    }
}

extension Variable {
    /// Whether its scope names a target.
    fileprivate func isFor(_ target: ValueTarget) -> Bool {
        attributes.scope.overlaps(Scope(target))
    }
}

extension Scope {
    /// The scope of a value for which no targets were given and that no record has: production and
    /// preview for a sensitive one, which Vercel does not allow in development.
    ///
    /// - Parameters:
    ///   - kind: The type that was asked for.
    ///   - records: The removed records of the key.
    ///   - standard: The type of a new variable.
    package static func standard(
        _ kind: VariableAttributes.Kind?, among records: [Variable],
        standard: VariableAttributes.Kind = .encrypted
    ) -> Scope {
        let all = Scope(targets: .all)
        let former = AssignedPart.parts(of: all, among: records).map(\.kind).strictest
        return kind ?? former ?? standard == .sensitive
            ? Scope(targets: [.production, .preview]) : all
    }

    /// Whether development is its only target, where no type is sensitive by itself.
    package var isOnlyDevelopment: Bool { targets == .development && customEnvironments.isEmpty }
}

extension Sequence<VariableAttributes.Kind> {
    /// The strictest type; nil without any.
    var strictest: VariableAttributes.Kind? { self.max { $0.strictness < $1.strictness } }
}

extension Sequence<VariableAttributes.Kind?> {
    /// The strictest type; nil without any.
    package var strictest: VariableAttributes.Kind? { compactMap(\.self).strictest }
}
