internal import Glibc
internal import PostalProtocol
internal import Sealing
internal import SystemFiles
internal import Threads
internal import WebhookSigning

/// The webhooks: their accounts, and their secrets in guarded memory.
///
/// Each is a file of one directory, as `LoadCredential=` creates it. The directory is read again
/// for an unknown webhook, at most once a second, and on SIGHUP.
final class HookSecrets: Sendable {
    /// A webhook. Immutable, so that threads may share it.
    final class Hook: @unchecked Sendable {
        let account: String
        private let secret: SecretBytes

        init(account: String, secret: consuming SecretBytes) {
            self.account = account
            self.secret = secret
        }

        /// Returns whether `signature` is the signature of `body` under this webhook's secret.
        func signs(_ body: [UInt8], _ signature: String?) -> Bool {
            secret.withBytes { secret in
                body.withBytes { WebhookSignature.isValid(signature, of: $0, secret: secret) }
            }
        }
    }

    private struct State {
        var hooks: [String: Hook] = [:]
        var readAt = Int64.min / 2
        var problems = 0
    }

    /// Keeps a wrong directory from being read forever.
    private static let countLimit = 4_096
    private static let pauseMilliseconds: Int64 = 1_000

    private let directory: String
    private let steady: @Sendable () -> Int64
    private let state = Monitor(State())

    init(directory: String, steady: @escaping @Sendable () -> Int64) {
        (self.directory, self.steady) = (directory, steady)
    }

    /// Number of webhooks, and of files that could not be read.
    var counts: (hooks: Int, problems: Int) { state.look { ($0.hooks.count, $0.problems) } }

    /// Returns the webhook of that name; reads the directory again if it is unknown.
    func hook(_ name: String) -> Hook? {
        guard PostalName.isHookOrDevice(name) else { return nil }
        if let hook = state.look({ $0.hooks[name] }) { return hook }
        let mayRead = state.look { state in
            let now = steady()
            guard now - state.readAt >= Self.pauseMilliseconds else { return false }
            state.readAt = now
            return true
        }
        if mayRead { read() }
        return state.look { $0.hooks[name] }
    }

    /// Reads the directory again; on failure the webhooks stay as they are.
    func read() {
        guard let listing = try? OpenFile(directory, O_RDONLY | O_DIRECTORY) else { return }
        let found = Directory.names(in: listing)
        guard found.error == nil else { return }
        var (hooks, problems) = ([String: Hook](), 0)
        for name in found.names where hooks.count < Self.countLimit {
            let file = String(decoding: name, as: UTF8.self)
            guard let name = Self.hookName(ofFile: file) else { continue }
            if let hook = HookFile.read("\(directory)/\(file)") {
                hooks[name] = hook
            } else {
                problems += 1
            }
        }
        state.look { state in
            state.hooks = hooks
            state.problems = problems
            state.readAt = steady()
        }
    }

    /// Returns the webhook of a file `…webhook.HOOK`; nil for another file.
    static func hookName(ofFile file: String) -> String? {
        guard let dot = file.lastIndex(of: "."), file[..<dot].hasSuffix("webhook") else {
            return nil
        }
        let name = String(file[file.index(after: dot)...])
        return PostalName.isHookOrDevice(name) ? name : nil
    }
}
