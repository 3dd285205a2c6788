internal import Vault
package import VercelAPI

/// Which variables a deployment was built with, from everything that Vercel shows of it. Contains no
/// values.
package struct LiveVariables {
    private let createdAt: UInt64?
    private let names: Set<String>
    private let pulled: [String: Bool]?
    private let records: [String: [VercelRecord]]

    /// - Parameters:
    ///   - deployment: Read by itself, with the names of its variables.
    ///   - pulled: The variables that Vercel gives out for the deployment, and whether each has a value;
    ///     nil if it gives out none. A sensitive one may be missing, or be there without its value.
    ///   - records: What the project has now for the deployment's place.
    package init(
        of deployment: Deployment, pulled: [String: Bool]?, records: [VercelRecord]
    ) {
        createdAt = deployment.createdAt.map { UInt64(clamping: $0.milliseconds) }
        names = Set(deployment.variableNames)
        self.pulled = pulled
        self.records = Dictionary(grouping: records, by: \.key)
    }

    /// The names that it certainly has.
    package var keys: Set<String> { names.union(pulled.map { Set($0.keys) } ?? []) }

    /// Returns what the deployment has of a variable.
    package func presence(of key: String) -> SchemaCheck.Presence {
        let records = records[key] ?? []
        let kind = records.first?.attributes.kind
        if let hasValue = pulled?[key] {
            let isShown = kind != nil && kind != .sensitive
            return .init(hasValue || !isShown ? .unread : .empty, kind: kind)
        }
        if names.contains(key) { return .init(.unread, kind: kind) }
        // Vercel gives out everything that is not sensitive, so this one was not there.
        if pulled != nil, !records.contains(where: { $0.attributes.kind == .sensitive }) {
            return .missing
        }
        guard !records.isEmpty else {
            return .init(.unknown("Vercel does not show the deployment's variables"))
        }
        guard let createdAt, records.allSatisfy({ $0.createdAt > 0 }) else {
            return .init(.unknown("Vercel does not report when it was added"), kind: kind)
        }
        if records.contains(where: { $0.updatedAt < createdAt }) {
            return .init(.unread, kind: kind)
        }
        if records.allSatisfy({ $0.createdAt > createdAt }) {
            return .init(.missing, kind: kind)
        }
        return .init(
            .unknown(
                "changed after the deployment was created, and Vercel does not show its value"),
            kind: kind)
    }
}
