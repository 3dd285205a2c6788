internal import Sealing

/// The platform's limits for variables, checked before anything is sent.
///
/// Only what the platform is known to refuse is a problem; what nobody is sure of is left to it: a
/// name that begins with an underscore or with `VERCEL_`, or the number of variables.
package enum EnvironmentVariableRules {
    /// The size of all names and values of one deployment together, in bytes.
    package static let maximumTotalByteCount = 64 << 10
    /// The length of a note, in characters.
    package static let maximumCommentLength = 500
    /// The length of a branch's name, in bytes.
    package static let maximumBranchLength = 250
    /// The length of a name, in bytes.
    package static let maximumKeyLength = 256

    /// Names that the platform keeps for itself.
    package static let reservedKeys: Set<String> = [
        "AWS_SECRET_KEY", "AWS_EXECUTION_ENV", "AWS_LAMBDA_LOG_GROUP_NAME",
        "AWS_LAMBDA_LOG_STREAM_NAME", "AWS_LAMBDA_FUNCTION_NAME",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "AWS_LAMBDA_FUNCTION_VERSION", "NOW_REGION", "TZ",
        "LAMBDA_TASK_ROOT", "LAMBDA_RUNTIME_DIR",
    ]

    /// A limit that would be broken.
    package enum Problem: Hashable, Sendable, CustomStringConvertible {
        /// Not a letter or underscore and then letters, digits and underscores.
        case keyInvalid
        /// Longer than ``EnvironmentVariableRules/maximumKeyLength``.
        case keyTooLong
        /// One of ``EnvironmentVariableRules/reservedKeys``.
        case keyReserved
        /// Neither a target nor a custom environment.
        case noScope
        /// Sensitive variables cannot be for development.
        case sensitiveOnDevelopment
        /// A branch with other targets than preview, or with custom environments.
        case branchWithoutPreview
        /// A preview variable for the branch that production is built from.
        case branchIsProduction
        /// Longer than ``EnvironmentVariableRules/maximumBranchLength``, or empty.
        case branchInvalid
        /// Longer than ``EnvironmentVariableRules/maximumCommentLength``.
        case commentTooLong
        /// The value alone is over the limit for all.
        case valueTooLarge(byteCount: Int)
        /// All variables of `scope` together are over the limit.
        case totalTooLarge(scope: String, byteCount: Int)

        /// One sentence without a value.
        package var description: String {
            switch self {
            case .keyInvalid:
                "a name is a letter or underscore, then letters, digits and underscores"
            case .keyTooLong: "a name has at most \(maximumKeyLength) characters"
            case .keyReserved: "the platform keeps this name for itself"
            case .noScope: "a variable needs a target or a custom environment"
            case .sensitiveOnDevelopment: "a sensitive variable cannot be for development"
            case .branchWithoutPreview: "a branch goes with the target preview alone"
            case .branchIsProduction:
                "the production branch cannot have preview variables of its own"
            case .branchInvalid: "a branch has 1 to \(maximumBranchLength) characters"
            case .commentTooLong: "a comment has at most \(maximumCommentLength) characters"
            case .valueTooLarge(let count):
                "the value has \(count) bytes, the platform takes \(maximumTotalByteCount)"
            case .totalTooLarge(let scope, let count):
                "the variables for \(scope) have \(count) bytes together, "
                    + "the platform takes \(maximumTotalByteCount)"
            }
        }
    }

    /// The problems of one variable by itself, in the order of ``Problem``.
    ///
    /// - Parameter productionBranch: The branch that production is built from, if known.
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
        if variable.type == .sensitive, variable.targets.contains(.development) {
            problems.append(.sensitiveOnDevelopment)
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
        guard let first = key.utf8.first, !isDigit(first) else { return false }
        return key.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "_"):
                true
            default: isDigit(byte)
            }
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
