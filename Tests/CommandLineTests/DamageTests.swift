import Foundation
import TestSupport
import Testing

/// Damaged, missing and unsafe vaults: each with its exit code and a hint.
@Suite("Damage and refusals")
struct DamageTests {
    private let home: CommandHome
    private static let path = "data/zg-env/vault.zgv"

    /// One use of each command that reads the vault; all succeed with an intact one.
    private static let uses: [[String]] = [
        ["list", "-p", "web"], ["show", "KEY", "-p", "web"], ["reveal", "KEY", "-p", "web"],
        ["set", "KEY", "-p", "web"], ["rm", "KEY", "-p", "web", "--yes"],
        ["import", "-", "-p", "web"], ["export", "-p", "web", "-t", "preview"], ["status"],
    ]

    init() throws {
        home = try CommandHome.initialised()
        try home.store(["KEY": "the value of the key", "OTHER": "another value"])
    }

    /// Expects that every command fails with `status` and leaves the file unchanged.
    private func expectAll(
        _ status: Int32, _ code: String, _ words: String...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let before = try home.vaultBytes()
        for arguments in Self.uses {
            let input = ProgramRunner.Input.text("KEY=x")
            let text = try failedAsJSON(
                home.run(arguments + ["--json"], input: input), status, code,
                sourceLocation: sourceLocation)
            for word in words {
                #expect(text.contains(word), "\(text)", sourceLocation: sourceLocation)
            }
            failed(
                try home.run(arguments, input: input), status, sourceLocation: sourceLocation)
        }
        let run = ["run", "-p", "web", "-t", "preview", "--json", "--", "true"]
        try failedAsJSON(home.run(run), 125, code, sourceLocation: sourceLocation)
        #expect(try home.vaultBytes() == before, sourceLocation: sourceLocation)
    }

    @Test func `a truncated vault is reported as damaged`() throws {
        let whole = try home.vaultBytes()
        for count in [0, 1, 15, 16, 200, whole.count / 2, whole.count - 1] {
            try home.directory.write(Array(whole[..<count]), to: Self.path)
            try failedAsJSON(home.run(["list", "-p", "web", "--json"]), 8, "damaged")
            failed(try home.run(["reveal", "KEY", "-p", "web"]), 8)
        }
        try home.directory.write(Array(whole[..<(whole.count - 1)]), to: Self.path)
        try expectAll(8, "damaged", "backup")
    }

    @Test func `a longer vault, foreign bytes and a vault of zeros are reported as damaged`() throws
    {
        let whole = try home.vaultBytes()
        for bytes in [
            whole + [0], Array("no vault at all".utf8), [UInt8](repeating: 0, count: 4_096),
            [UInt8](repeating: 0xFF, count: 4_096),
        ] {
            try home.directory.write(bytes, to: Self.path)
            failed(try home.run(["list", "-p", "web"]), 8)
            failed(try home.run(["set", "KEY", "-p", "web"], input: .text("x")), 8)
            #expect(try home.vaultBytes() == bytes)
        }
    }

    @Test func `a flipped byte never yields a wrong value`() throws {
        let whole = try home.vaultBytes()
        // Every byte of the header; samples of the index and values.
        let header = Array(0..<min(760, whole.count)).filter { $0 % 7 == 0 || $0 < 80 }
        let rest = stride(from: 760, to: whole.count, by: 97)
        for position in header + Array(rest) + [whole.count - 1] {
            var bytes = whole
            bytes[position] ^= 1 << UInt8(position % 8)
            try home.directory.write(bytes, to: Self.path)
            let result = try home.run(["reveal", "KEY", "OTHER", "-p", "web", "--json"])
            if result.status == 0 {
                let values = try JSONDocument(result.standardOutput)["variables"]?.elements
                let texts = values?.map { $0["value"]?.text }
                #expect(texts == ["the value of the key", "another value"], "byte \(position)")
            } else {
                try failedAsJSON(result, 8, "damaged")
            }
            #expect(try home.vaultBytes() == bytes)
        }
    }

    @Test func `a newer format is not reported as damage`() throws {
        try home.rewriteHeader { $0[8] = 4 }
        try expectAll(1, "failed", "newer")
    }

    @Test func `a header changed together with its checksum yields no wrong value`() throws {
        let whole = try home.vaultBytes()
        for position in stride(from: 10, to: 310, by: 9) {
            try home.directory.write(whole, to: Self.path)
            try home.rewriteHeader { $0[position] ^= 1 }
            let bytes = try home.vaultBytes()
            let result = try home.run(["reveal", "KEY", "-p", "web"])
            // A changed slot opens with no passphrase; the memory it asks for may not be available.
            #expect([1, 3, 8].contains(result.status), "byte \(position): \(result.end)")
            #expect(result.output == "")
            let list = try home.run(["set", "KEY", "-p", "web"], input: .text("x"))
            #expect([1, 3, 8].contains(list.status), "byte \(position): \(list.end)")
            #expect(try home.vaultBytes() == bytes)
        }
    }

    @Test func `a missing vault is reported with the command that creates one`() throws {
        let empty = try CommandHome()
        for arguments in Self.uses {
            let input = ProgramRunner.Input.text("KEY=x")
            failed(try empty.run(arguments, input: input), 4, "zg-env init")
        }
        let other = ["--vault", "/nonexistent/vault.zgv"]
        failed(try home.run(["list", "-p", "web"] + other), 4, "/nonexistent/vault.zgv")
        failed(
            try home.run(["list", "-p", "web"], environment: ["ZG_ENV_VAULT": "relative.zgv"]), 4,
            "relative.zgv")
    }

    @Test func `a vault that others can read is read, and written only with its mode restored`()
        throws
    {
        let whole = try home.vaultBytes()
        for mode: mode_t in [0o640, 0o604, 0o644, 0o660, 0o606] {
            try home.directory.write(whole, to: Self.path, mode: mode)
            for arguments in [["list", "-p", "web"], ["export", "-p", "web"]] {
                let read = done(try home.run(arguments))
                // Who can only read the file learns what the page of the format says.
                let isRisky = mode & 0o022 != 0
                #expect(read.error.contains("older copy") == isRisky, "\(mode): \(read.error)")
                #expect(
                    read.error.contains("Other users can write to \(home.vaultPath)") == isRisky)
            }
            failed(
                try home.run(["set", "KEY", "-p", "web"], input: .text("x")), 1,
                "Run: chmod 600 \(home.vaultPath)")
            #expect(try home.vaultBytes() == whole)
        }
        try home.directory.write(whole, to: Self.path, mode: 0o600)
        done(try home.run(["set", "KEY", "-p", "web"], input: .text("x")))
    }

    @Test func `a vault of another user is read with a warning, and not written`() throws {
        guard geteuid() == 0 else { return }
        let whole = try home.vaultBytes()
        #expect(unsafe chown(home.vaultPath, 65_534, 65_534) == 0)
        let read = done(try home.run(["export", "-p", "web"]))
        #expect(read.error.contains("belongs to another user"), "\(read.error)")
        #expect(read.error.contains("older copy"), "\(read.error)")
        failed(
            try home.run(["set", "KEY", "-p", "web"], input: .text("x")), 1,
            "belongs to another user")
        #expect(try home.vaultBytes() == whole)
    }

    @Test func `one symbolic link is followed for reading`() throws {
        let whole = try home.vaultBytes()
        try FileManager.default.removeItem(atPath: home.vaultPath)
        // As Kubernetes mounts a secret.
        let folder = try home.directory.makeDirectory("mounted")
        try home.directory.makeDirectory("mounted/..2026")
        try home.directory.write(whole, to: "mounted/..2026/vault.zgv", mode: 0o440)
        func link(_ path: String, _ target: String) throws {
            try FileManager.default.createSymbolicLink(
                atPath: path, withDestinationPath: target)
        }
        try link("\(folder)/..data", "..2026")
        try link("\(folder)/vault.zgv", "..data/vault.zgv")
        let mounted = ["--vault", "\(folder)/vault.zgv"]
        let before = try FileManager.default.subpathsOfDirectory(atPath: folder).sorted()
        done(try home.run(["list", "-p", "web"] + mounted))
        done(try home.run(["export", "-p", "web"] + mounted))
        done(try home.run(["verify"] + mounted))
        failed(
            try home.run(["set", "KEY", "-p", "web"] + mounted, input: .text("x")), 1,
            "symbolic link")
        try home.directory.write(whole, to: "mounted/..2026/vault.zgv", mode: 0o464)
        let risky = done(try home.run(["list", "-p", "web"] + mounted))
        #expect(risky.error.contains("older copy"), "\(risky.error)")
        #expect(try FileManager.default.subpathsOfDirectory(atPath: folder).sorted() == before)
        // Not a chain of them.
        try link(home.vaultPath, "\(folder)/vault.zgv")
        failed(try home.run(["list", "-p", "web"]), 1, "symbolic link")
        failed(try home.run(["init", "--kdf", "8MiB,1"]), 5)
    }

    @Test func `a directory is no vault`() throws {
        try FileManager.default.removeItem(atPath: home.vaultPath)
        try home.directory.makeDirectory(Self.path)
        failed(try home.run(["list", "-p", "web"]), 1)
    }

    @Test func `reading leaves no file beside the vault`() throws {
        let folder = try home.directory.makeDirectory("clone")
        try home.directory.write(try home.vaultBytes(), to: "clone/ci.zgv", mode: 0o644)
        for arguments in [
            ["list", "-p", "web"], ["show", "KEY", "-p", "web"], ["status"], ["verify"],
            ["export", "-p", "web"], ["run", "-p", "web", "--", "true"],
            ["reveal", "KEY", "-p", "web"], ["check"], ["scan", "-p", "web", folder],
        ] {
            _ = try home.run(arguments, environment: ["ZG_ENV_VAULT": "\(folder)/ci.zgv"])
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: folder) == ["ci.zgv"],
                "\(arguments)")
        }
    }

    @Test func `a directory that others can write to is refused for writing`() throws {
        let before = try home.vaultBytes()
        let directory = home.directory.path("data/zg-env")
        for mode: mode_t in [0o777, 0o770, 0o702] {
            #expect(unsafe chmod(directory, mode) == 0)
            let read = done(try home.run(["list", "-p", "web"]))
            #expect(read.error.contains("Other users can write to \(directory)"), "\(read.error)")
            failed(
                try home.run(["set", "KEY", "-p", "web"], input: .text("x")), 1,
                "chmod go-w \(directory)")
        }
        #expect(try home.vaultBytes() == before)
    }

    @Test func `a second init is a conflict`() throws {
        let before = try home.vaultBytes()
        failed(try home.run(["init", "--kdf", "8MiB,1"]), 5, home.vaultPath)
        try failedAsJSON(home.run(["init", "--kdf", "8MiB,1", "--json"]), 5, "conflict")
        #expect(try home.vaultBytes() == before)
    }

    @Test(arguments: ["1MiB,1", "8MiB,0", "8MiB", "8,1", "8MiB,11", "9GiB,1", "-8MiB,1", ""])
    func `invalid key-derivation costs are refused`(cost: String) throws {
        let new = try CommandHome()
        failed(try new.run(["init", "--kdf", cost]), 2)
        #expect(!FileManager.default.fileExists(atPath: new.vaultPath))
    }

    @Test func `unknown projects and keys are not found`() throws {
        try failedAsJSON(home.run(["list", "-p", "none", "--json"]), 4, "not_found")
        for command in ["show", "reveal"] {
            let text = try failedAsJSON(
                home.run([command, "KEZ", "-p", "web", "--json"]), 4, "not_found")
            #expect(text.contains("Did you mean KEY?"))
        }
        try failedAsJSON(
            home.run(["rm", "NONE", "-p", "web", "--json", "--yes"]), 4, "not_found")
        try failedAsJSON(
            home.run(["run", "-p", "web", "--only", "NONE", "--json", "--", "true"]), 125,
            "not_found")
    }

    @Test func `every command reports a wrong passphrase as locked`() throws {
        try home.directory.write("wrong", to: "passphrase")
        try expectAll(3, "locked", "passphrase")
    }

    @Test func `an unwritable directory loses nothing`() throws {
        // Root may write anywhere, so a file of another kind blocks the path.
        try FileManager.default.removeItem(atPath: home.vaultPath + ".lock")
        try home.directory.makeDirectory(Self.path + ".lock")
        let before = try home.vaultBytes()
        failed(try home.run(["set", "KEY", "-p", "web"], input: .text("x")), 1, "lock")
        failed(try home.run(["import", "-", "-p", "web"], input: .text("KEY=x")), 1, "lock")
        #expect(try home.vaultBytes() == before)
        #expect(try home.revealed("KEY") == Array("the value of the key".utf8))
    }

    @Test func `only the owner can access the vault and its directory`() throws {
        #expect(try mode(home.vaultPath) == 0o600)
        #expect(try mode(home.vaultPath + ".lock") == 0o600)
        #expect(try mode(home.directory.path("data/zg-env")) == 0o700)
        let names = try FileManager.default.contentsOfDirectory(
            atPath: home.directory.path("data/zg-env"))
        #expect(Set(names) == ["vault.zgv", "vault.zgv.lock"])
    }
}
