internal import Sealing
internal import SecretServiceKeyring
internal import VercelAPI

/// The libraries that zg-env is linked with, or opens at first use.
enum LibraryChecks {
    static func findings(_ context: Context) -> [Finding] {
        var curl: String?
        do {
            _ = try context.transport()
        } catch let error as TransportError {
            curl = error.reason
        } catch {
            curl = "libcurl does not start"
        }
        return [
            sodium(SealingLibrary.version),
            secret(isThere: SecretServiceKeyring.isLibraryThere),
            self.curl(problem: curl),
        ]
    }

    static func sodium(_ version: String?) -> Finding {
        guard let version else {
            return Finding(
                "libsodium", .failed, "libsodium does not start: nothing can be opened or sealed.",
                remedy: "Install libsodium23 anew.")
        }
        return Finding("libsodium", .ok, "libsodium \(version) works.")
    }

    static func secret(isThere: Bool) -> Finding {
        isThere
            ? Finding("libsecret", .ok, "libsecret can be opened.")
            : Finding(
                "libsecret", .warning,
                "libsecret is not there or too old, so the desktop's keyring cannot be used.",
                remedy: "Install libsecret-1-0.")
    }

    static func curl(problem: String?) -> Finding {
        guard let problem else { return Finding("libcurl", .ok, "libcurl can be opened.") }
        return Finding(
            "libcurl", .warning, "\(problem), so the platform cannot be reached.",
            remedy: "Install libcurl4.")
    }
}
