internal import EnvOperations
internal import Vault

/// Vercel's rule that a sensitive variable cannot target development.
enum SensitiveScope {
    /// Checks the type that a value would get in `scope`.
    ///
    /// - Parameters:
    ///   - kind: The type that was asked for; nil to keep or take over one.
    ///   - source: The type of the value where it comes from.
    ///   - records: All records of the key, including removed ones.
    /// - Throws: ``ExitCode/usage``.
    static func check(
        _ scope: Scope, _ kind: VariableAttributes.Kind?,
        copyOf source: VariableAttributes.Kind? = nil, of key: String, among records: [Variable]
    ) throws {
        guard scope.targets.contains(.development) else { return }
        let exact = records.first { $0.isLive && $0.attributes.scope == scope }
        let kept = exact?.attributes.kind ?? Inheritance(in: scope, among: records).kind
        guard kind == .sensitive || kind == nil && [kept, source].contains(.sensitive) else {
            return
        }
        throw CommandError(
            .usage,
            kind == .sensitive
                ? "Vercel does not allow sensitive variables for development."
                : "\(key) is sensitive, and Vercel does not allow that in development.",
            hint: kind == .sensitive
                ? "Choose other targets: -t production,preview"
                : "Choose other targets, or set it for development with --type encrypted.")
    }
}
