import TestSupport
import Testing

@testable import ZGEnvCommands

/// Runs every command without a vault, with a locked one and with a damaged one. Its exit code must
/// be one that its page lists; every test run of `zg-env` is checked against those lists.
@Suite("Exit codes on command pages")
struct ExitCodePageTests {
    /// Arguments for the commands that need some.
    private static let arguments: [String: [String]] = [
        "account use": ["main"], "backup": ["copy.zgv"], "completion": ["bash"],
        "config get": ["cache-for"], "config set": ["cache-for", "reveal"],
        "convert": ["file.env", "--to", "json"], "copy": ["KEY", "--from", "web", "--to", "api"],
        "deployment cancel": ["dpl_1"], "deployment delete": ["dpl_1"],
        "deployment list": ["-p", "web"], "deployment logs": ["dpl_1"],
        "deployment promote": ["dpl_1"], "deployment rollback": ["-p", "web"],
        "deployment show": ["dpl_1"], "diff": ["file.env", "-p", "web"], "edit": ["-p", "web"],
        "export": ["-p", "web"], "harden": ["-p", "web"], "history": ["KEY", "-p", "web"],
        "history prune": ["-p", "web"], "import": ["file.env", "-p", "web"], "link": ["web"],
        "list": ["-p", "web"], "logout": ["main"], "notify install": ["--dry-run"],
        "notify set": ["-p", "web"], "open": ["-p", "web"], "postal join": ["http://127.0.0.1:9"],
        "passwd": ["--new-passphrase-file", "file.env"], "project create": ["fresh"],
        "project remove": ["web"],
        "project rename": ["web", "api"], "pull": ["-p", "web"], "push": ["-p", "web"],
        "redeploy": ["-p", "web"], "rename": ["KEY", "NEW", "-p", "web"],
        "restore": ["copy.zgv"], "restore-version": ["KEY", "1", "-p", "web"],
        "reveal": ["KEY", "-p", "web"], "rm": ["KEY", "-p", "web"],
        "rotate": ["KEY", "-p", "web", "--generate", "hex:16"], "run": ["-p", "web", "--", "true"],
        "scan": ["-p", "web", "."], "set": ["KEY", "-p", "web"], "show": ["KEY", "-p", "web"],
        "slot add": ["file", "key"], "slot remove": ["1"],
        "webhook create": ["https://hook.example"], "webhook delete": ["hook_1"],
    ]

    private enum State: CaseIterable {
        case noVault
        case locked
        case damaged
    }

    /// Runs all commands in one state and returns the exit codes by command.
    private func codes(_ state: State) throws -> [String: Int32] {
        let home = try CommandHome()
        if state != .noVault {
            try home.initialise()
            try home.store(["KEY": "value"])
        }
        try home.directory.write("KEY=value\n", to: "work/file.env")
        try home.directory.write("another passphrase\n", to: "wrong")
        if state == .damaged {
            var bytes = try home.vaultBytes()
            bytes[bytes.count / 2] ^= 1
            try home.directory.write(bytes, to: "data/zg-env/vault.zgv")
        }
        let opening =
            state == .locked ? ["--passphrase-file", home.directory.path("wrong")] : []
        var codes: [String: Int32] = [:]
        // `init` would create one.
        for path in CommandTable.paths where path != ["init"] {
            let name = path.joined(separator: " ")
            var rest = Self.arguments[name] ?? []
            let place = rest.firstIndex(of: "--") ?? rest.count
            rest.insert(contentsOf: opening + ["--yes"], at: place)
            let result = try home.run(
                path + rest, input: .text("value"), unlocked: state != .locked)
            codes[name] = result.status
        }
        return codes
    }

    @Test func `command pages list the codes that the commands return`() throws {
        #expect(DocumentedExitCodes.commandCount == CommandTable.paths.count)
        #expect(
            Set(Self.arguments.keys).isSubset(
                of: CommandTable.paths.map { $0.joined(separator: " ") }))
        let (none, locked, damaged) = (
            try codes(.noVault), try codes(.locked), try codes(.damaged)
        )
        // Most commands get that far: otherwise the test proves nothing.
        #expect(none.values.count { $0 == 4 } > 30, "\(none)")
        #expect(locked.values.count { $0 == 3 } > 30, "\(locked)")
        #expect(damaged.values.count { $0 == 8 } > 30, "\(damaged)")
    }
}
