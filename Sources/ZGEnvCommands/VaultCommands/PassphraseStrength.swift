internal import CZxcvbn
internal import CommandLineKit
internal import Glibc
internal import JSON
internal import Sealing
internal import SystemFiles

/// The process that rates a new passphrase with libzxcvbn, which copies it to memory that is neither
/// guarded nor wiped: that memory ends with the process.
struct PassphraseStrength: Command {
    static let spec = CommandSpec(
        ["__strength"], "Rate the passphrase on stdin", hidden: true)

    /// Fewer guesses are weak: a program that tries a thousand a second needs 35 years for so many.
    private static let weakBits = 40
    /// Fewer guesses take no time: about a million.
    private static let veryWeakBits = 20

    init(_ command: ParsedCommand) {}

    func run(in workspace: Workspace) throws -> CommandResult {
        var text = try SecretInput.read(
            descriptor: workspace.context.secretDescriptors.current(0),
            limit: PassphraseSource.limit, what: "The passphrase on stdin")
        try text.append(0)
        let bits = text.withBytes { bytes in
            unsafe bytes.withUnsafeBytes { buffer in
                unsafe buffer.bindMemory(to: CChar.self).baseAddress.map {
                    unsafe zg_passphrase_bits($0)
                } ?? -1
            }
        }
        guard bits >= 0 else { throw CommandError(.failed, "libzxcvbn is not installed.") }
        return CommandResult(
            json: ["bits": .integer(Int64(bits))], text: "\(Int64(bits))\n")
    }

    /// Warns of a new passphrase that few guesses find. Says nothing without the library.
    ///
    /// - Parameter slot: The id of its slot, if there may be several.
    static func warn(
        of passphrase: borrowing SecretBytes, slot: String? = nil, _ workspace: Workspace
    ) {
        guard let bits = bits(of: passphrase, workspace) else { return }
        warn(bits, slot: slot, workspace)
    }

    private static func warn(_ bits: Int, slot: String? = nil, _ workspace: Workspace) {
        guard bits < weakBits else { return }
        workspace.context.warn(
            "weak-passphrase",
            "\(words(bits)) Change it with: zg-env passwd\(slot.map { " --slot \($0)" } ?? "")")
    }

    private static func words(_ bits: Int) -> String {
        "This passphrase is weak: an attacker needs about \(guesses(bits)) guesses."
    }

    /// Returns whether a new passphrase is to be used: asks about a very weak one, and otherwise warns
    /// of a weak one.
    ///
    /// - Parameters:
    ///   - asks: False if no person typed it.
    ///   - silence: Ended before the question.
    static func isAccepted(
        _ passphrase: borrowing SecretBytes, asks: Bool, _ workspace: Workspace,
        _ silence: inout EchoSuspension?
    ) throws -> Bool {
        guard let bits = bits(of: passphrase, workspace) else { return true }
        guard asks, bits < veryWeakBits, !workspace.options.yes,
            workspace.interaction.canConfirm
        else {
            warn(bits, workspace)
            return true
        }
        silence?.end()
        return try workspace.interaction.confirm(nil, [words(bits)], "Use it anyway?")
    }

    /// Returns a rounded power of two in words, such as "100 thousand".
    static func guesses(_ bits: Int) -> String {
        var (number, unit) = (UInt64(1) << UInt64(min(max(bits, 0), 62)), "")
        for next in [" thousand", " million", " billion", " trillion"] where number >= 10_000 {
            (number, unit) = (number / 1_000, next)
        }
        return "\(number)\(unit)"
    }

    private static func bits(
        of passphrase: borrowing SecretBytes, _ workspace: Workspace
    ) -> Int? {
        let child = try? ChildProcess.start(
            "/proc/self/exe", ["zg-env", "--vault=/"] + spec.path,
            environment: workspace.context.childEnvironment, input: .pipe, output: .pipe,
            error: .null, searchesPath: false)
        guard let child else { return nil }
        let isWritten = passphrase.withBytes { bytes in
            unsafe bytes.withUnsafeBytes {
                unsafe write(child.inputDescriptor, $0.baseAddress, $0.count) == $0.count
            }
        }
        child.closeInput()
        var entry = pollfd(fd: child.outputDescriptor, events: Int16(POLLIN), revents: 0)
        var answer = [UInt8](repeating: 0, count: 16)
        // A slow rating is not worth the wait.
        guard unsafe isWritten && poll(&entry, 1, 2_000) == 1 else {
            child.terminate()
            return nil
        }
        let count = unsafe read(child.outputDescriptor, &answer, answer.count)
        guard child.wait() == ExitCode.done.rawValue, count > 1 else { return nil }
        return Int(String(decoding: answer[..<(count - 1)], as: UTF8.self))
    }
}
