internal import Sealing

/// What a file has in place of a project's own value: stand-ins for values that its writer could
/// not read, and variables that Vercel sets itself. None of them belongs in a vault.
package enum FileStandIns {
    /// Why a variable of a file is left out.
    package enum Group: String, CaseIterable, Sendable {
        /// A word or bullets in place of a value that may not be read.
        case placeholder
        /// The empty value that Vercel's CLI writes for a value that may not be read.
        case unreadable
        /// A value that was to get one of those inserted.
        case derived
        /// A token of Vercel's that expires after hours.
        case token
        /// A variable that Vercel or its CLI sets itself.
        case system

        /// The code of the warning.
        package var code: String { "skipped-\(rawValue)" }

        /// One sentence for all variables of the group.
        package func message(_ names: [String]) -> String {
            let list = names.joined(separator: ", ")
            let count = names.count == 1 ? "1 variable" : "\(names.count) variables"
            let (it, have) = names.count == 1 ? ("its", "has") : ("their", "have")
            switch self {
            case .placeholder:
                return
                    "Skipped \(count) that \(have) a placeholder in place of \(it) value: \(list)."
            case .unreadable:
                return
                    "Skipped \(count) that Vercel's CLI wrote without \(it) value: \(list). To set an empty value, use: zg-env set KEY --allow-empty"
            case .derived:
                return
                    "Skipped \(count) that would contain a skipped value: \(list)."
            case .token:
                return "Skipped \(list), a token that expires within 12 hours."
            case .system:
                return "Skipped \(count) that Vercel sets: \(list)."
            }
        }
    }

    /// Returns why a variable of a file is left out; nil for a value of the project.
    ///
    /// - Parameter isFromVercelCLI: Whether Vercel's CLI wrote the file.
    package static func group(
        of name: String, _ value: RawSpan, isFromVercelCLI: Bool
    ) -> Group? {
        if name.utf8.elementsEqual("VERCEL_OIDC_TOKEN".utf8) { return .token }
        if isFromVercelCLI, SystemVariables.isAddedByCLI(name) { return .system }
        // Some dialects read quotes and blanks as a part of the value.
        let bare = value.extracting(bare(value))
        if isPlaceholder(bare) { return .placeholder }
        return isFromVercelCLI && bare.byteCount == 0 ? .unreadable : nil
    }

    /// Returns where a value is without blanks and one pair of quotes around it.
    private static func bare(_ value: RawSpan) -> Range<Int> {
        var (start, end) = (0, value.byteCount)
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
        while start < end, isBlank(value.byte(at: start)) { start += 1 }
        while start < end, isBlank(value.byte(at: end - 1)) { end -= 1 }
        if end - start >= 2, value.byte(at: start) == value.byte(at: end - 1),
            [0x22, 0x27, 0x60].contains(value.byte(at: start))
        {
            (start, end) = (start + 1, end - 1)
        }
        return start..<end
    }

    private static let placeholders: [StaticString] = [
        "[SENSITIVE]", "SENSITIVE_ENV_VALUE_PLACEHOLDER", "[REDACTED]",
    ]

    /// Returns whether a value is a word, or only bullets, that a program shows in place of a
    /// sensitive value.
    package static func isPlaceholder(_ value: RawSpan) -> Bool {
        placeholders.contains { value.equals($0) } || isBullets(value)
    }

    /// Returns whether a value is U+2022 repeated.
    private static func isBullets(_ value: RawSpan) -> Bool {
        let bullet: [UInt8] = [0xE2, 0x80, 0xA2]
        return value.byteCount > 0 && value.byteCount.isMultiple(of: bullet.count)
            && (0..<value.byteCount).allSatisfy { value.byte(at: $0) == bullet[$0 % bullet.count] }
    }
}

/// The variables that Vercel itself sets in builds or functions: its page "System environment
/// variables". Other names with the prefix are a project's own.
package enum SystemVariables {
    private static let set: Set<String> = [
        "CI", "NODE_ENV", "VERCEL", "VERCEL_AUTOMATION_BYPASS_SECRET", "VERCEL_BRANCH_URL",
        "VERCEL_DEPLOYMENT_ID", "VERCEL_ENV", "VERCEL_GIT_COMMIT_AUTHOR_LOGIN",
        "VERCEL_GIT_COMMIT_AUTHOR_NAME", "VERCEL_GIT_COMMIT_MESSAGE", "VERCEL_GIT_COMMIT_REF",
        "VERCEL_GIT_COMMIT_SHA", "VERCEL_GIT_PREVIOUS_SHA", "VERCEL_GIT_PROVIDER",
        "VERCEL_GIT_PULL_REQUEST_ID", "VERCEL_GIT_REPO_ID", "VERCEL_GIT_REPO_OWNER",
        "VERCEL_GIT_REPO_SLUG", "VERCEL_OIDC_TOKEN", "VERCEL_PROJECT_ID",
        "VERCEL_PROJECT_PRODUCTION_URL", "VERCEL_REGION", "VERCEL_SKEW_PROTECTION_ENABLED",
        "VERCEL_TARGET_ENV", "VERCEL_URL",
    ]

    /// What Vercel's CLI adds to the files it writes.
    private static let addedByCLI: Set<String> = [
        "NX_DAEMON", "TURBO_CACHE", "TURBO_DOWNLOAD_LOCAL_ENABLED", "TURBO_REMOTE_ONLY",
        "TURBO_RUN_SUMMARY", "VERCEL_HASH_SALT",
    ]

    /// Returns whether Vercel sets the variable in builds or functions.
    static func isSetByVercel(_ name: String) -> Bool { set.contains(name) }

    /// Returns whether a variable in a file of Vercel's CLI is one of Vercel's own. `NODE_ENV` is
    /// not: the CLI writes only a project's own.
    static func isAddedByCLI(_ name: String) -> Bool {
        (set.contains(name) && name != "NODE_ENV") || addedByCLI.contains(name)
    }
}
