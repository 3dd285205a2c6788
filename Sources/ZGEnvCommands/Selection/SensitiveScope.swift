internal import EnvOperations
internal import Vault
internal import VercelAPI

/// What Vercel refuses for a sensitive variable: a public name and, without an explicit type, development.
enum SensitiveScope {
    /// Checks the types that a value would get in `scope`. Where development has no value yet, nothing
    /// but the user's word makes a Secret's value readable there.
    ///
    /// - Parameters:
    ///   - isNamed: Whether the targets were named with `-t`. Whether development may have
    ///     a Secret is then for Vercel to decide.
    ///   - records: All records of the key, including removed ones.
    /// - Throws: ``ExitCode/usage``.
    static func check(
        _ scope: Scope, isNamed: Bool = false, of key: String, among records: [Variable],
        _ wishes: AssignmentWishes = AssignmentWishes()
    ) throws {
        let kind = wishes.kind
        if kind == .sensitive { try check(publicName: key) }
        guard scope.targets.contains(.development), kind == nil || kind == .sensitive && !isNamed
        else { return }
        let there = records.first { record in
            record.isLive && record.attributes.scope.branch == scope.branch
                && record.attributes.scope.targets.contains(.development)
        }
        guard there?.attributes.kind != .sensitive else { return }
        let parts = AssignedPart.parts(of: scope, among: records, wishes)
        guard
            parts.contains(where: { part in
                part.kind == .sensitive
                    && (there == nil || part.scope.targets.contains(.development))
            })
        else { return }
        throw CommandError(
            .usage,
            kind == .sensitive
                ? "Vercel's documentation does not allow sensitive variables for development."
                : "\(key) is sensitive, and Vercel does not allow that in development.",
            hint: kind == .sensitive
                ? "Choose other targets: -t production,preview. To try it nevertheless, name development with -t."
                : "Choose other targets, or set it for development alone, with -t development --type encrypted."
        )
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
