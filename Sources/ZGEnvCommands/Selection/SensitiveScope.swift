internal import EnvOperations
internal import Vault

/// Vercel's rule that a sensitive variable cannot target development.
enum SensitiveScope {
    /// Checks the record that would get `scope`.
    ///
    /// - Parameters:
    ///   - kind: The new type; nil to keep that of the record.
    ///   - records: The key's records in use.
    /// - Throws: ``ExitCode/usage``.
    static func check(
        _ scope: Scope, _ kind: VariableAttributes.Kind?, among records: [Variable]
    ) throws {
        guard scope.targets.contains(.development) else { return }
        let holder = ScopeAssignment(of: scope, among: records).record
        let kept = records.first { $0.id == holder }?.attributes.kind
        guard (kind ?? kept) == .sensitive else { return }
        throw CommandError(
            .usage, "Vercel does not allow sensitive variables for development.",
            hint: kind == nil
                ? "The variable is sensitive. Choose other targets with -t, or use --type encrypted."
                : "Choose other targets: -t production,preview")
    }
}
