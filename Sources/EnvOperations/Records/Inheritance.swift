package import Vault

/// The type, comment and rotation period that a value takes over in a scope, so that no value gets
/// weaker because it replaces only a part of another one.
package struct Inheritance: Equatable {
    /// nil if the key has never had a type.
    package private(set) var kind: VariableAttributes.Kind?
    package private(set) var comment: String?
    package private(set) var rotationSeconds: UInt64 = 0

    /// In each target of the scope the live value of that target counts. In a target without one, its
    /// removed value does, and so do all values of the key that were there later or still are: one of
    /// them may have had this target and lost it without a trace. Sensitive ones do not count for
    /// development alone. The strictest of all is taken over.
    ///
    /// - Parameters:
    ///   - records: All records of one key, including removed ones.
    ///   - declared: The type that a schema gives a value in a target that never had one.
    package init(
        in scope: Scope, among records: [Variable], declared: VariableAttributes.Kind? = nil
    ) {
        var kinds: [VariableAttributes.Kind] = []
        var replaced: [Variable] = []
        for target in scope.valueTargets.map(Scope.init) {
            let there = records.filter { $0.attributes.scope.overlaps(target) }
            if let now = there.first(where: \.isLive) {
                kinds.append(now.attributes.kind)
                replaced.append(now)
                continue
            }
            let last = there.max { ($0.deletedAt ?? 0) < ($1.deletedAt ?? 0) }
            let later = records.filter { record in
                guard let end = record.deletedAt else { return true }
                return last?.deletedAt.map { $0 < end } ?? true
            }
            let isOpen = target.isOnlyDevelopment
            if let last {
                let kind = last.attributes.kind
                kinds.append(isOpen && kind == .sensitive ? .encrypted : kind)
            }
            kinds += later.map(\.attributes.kind).filter { !isOpen || $0 != .sensitive }
            if last == nil, let declared { kinds.append(declared) }
        }
        kind = kinds.strictest
        // A value that replaces others describes what they did; the heaviest target decides.
        comment = replaced.lazy.compactMap(\.attributes.comment).first
        rotationSeconds = replaced.lazy.map(\.rotationSeconds).first { $0 > 0 } ?? 0
    }
}

extension Inheritance {
    /// The scope of a value for which no targets were given and that no record has: production and
    /// preview for a sensitive one, which Vercel does not allow in development.
    ///
    /// - Parameters:
    ///   - kind: The type that was asked for.
    ///   - records: The removed records of the key.
    ///   - standard: The type of a new variable.
    package static func standardScope(
        _ kind: VariableAttributes.Kind?, among records: [Variable],
        standard: VariableAttributes.Kind = .encrypted
    ) -> Scope {
        let (all, deployed) = (Scope(targets: .all), Scope(targets: [.production, .preview]))
        let kind =
            kind ?? Inheritance(in: all, among: records).kind ?? standard
        return kind == .sensitive ? deployed : all
    }
}

extension Scope {
    /// Whether development is its only target, where no type is sensitive by itself.
    package var isOnlyDevelopment: Bool { targets == .development && customEnvironments.isEmpty }
}

extension Sequence<VariableAttributes.Kind> {
    /// The strictest type; nil without any.
    var strictest: VariableAttributes.Kind? { self.max { $0.strictness < $1.strictness } }
}
