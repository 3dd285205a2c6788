import TestSupport
import Testing

/// A sandbox with the project `web`, whose directory is linked and has a schema.
struct SchemaHome {
    let platform: SandboxHome

    init(_ schema: String, name: String = ".env.schema") throws {
        platform = try SandboxHome()
        done(try platform.run("link", "web"))
        try write(schema, to: name)
    }

    func write(_ schema: String, to name: String = ".env.schema") throws {
        try platform.home.directory.write(schema, to: "work/\(name)")
    }

    func path(_ name: String) -> String { platform.home.directory.path("work/\(name)") }

    func set(_ key: String, _ value: String, _ options: String...) throws {
        done(try platform.runner(["set", key, "--raw"] + options, input: .text(value)).run())
    }

    func check(_ arguments: String..., unlocked: Bool = true) throws -> ProgramResult {
        try platform.runner(["check", "--json"] + arguments, unlocked: unlocked).run()
    }

    /// The states of a check as `KEY target on state`, sorted.
    func states(_ arguments: String..., unlocked: Bool = true) throws -> [String] {
        let result = try platform.runner(
            ["check", "--json"] + arguments, unlocked: unlocked
        ).run()
        return try Self.states(result)
    }

    static func states(_ result: ProgramResult) throws -> [String] {
        let report = try JSONDocument(result.standardOutput)
        return (report["results"]?.elements ?? []).map { item in
            ["key", "target", "on", "state"].map { item[$0]?.text ?? "?" }.joined(separator: " ")
        }.sorted()
    }
}

/// Expects an exit status, with whatever output.
@discardableResult
func ended(
    _ result: ProgramResult, _ status: Int32, sourceLocation: SourceLocation = #_sourceLocation
) -> ProgramResult {
    #expect(
        result.end == .exited(status), "\(result.error)\(result.output)",
        sourceLocation: sourceLocation)
    return result
}
