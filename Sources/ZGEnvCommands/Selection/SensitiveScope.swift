internal import EnvOperations
internal import Vault
internal import VercelAPI

/// What Vercel refuses for a sensitive variable: a public name and, without an explicit type, development.
enum SensitiveScope {
    /// Checks the type that a value would get in `scope`.
    ///
    /// - Parameters:
    ///   - kind: The type that was asked for; nil to keep or take over one.
    ///   - isNamed: Whether the targets were named with `-t`. Whether development may have
    ///     a Secret is then for Vercel to decide.
    ///   - source: The type of the value where it comes from.
    ///   - records: All records of the key, including removed ones.
    /// - Throws: ``ExitCode/usage``.
    static func check(
        _ scope: Scope, _ kind: VariableAttributes.Kind?, isNamed: Bool = false,
        copyOf source: VariableAttributes.Kind? = nil, of key: String, among records: [Variable]
    ) throws {
        if kind == .sensitive { try check(publicName: key) }
        guard scope.targets.contains(.development), kind == nil || kind == .sensitive && !isNamed
        else { return }
        let live = records.filter(\.isLive)
        let there = live.first { $0.attributes.scope.targets.contains(.development) }
        guard there?.attributes.kind != .sensitive else { return }
        let exact = live.first { $0.attributes.scope == scope }
        let kept = exact?.attributes.kind ?? Inheritance(in: scope, among: records).kind
        guard [kind, kept, source].contains(.sensitive) else { return }
        throw CommandError(
            .usage,
            kind == .sensitive
                ? "Vercel's documentation does not allow sensitive variables for development."
                : "\(key) is sensitive, and Vercel does not allow that in development.",
            hint: kind == .sensitive
                ? "Choose other targets: -t production,preview. To try it nevertheless, name development with -t."
                : "Choose other targets, or set it for development with --type encrypted.")
    }

    /// Refuses to make a variable sensitive whose name makes it public.
    static func check(publicName key: String) throws {
        guard let prefix = PublicPrefix(of: key), prefix.isRefusedForSecrets else { return }
        throw CommandError(
            .usage,
            "\(key) starts with \(prefix.text), which makes its value public: Vercel does not allow that for a Secret (sensitive).",
            hint: "Choose another name for the secret.")
    }

    /// Warns about a sensitive variable whose name makes frameworks publish it, although Vercel takes it.
    static func warn(_ keys: [String], _ context: Context) {
        for key in keys {
            guard let prefix = PublicPrefix(of: key), !prefix.isRefusedForSecrets else { continue }
            context.warn(
                "public-prefix",
                "\(key) starts with \(prefix.text), so frameworks put its value in code that browsers load, even if it is sensitive."
            )
        }
    }
}
