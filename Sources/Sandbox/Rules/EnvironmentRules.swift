internal import JSON

/// The API's rules for a variable.
enum EnvironmentRules {
    /// Most bytes of all variables of one deployment.
    static let maximumBytes = 64 * 1024
    /// The longest key, in bytes.
    static let maximumKeyBytes = 256

    static let reservedKeys: Set<String> = [
        "AWS_SECRET_KEY", "AWS_EXECUTION_ENV", "AWS_LAMBDA_LOG_GROUP_NAME",
        "AWS_LAMBDA_LOG_STREAM_NAME", "AWS_LAMBDA_FUNCTION_NAME",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "AWS_LAMBDA_FUNCTION_VERSION", "NOW_REGION", "TZ",
        "LAMBDA_TASK_ROOT", "LAMBDA_RUNTIME_DIR",
    ]

    /// Checks a key.
    static func check(key: String) throws(APIError) {
        guard (1...maximumKeyBytes).contains(key.utf8.count) else {
            throw complaint(
                "KEY_INVALID_LENGTH", "The name must have 1 to \(maximumKeyBytes) characters.")
        }
        let isLetter = { (byte: UInt8) in
            (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
        }
        guard key.utf8.first.map(isLetter) ?? false,
            key.utf8.allSatisfy({
                isLetter($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "_")
            })
        else {
            throw complaint(
                "KEY_INVALID_CHARACTERS",
                "The name contains invalid characters. Only letters, digits, and underscores are "
                    + "allowed. Furthermore, the name should not start with a digit.")
        }
        guard !reservedKeys.contains(key) else {
            throw complaint("RESERVED_ENV_VARIABLE", "The name of the variable is reserved.")
        }
    }

    /// Checks the length of a value.
    static func check(value: String) throws(APIError) {
        guard value.utf8.count <= maximumBytes else {
            throw complaint("VALUE_INVALID_LENGTH", "The value is larger than 64 KB.")
        }
    }

    /// The prefixes of names whose values frameworks give to browsers. The API accepts none of them for
    /// a Secret, in any case of letters.
    static let publicPrefixes = [
        "NEXT_PUBLIC_", "VUE_APP_", "REACT_APP_", "GATSBY_", "GRIDSOME_", "NUXT_PUBLIC_",
        "STORYBOOK_", "VITE_", "PUBLIC_", "EXPO_PUBLIC_", "NG_APP_", "REDWOOD_ENV_",
    ]

    /// Checks the name of a Secret.
    static func check(secretNamed key: String) throws(APIError) {
        let name = key.uppercased()
        guard let prefix = publicPrefixes.first(where: name.hasPrefix) else { return }
        throw .badRequest("A variable that starts with \(prefix) is public and cannot be a Secret.")
    }

    /// Checks the team's rules for production Secrets: a value of their own, and no other environment
    /// in the same record. A record with the same scope is the one that an upsert replaces.
    static func check(
        _ policy: Team.DisjunctivePolicy, _ variable: EnvironmentVariable, in state: SandboxState
    ) throws(APIError) {
        guard policy == .on, variable.isSecret, variable.isInProduction else { return }
        guard variable.targets == [.production], variable.customEnvironmentIds.isEmpty else {
            throw .badRequest(
                "Production Secrets need their own environment group, separate from the others.")
        }
        let isShared = state.variables.contains {
            $0.projectId == variable.projectId && $0.key == variable.key && $0.id != variable.id
                && !$0.hasSameScope(as: variable) && $0.value == variable.value
        }
        guard !isShared else {
            throw .badRequest(
                "A production Secret must have a different value than preview or development.")
        }
    }

    /// Checks that fixed environments and type fit together.
    static func check(
        type: VariableType, targets: [Target], in state: SandboxState
    ) throws(APIError) {
        if type == .sensitive, targets.contains(.development), !state.allowsSecretDevelopment {
            throw .badRequest(
                "You cannot set a Sensitive Environment Variable's target to development.")
        }
    }

    /// Returns the member `failed` of a batch's response; throws the first failure if the whole batch
    /// failed.
    static func failed(_ failures: [APIError], isWhole: Bool) throws(APIError) -> JSONValue {
        let failed = JSONValue.array(failures.map { ["error": $0.json] })
        if isWhole, var failure = failures.first {
            failure.besides = ["failed": failed]
            throw failure
        }
        return failed
    }

    /// Checks that environments, branch and type fit together.
    static func check(_ variable: EnvironmentVariable, of project: Project, in state: SandboxState)
        throws(APIError)
    {
        try check(key: variable.key)
        try check(value: variable.value)
        guard !variable.targets.isEmpty || !variable.customEnvironmentIds.isEmpty else {
            throw complaint("MISSING_TARGET", "At least one environment is required.")
        }
        try check(type: variable.type, targets: variable.targets, in: state)
        if variable.isSecret { try check(secretNamed: variable.key) }
        let known = state.customEnvironments.filter { $0.projectId == project.id }.map(\.id)
        guard variable.customEnvironmentIds.allSatisfy(known.contains) else {
            throw complaint("ID_NOT_FOUND", "The custom environment was not found.")
        }
        guard let branch = variable.gitBranch else { return }
        guard variable.targets == [.preview], variable.customEnvironmentIds.isEmpty else {
            throw .badRequest("`gitBranch` can only be used with the preview target.")
        }
        guard !branch.isEmpty else { throw .badRequest("`gitBranch` should not be empty.") }
        if branch == project.repository?.productionBranch {
            throw .badRequest(
                "Cannot set Production Branch \"\(branch)\" for a Preview Environment Variable.")
        }
    }

    /// Returns a valid new or changed record, or throws.
    static func accepted(
        _ wanted: EnvironmentVariable, insteadOf old: EnvironmentVariable? = nil,
        of project: Project, in state: SandboxState
    ) throws(APIError) -> EnvironmentVariable {
        var record = wanted
        if let old, old.isSecret {
            guard record.isSecret, [.sensitive, old.type].contains(record.type) else {
                throw fixedType
            }
            guard record.key == old.key else {
                throw .badRequest("A Sensitive Environment Variable cannot be renamed.")
            }
        }
        try check(record, of: project, in: state)
        try apply(policy: state.sensitivePolicy(of: project), to: &record)
        try check(state.disjunctivePolicy(of: project), record, in: state)
        try checkCoexistence(of: record, in: state)
        return record
    }

    static var fixedType: APIError {
        .badRequest("The type of a Sensitive Environment Variable cannot be changed.")
    }

    /// Checks that a record can coexist with the others of its project.
    static func checkCoexistence(of variable: EnvironmentVariable, in state: SandboxState)
        throws(APIError)
    {
        let others = state.variables.filter {
            $0.projectId == variable.projectId && $0.id != variable.id
        }
        if let other = others.first(where: variable.conflicts) {
            throw conflict(variable, other)
        }
        try checkCount(of: variable, besides: others, in: state)
        // The limit is per deployment, so each environment is counted separately, with what a
        // deployment of its branch would use.
        let bytes = { (other: EnvironmentVariable) in other.key.utf8.count + other.value.utf8.count
        }
        let seen = others.filter {
            $0.gitBranch == nil || $0.gitBranch == variable.gitBranch
        }
        let totals =
            variable.targets.map { target in
                seen.filter { $0.targets.contains(target) }.reduce(0) { $0 + bytes($1) }
            }
            + variable.customEnvironmentIds.map { id in
                seen.filter { $0.customEnvironmentIds.contains(id) }.reduce(0) { $0 + bytes($1) }
            }
        guard (totals.max() ?? 0) + bytes(variable) <= maximumBytes else {
            throw .badRequest(
                "The total size of the Environment Variables of one deployment is over 64 KB.")
        }
    }

    /// Checks the number of variables of each environment that the record is new in.
    private static func checkCount(
        of variable: EnvironmentVariable, besides others: [EnvironmentVariable],
        in state: SandboxState
    ) throws(APIError) {
        let old = state.variables.first { $0.id == variable.id }
        let counts =
            variable.targets.filter { !(old?.targets.contains($0) ?? false) }.map { target in
                (target.rawValue, others.count { $0.targets.contains(target) })
            }
            + variable.customEnvironmentIds.filter {
                !(old?.customEnvironmentIds.contains($0) ?? false)
            }.map { id in (id, others.count { $0.customEnvironmentIds.contains(id) }) }
        let maximum = state.maximumRecords
        guard let full = counts.first(where: { $0.1 >= maximum }) else { return }
        throw complaint(
            "MAX_ENVS_EXCEEDED",
            "The environment \(full.0) has \(full.1) variables; the maximum is \(maximum).")
    }

    private static func conflict(_ variable: EnvironmentVariable, _ other: EnvironmentVariable)
        -> APIError
    {
        let shared = variable.targets.filter(other.targets.contains).map(\.rawValue)
        let places = (shared.isEmpty ? variable.customEnvironmentIds : shared)
        var details: [String: JSONValue] = [
            "key": .string(variable.key), "envVarKey": .string(variable.key),
            "target": .strings(variable.targets.map(\.rawValue)),
        ]
        details["gitBranch"] = variable.gitBranch.map(JSONValue.string)
        return APIError(
            status: 400, code: "ENV_CONFLICT",
            message: "Another Environment Variable with the same Name and Environment exists in "
                + "your project (\(places.joined(separator: ", "))).", details: details)
    }

    static func complaint(_ code: String, _ message: String) -> APIError {
        APIError(status: 400, code: code, message: message)
    }

    /// Applies a team's policy to a record.
    static func apply(policy: Team.SensitivePolicy, to variable: inout EnvironmentVariable)
        throws(APIError)
    {
        guard policy == .on, !variable.isSecret, variable.type != .system else { return }
        let others = variable.targets.filter { $0 != .development }
        if variable.targets.contains(.development) {
            guard others.isEmpty, variable.customEnvironmentIds.isEmpty else {
                throw complaint(
                    "BAD_REQUEST",
                    "The team requires sensitive variables: development cannot be mixed with other "
                        + "environments.")
            }
        } else if variable.type == .encrypted {
            variable.type = .sensitive
        } else {
            throw complaint(
                "BAD_REQUEST", "The team requires sensitive variables outside development.")
        }
    }
}
