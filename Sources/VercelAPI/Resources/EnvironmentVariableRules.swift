internal import HTTPClient
internal import Sealing

/// Vercel's limits for variables, checked before anything is sent.
///
/// Only what Vercel is known to reject counts as a problem. Uncertain cases are left to Vercel:
/// names that start with an underscore or `VERCEL_`.
package enum EnvironmentVariableRules {
    /// The largest total size of all names and values of one deployment, in bytes.
    package static let maximumTotalByteCount = 64 << 10
    /// The most variables of one environment of a project.
    package static let maximumCount = 1_000
    /// The longest comment, in characters.
    package static let maximumCommentLength = 500
    /// The longest branch name, in bytes.
    package static let maximumBranchLength = 250
    /// The longest name, in bytes.
    package static let maximumKeyLength = 256

    /// The names that Vercel reserves.
    package static let reservedKeys: Set<String> = [
        "AWS_SECRET_KEY", "AWS_EXECUTION_ENV", "AWS_LAMBDA_LOG_GROUP_NAME",
        "AWS_LAMBDA_LOG_STREAM_NAME", "AWS_LAMBDA_FUNCTION_NAME",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "AWS_LAMBDA_FUNCTION_VERSION", "NOW_REGION", "TZ",
        "LAMBDA_TASK_ROOT", "LAMBDA_RUNTIME_DIR",
    ]

    /// A violated limit.
    package enum Problem: Hashable, Sendable, CustomStringConvertible {
        /// Not a letter or underscore followed by letters, digits and underscores.
        case keyInvalid
        /// Longer than ``EnvironmentVariableRules/maximumKeyLength``.
        case keyTooLong
        /// One of ``EnvironmentVariableRules/reservedKeys``.
        case keyReserved
        /// Neither a target nor a custom environment.
        case noScope
        /// A sensitive variable whose name starts with that public prefix.
        case secretIsPublic(prefix: String)
        /// A branch with targets other than preview, or with custom environments.
        case branchWithoutPreview
        /// A preview variable for the production branch.
        case branchIsProduction
        /// Longer than ``EnvironmentVariableRules/maximumBranchLength``, or empty.
        case branchInvalid
        /// Longer than ``EnvironmentVariableRules/maximumCommentLength``.
        case commentTooLong
        /// A value that exceeds the total limit by itself.
        case valueTooLarge(byteCount: Int)
        /// All variables of `scope` together exceed the limit.
        case totalTooLarge(scope: String, byteCount: Int)
        /// More variables in an environment than ``EnvironmentVariableRules/maximumCount``.
        case tooMany(environment: String, count: Int)

        /// One sentence, without a value.
        package var description: String {
            switch self {
            case .keyInvalid:
                "a name can contain only letters, digits and underscores, and cannot start with a digit"
            case .keyTooLong: "a name can have at most \(maximumKeyLength) characters"
            case .keyReserved: "Vercel reserves this name"
            case .noScope: "a variable needs a target or a custom environment"
            case .secretIsPublic(let prefix):
                "a name that starts with \(prefix) is public, so it cannot be sensitive"
            case .branchWithoutPreview: "a git branch requires preview as the only target"
            case .branchIsProduction:
                "the production branch cannot have its own preview variables"
            case .branchInvalid: "a branch name must have 1 to \(maximumBranchLength) characters"
            case .commentTooLong: "a comment can have at most \(maximumCommentLength) characters"
            case .valueTooLarge(let count):
                "the value is \(count) bytes long; Vercel's limit is \(maximumTotalByteCount)"
            case .totalTooLarge(let scope, let count):
                "the variables for \(scope) total \(count) bytes; "
                    + "Vercel's limit is \(maximumTotalByteCount)"
            case .tooMany(let environment, let count):
                "\(environment) would have \(count) variables; Vercel's limit is \(maximumCount)"
            }
        }
    }

    /// Returns the problems of one variable by itself, in the order of ``Problem``.
    ///
    /// - Parameter productionBranch: The production branch, if known.
    package static func problems(
        of variable: NewEnvironmentVariable, productionBranch: String? = nil
    ) -> [Problem] {
        var problems: [Problem] = []
        if !isKey(variable.key) { problems.append(.keyInvalid) }
        if variable.key.utf8.count > maximumKeyLength { problems.append(.keyTooLong) }
        if reservedKeys.contains(variable.key) { problems.append(.keyReserved) }
        if variable.targets.isEmpty, variable.customEnvironmentIds.isEmpty {
            problems.append(.noScope)
        }
        if variable.type == .sensitive, let prefix = PublicPrefix(of: variable.key),
            prefix.isRefusedForSecrets
        {
            problems.append(.secretIsPublic(prefix: prefix.text))
        }
        if let branch = variable.gitBranch {
            if variable.targets != [.preview] || !variable.customEnvironmentIds.isEmpty {
                problems.append(.branchWithoutPreview)
            }
            if branch == productionBranch { problems.append(.branchIsProduction) }
            if !(1...maximumBranchLength).contains(branch.utf8.count) {
                problems.append(.branchInvalid)
            }
        }
        if let comment = variable.comment, comment.count > maximumCommentLength {
            problems.append(.commentTooLong)
        }
        if variable.value.count > maximumTotalByteCount {
            problems.append(.valueTooLarge(byteCount: variable.value.count))
        }
        return problems
    }

    private static func isKey(_ key: String) -> Bool {
        guard let first = key.utf8.first, !first.isASCIIDigit else { return false }
        return key.utf8.allSatisfy {
            $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "_")
        }
    }
}
