package import EnvSchema
package import Vault

/// Compares the declared variables with what one side has for one target. Pure: the caller looks.
package struct SchemaCheck {
    /// What one side has of a variable.
    package struct Presence: Equatable, Sendable {
        package enum Content: Equatable, Sendable {
            case missing
            /// There, but the value was not read.
            case unread
            case read(ValueFit)
            case empty
            case placeholder
            /// The vault has the variable, and only Vercel its value.
            case withoutValue
            /// Why it is not known whether it is there, or whether its value fits.
            case unknown(String)
        }

        package var content: Content
        /// The type on Vercel; nil if it is not known.
        package var kind: VariableAttributes.Kind?

        package init(_ content: Content, kind: VariableAttributes.Kind? = nil) {
            self.content = content
            self.kind = kind
        }

        package static var missing: Presence { Presence(.missing) }
    }

    private let schema: Schema
    private let target: String
    private let side: SchemaResult.Side
    private let isStrict: Bool
    private let mapping: EnvironmentMapping

    /// - Parameters:
    ///   - schema: As read for this target.
    ///   - isStrict: Whether everything that is not certain is a problem.
    package init(
        _ schema: Schema, target: String, on side: SchemaResult.Side, mapping: EnvironmentMapping,
        isStrict: Bool
    ) {
        self.schema = schema
        self.target = target
        self.side = side
        self.mapping = mapping
        self.isStrict = isStrict
    }

    /// Returns whether a variable must be there.
    package func isRequired(_ item: SchemaItem) -> Bool {
        if item.deprecation != nil || (item.isInternal && side != .vault) { return false }
        return mapping.holds(item.requirement, for: target)
    }

    /// Returns one result for each item and group, and one for each key that is there undeclared.
    ///
    /// - Parameters:
    ///   - keys: Only these; nil for all.
    ///   - there: The keys that this side has.
    ///   - presence: What it has of an item.
    package func results(
        of keys: Set<String>?, there: Set<String>,
        presence: (SchemaItem) throws -> Presence
    ) rethrows -> [SchemaResult] {
        var results: [SchemaResult] = []
        var present: Set<String> = []
        for item in schema.items {
            let found = try presence(item)
            if found.content != .missing, found.content != .empty { present.insert(item.key) }
            guard keys?.contains(item.key) != false else { continue }
            results.append(result(of: item, found))
        }
        let declared = Set(schema.items.map(\.key))
        for key in there.subtracting(declared).sorted() where keys?.contains(key) != false {
            results.append(
                result(key, .undeclared, isStrict ? .problem : .info, nil, isRequired: false))
        }
        return results + groups(present, keys)
    }

    private func result(of item: SchemaItem, _ found: Presence) -> SchemaResult {
        let isRequired = isRequired(item)
        let strictly: SchemaResult.Level = isStrict ? .problem : .info
        func make(
            _ state: SchemaResult.State, _ level: SchemaResult.Level, _ why: String? = nil
        ) -> SchemaResult {
            result(item.key, state, level, why, isRequired: isRequired, item)
        }
        switch found.content {
        case .missing: return absence(item, .missing, isRequired, strictly)
        case .empty: return absence(item, .empty, isRequired, strictly)
        case .placeholder:
            return make(
                .placeholder, isRequired || isStrict ? .problem : .warning,
                "the value is the schema's example")
        case .unknown(let why): return make(.unknown, isRequired ? .problem : .warning, why)
        case .withoutValue:
            return make(
                .elsewhere, isRequired ? strictly : .info, "the value exists only on Vercel")
        case .read(.misfit(let why)):
            return make(
                .invalid, item.typeIsInferred && !isStrict ? .warning : .problem,
                "\(item.type?.name.rawValue ?? "value"): \(why)")
        case .unread, .read: break
        }
        if let exposure = exposure(of: item, found.kind), exposure.level == .problem {
            return make(.invalid, .problem, exposure.why)
        }
        if item.deprecation != nil {
            return make(.deprecated, isStrict ? .problem : .warning, item.deprecation?.advice)
        }
        if let exposure = exposure(of: item, found.kind) {
            return make(.ok, isStrict ? .problem : exposure.level, exposure.why)
        }
        let warning: SchemaResult.Level = isStrict ? .problem : .warning
        switch found.content {
        case .read(.coerced(let why)): return make(.ok, warning, why)
        case .read(.unchecked(let why)): return make(.unknown, warning, why)
        default: return make(.ok, .ok)
        }
    }

    /// Returns the result for a variable that is not there or has an empty value.
    private func absence(
        _ item: SchemaItem, _ state: SchemaResult.State, _ isRequired: Bool,
        _ strictly: SchemaResult.Level
    ) -> SchemaResult {
        func make(
            _ state: SchemaResult.State, _ level: SchemaResult.Level, _ why: String? = nil
        ) -> SchemaResult {
            result(item.key, state, level, why, isRequired: isRequired, item)
        }
        if item.deprecation != nil || (item.isInternal && side != .vault) { return make(.ok, .ok) }
        if side != .vault, state == .missing, SystemVariables.isSetByVercel(item.key) {
            return make(.elsewhere, .ok, "Vercel sets it automatically")
        }
        switch item.value {
        case .default(let text) where !text.isEmpty:
            return make(.default, isRequired ? strictly : .ok)
        case .function(let name): return make(.elsewhere, isRequired ? strictly : .ok, "\(name)(…)")
        case .default, .placeholder, .none: break
        }
        if item.requirement == .depends {
            return make(
                .depends, strictly, "a function in the schema decides whether it is required")
        }
        return make(state, isRequired ? .problem : strictly)
    }

    /// Returns how a variable that is declared sensitive can be read all the same, or the reverse.
    private func exposure(
        of item: SchemaItem, _ kind: VariableAttributes.Kind?
    ) -> (level: SchemaResult.Level, why: String)? {
        // What nobody wrote must not ask for a change.
        guard let isSensitive = item.isSensitive, item.sensitivitySource != .implicit else {
            return nil
        }
        if isSensitive, ValueWarning.hasPublicPrefix(item.key) {
            return (.problem, "declared sensitive, but its prefix makes it public")
        }
        guard let kind else { return nil }
        if isSensitive, kind == .plain || (kind == .encrypted && target != "development") {
            return (
                .warning,
                "declared sensitive, but readable on Vercel (zg-env harden changes that)"
            )
        }
        if !isSensitive, kind == .sensitive, item.sensitivitySource != nil {
            return (.info, "declared public, but sensitive on Vercel")
        }
        return nil
    }

    /// Returns a result for each group of which too few or too many are there.
    private func groups(_ present: Set<String>, _ keys: Set<String>?) -> [SchemaResult] {
        var members: [SchemaGroup: [String]] = [:]
        for item in schema.items {
            for group in item.groups { members[group, default: []].append(item.key) }
        }
        return members.sorted {
            ($0.key.name, $0.key.rule.rawValue) < ($1.key.name, $1.key.rule.rawValue)
        }
        .compactMap { group, all in
            guard keys.map({ !$0.isDisjoint(with: all) }) ?? true else { return nil }
            let count = all.filter { present.contains($0) }.count
            let names = all.joined(separator: ", ")
            if count == 0 {
                return result(
                    names, .missing, .problem,
                    "group \(group.name) needs one of these variables",
                    isRequired: true)
            }
            guard group.rule == .exactlyOne, count > 1 else { return nil }
            return result(
                names, .invalid, .problem, "group \(group.name) allows only one of these variables",
                isRequired: true)
        }
    }

    private func result(
        _ key: String, _ state: SchemaResult.State, _ level: SchemaResult.Level, _ why: String?,
        isRequired: Bool, _ item: SchemaItem? = nil
    ) -> SchemaResult {
        SchemaResult(
            key: key, target: target, side: side, state: state, isRequired: isRequired, why: why,
            level: level, item: item)
    }
}
