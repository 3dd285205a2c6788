import Foundation
import TestSupport
import Testing

/// A home with a vault whose project `web` has a value, and its audit log.
struct AuditHome {
    static let value = "a value nobody may see"
    let home: CommandHome

    init(_ keyring: PrivateKeyring? = nil) throws {
        home = try CommandHome.initialised(keyring)
        try home.store(["KEY": Self.value])
    }

    /// The log's path, which contains the vault's id; the file may be missing.
    var path: String {
        get throws {
            let id = try home.vaultBytes()[24..<40].map { String(format: "%02x", $0) }.joined()
            return home.directory.path("state/zg-env/\(id).log")
        }
    }

    func bytes() throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    func replace(_ bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    /// Returns the entries of `log --json` but those of `set`, which stored the values.
    func entries(_ options: String...) throws -> [JSONDocument] {
        let log = try json(home.run(["log", "--json"] + options))
        return (log["entries"]?.elements ?? []).filter { $0["command"] != "set" }
    }

    /// Commands that reveal the value.
    static let givers: [[String]] = [
        ["reveal", "KEY", "-p", "web"], ["reveal", "KEY", "-p", "web", "--json"],
        ["export", "-p", "web"], ["export", "-p", "web", "--json"],
        ["export", "-p", "web", "-o", "out.env"],
        ["run", "-p", "web", "--", "printenv", "KEY"],
    ]

    /// Expects that a run revealed nothing because it could not log, and printed a hint.
    func expectNothingGiven(
        _ result: ProgramResult, _ arguments: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let status: Int32 = arguments.first == "run" ? 125 : 1
        #expect(
            result.end == .exited(status), "\(arguments): \(result.error)",
            sourceLocation: sourceLocation)
        #expect(result.output == "", "\(arguments)", sourceLocation: sourceLocation)
        #expect(!result.error.contains(Self.value), "\(arguments)", sourceLocation: sourceLocation)
        #expect(
            result.error.contains("--audit-log"), "\(arguments): \(result.error)",
            sourceLocation: sourceLocation)
        #expect(
            !FileManager.default.fileExists(atPath: home.directory.path("work/out.env")),
            "\(arguments)", sourceLocation: sourceLocation)
    }
}
