internal import JSON

/// The settings of a running sandbox other than faults and builds.
struct Settings: Sendable, Equatable {
    var rateLimit: RateLimit?
    var latencySeconds: Double
    /// Offset of the sandbox's time from its clock before stepping, in milliseconds.
    var clockOffset: Int64
    /// Offset of the `Date` header from the sandbox's time, in milliseconds.
    var dateOffset: Int64

    init(_ configuration: SandboxConfiguration) {
        rateLimit = configuration.rateLimit
        latencySeconds = configuration.latencySeconds
        clockOffset = Self.milliseconds(configuration.clockOffsetSeconds)
        dateOffset = Self.milliseconds(configuration.dateOffsetSeconds)
    }

    /// Returns whole milliseconds, at most a century.
    static func milliseconds(_ seconds: Double) -> Int64 {
        Int64(min(max(seconds, -maximumOffset), maximumOffset) * 1000)
    }

    /// The largest clock offset, in seconds.
    static let maximumOffset: Double = 100 * 365 * 86400
}

extension Store.Contents {
    /// All settings, in the form of the control API.
    var settingsJSON: JSONValue {
        [
            "latencySeconds": .number(settings.latencySeconds),
            "clockOffsetSeconds": .number(Double(settings.clockOffset) / 1000),
            "dateOffsetSeconds": .number(Double(settings.dateOffset) / 1000),
            "rateLimit": settings.rateLimit?.json ?? .null,
            "maximumVariables": .integer(Int64(state.maximumRecords)),
            "secretsInDevelopment": .bool(state.allowsSecretDevelopment),
            "projects": .members(
                Dictionary(
                    state.projects.map { project in
                        (
                            project.id,
                            [
                                "name": .string(project.name),
                                "autoAssignCustomDomains": .bool(project.assignsDomains),
                                "sensitiveEnvironmentVariablePolicy": .string(
                                    state.sensitivePolicy(of: project).rawValue),
                            ]
                        )
                    }, uniquingKeysWith: { $1 })),
        ]
    }

    /// Changes the settings in `fields`, or none on an error.
    ///
    /// Members, all optional: `latencySeconds`, `clockOffsetSeconds`, `dateOffsetSeconds`,
    /// `rateLimit` (`requests` and `seconds`, `vercel`, or null), `maximumVariables`,
    /// `secretsInDevelopment`, and `projects` and `teams`: by name or id `autoAssignCustomDomains`
    /// (projects), `disjunctiveProductionSecretPolicy` and `sensitiveEnvironmentVariablePolicy`.
    mutating func set(_ fields: Fields, clock: Int64) throws(APIError) {
        try fields.allow(only: [
            "latencySeconds", "clockOffsetSeconds", "dateOffsetSeconds", "rateLimit",
            "maximumVariables", "secretsInDevelopment", "projects", "teams",
        ])
        var (settings, state) = (settings, state)
        if let seconds = try fields.seconds("latencySeconds", in: 0...86400) {
            settings.latencySeconds = seconds
        }
        let offsets = -Settings.maximumOffset...Settings.maximumOffset
        if let seconds = try fields.seconds("dateOffsetSeconds", in: offsets) {
            settings.dateOffset = Settings.milliseconds(seconds)
        }
        if let seconds = try fields.seconds("clockOffsetSeconds", in: offsets) {
            settings.clockOffset = Settings.milliseconds(seconds)
            // The offset is absolute: earlier steps are dropped, and a clock that is set back stays
            // so although changes have later times.
            state.clockOffset = 0
            state.lastStamp = min(state.lastStamp, clock + settings.clockOffset)
        }
        if fields.members["rateLimit"]?.string == RateLimit.vercelWord {
            settings.rateLimit = .perEndpoint
        } else if fields.has("rateLimit") {
            settings.rateLimit = try fields.object("rateLimit").map { (limit) throws(APIError) in
                try limit.allow(only: ["requests", "seconds"])
                guard let requests = try limit.integer("requests"), requests > 0,
                    requests <= Int64(Int32.max)
                else { throw .badRequest("`requests` should be a number above 0.") }
                let seconds = try limit.seconds("seconds", in: 0.001...86400) ?? 60
                return .perToken(requests: Int(requests), seconds: seconds)
            }
        }
        if let maximum = try fields.integer("maximumVariables") {
            guard (0...100_000).contains(maximum) else {
                throw .badRequest("`maximumVariables` should be a number from 0 to 100000.")
            }
            state.maximumRecords = Int(maximum)
        }
        if let isAllowed = try fields.bool("secretsInDevelopment") {
            state.allowsSecretDevelopment = isAllowed
        }
        for (name, value) in try fields.object("projects")?.members ?? [:] {
            try Self.set(Fields(value), ofProject: name, in: &state)
        }
        for (name, value) in try fields.object("teams")?.members ?? [:] {
            let members = try Fields(value)
            try members.allow(only: [
                "sensitiveEnvironmentVariablePolicy", "disjunctiveProductionSecretPolicy",
            ])
            let policy = try members.policy("sensitiveEnvironmentVariablePolicy")
            let disjunctive = try members.disjunctivePolicy()
            guard let index = state.teams.firstIndex(where: { $0.slug == name || $0.id == name })
            else { throw .notFound("Team \(name)") }
            state.teams[index].sensitivePolicy = policy ?? .default
            state.teams[index].disjunctivePolicy = disjunctive ?? .default
        }
        (self.settings, self.state) = (settings, state)
        isUnsaved = true
    }

    private static func set(
        _ fields: Fields, ofProject name: String, in state: inout SandboxState
    ) throws(APIError) {
        try fields.allow(only: [
            "autoAssignCustomDomains", "disjunctiveProductionSecretPolicy",
            "sensitiveEnvironmentVariablePolicy",
        ])
        guard let index = state.projects.firstIndex(where: { $0.id == name || $0.name == name })
        else { throw .notFound("Project \(name)") }
        if let assigns = try fields.bool("autoAssignCustomDomains") {
            state.projects[index].assignsDomains = assigns
        }
        if fields.has("disjunctiveProductionSecretPolicy") {
            state.projects[index].disjunctivePolicy = try fields.disjunctivePolicy()
        }
        if fields.has("sensitiveEnvironmentVariablePolicy") {
            state.projects[index].sensitivePolicy = try fields.policy(
                "sensitiveEnvironmentVariablePolicy")
        }
    }
}

extension RateLimit {
    /// The word for ``perEndpoint`` in settings and options.
    package static let vercelWord = "vercel"

    fileprivate var json: JSONValue {
        switch self {
        case .perToken(let requests, let seconds):
            ["requests": .integer(Int64(requests)), "seconds": .number(seconds)]
        case .perEndpoint: .string(Self.vercelWord)
        }
    }
}

extension Fields {
    /// Returns a number of seconds; `nil` if absent or null.
    fileprivate func seconds(_ name: String, in range: ClosedRange<Double>) throws(APIError)
        -> Double?
    {
        guard let value = members[name], value != .null else { return nil }
        guard let seconds = value.number, range.contains(seconds) else {
            throw .badRequest("`\(name)` should be a number of seconds.")
        }
        return seconds
    }
}
