import Foundation
import Sealing
import TestSupport
import Testing

@testable import Vault
@testable import ZGEnvCommands

/// Runs commands with marker values and records every place where one leaks.
final class LeakWitness {
    let home: CommandHome
    let passphrase = Marker("passphrase")
    let wrongPassphrase = Marker("wrong passphrase")
    let stored = Marker("stored value")
    /// The value of `one`, which `run` passes to programs.
    let handed = Marker("handed value")
    let typed = Marker("new value")
    let malformed = Marker("malformed value")
    /// Passed as an argument against all advice: other programs see it, but zg-env repeats it
    /// nowhere.
    let argument = Marker("value in an argument")
    private(set) var leaks: [String] = []
    private(set) var runs = 0
    private var startedSandbox: LeakSandbox?
    private let needles: Needles
    private let watch: ProcessWatch
    /// Files below the home that the test, or a command by its contract, wrote in clear.
    private var clearFiles: Set<String> = ["passphrase"]

    init() throws {
        home = try CommandHome()
        let kept = [passphrase, wrongPassphrase, stored, typed, malformed]
        needles = Needles(kept + [handed, argument])
        watch = ProcessWatch(arguments: Needles(kept + [handed]), environment: Needles(kept))
        try home.directory.write(passphrase.text + "\n", to: "passphrase")
    }

    /// Creates a vault with the stored value as `KEY` of the projects `web`, `one` and `lines`.
    func prepare() throws {
        try home.initialise()
        try home.store(["KEY": stored.text], in: "web")
        try home.store(["KEY": handed.text], in: "one")
        try home.store(["KEY": stored.text + "\n"], in: "lines")
    }

    /// This home's sandbox, started on first use.
    func platform() throws -> LeakSandbox {
        if let startedSandbox { return startedSandbox }
        let platform = try LeakSandbox()
        startedSandbox = platform
        return platform
    }

    /// Writes a cleartext file of the test.
    func write(_ text: String, to name: String) throws -> String {
        clearFiles.insert(name)
        return try home.directory.write(text, to: name)
    }

    /// Runs a command and searches its output.
    ///
    /// - Parameters:
    ///   - status: The expected exit code, as a command that fails early would show nothing; nil
    /// for 0 or 2.
    ///   - givesOut: Whether stdout contains values by contract; then one must be there.
    func run(
        _ arguments: [String], input: ProgramRunner.Input = .null, status: Int32? = 0,
        givesOut: Bool = false, environment: [String: String] = [:],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try run(
            home.runner(
                arguments, input: input,
                environment: environment.merging(["TMPDIR": home.directory.path]) { $1 }),
            status: status, givesOut: givesOut, sourceLocation: sourceLocation)
    }

    func run(
        _ runner: ProgramRunner, status: Int32? = 0, givesOut: Bool = false,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let result = try runner.run()
        runs += 1
        let words = String(
            decoding: Array(runner.arguments.joined(separator: [0x20])), as: UTF8.self)
        #expect(
            status.map { result.status == $0 } ?? [0, 2].contains(result.status),
            "\(words): \(result.end) \(result.error)",
            sourceLocation: sourceLocation)
        for (stream, bytes) in [
            ("stdout", result.standardOutput), ("stderr", result.standardError),
            ("terminal", result.terminal),
        ] {
            let found = needles.found(in: bytes)
            if givesOut && stream == "stdout" {
                #expect(!found.isEmpty, "\(words)", sourceLocation: sourceLocation)
            } else {
                leaks += found.map { "\(stream) of \(words.prefix(40)): \($0)" }
            }
        }
    }

    /// Returns everything found so far, with the files below the home.
    func finish() throws -> [String] {
        leaks += watch.stop().sorted()
        let files = FileManager.default.enumerator(atPath: home.directory.path)
        for case let name as String in files ?? .init() where !clearFiles.contains(name) {
            let path = home.directory.path(name)
            leaks += needles.found(in: Array(name.utf8)).map { "name of \(name): \($0)" }
            // A directory has no bytes.
            leaks += needles.found(in: SmallFile.bytes(path)).map { "file \(name): \($0)" }
        }
        leaks += try needles.found(in: openedIndex()).map { "the index, opened: \($0)" }
        return leaks
    }

    /// Flips a bit of a sealed value.
    func damage(_ key: String, in project: String) throws {
        let (vault, keys) = try opened()
        let place = try #require(
            try IndexKeyWriter.place(ofValueOf: key, in: project, of: vault, keys: keys))
        var bytes = try home.vaultBytes()
        bytes[place.lowerBound + 30] ^= 1
        try home.directory.write(bytes, to: "data/zg-env/vault.zgv")
    }

    private func opened() throws -> (vault: Vault, keys: VaultKeys) {
        let vault = try Vault(opening: home.vaultPath, in: PosixFileStore())
        let secret = try Array(passphrase.text.utf8).withBytes { try SecretBytes(copying: $0) }
        return (vault, try vault.open(with: secret, memoryLimitBytes: nil).keys)
    }

    /// The cleartext of the vault's index.
    private func openedIndex() throws -> [UInt8] {
        let (vault, keys) = try opened()
        return try IndexKeyWriter.text(of: vault, keys: keys)
    }
}
