internal import HTTPClient
internal import Sealing
internal import SecretServiceKeyring
internal import VercelAPI

/// Checks the libraries that zg-env is linked with or opens at first use.
enum LibraryChecks {
    static func findings(_ context: Context) -> [Finding] {
        var curl: String?
        do {
            _ = try context.transport()
        } catch let error as TransportError {
            curl = error.reason
        } catch {
            curl = "libcurl failed to initialize"
        }
        return [
            sodium(SealingLibrary.version),
            secret(isThere: SecretServiceKeyring.isLibraryAvailable),
            self.curl(problem: curl),
        ]
    }

    static func sodium(_ version: String?) -> Finding {
        guard let version else {
            return Finding(
                "libsodium", .failed,
                "libsodium failed to initialize: nothing can be encrypted or decrypted.",
                remedy: "Reinstall libsodium23.")
        }
        return Finding("libsodium", .ok, "libsodium \(version) works.")
    }

    static func secret(isThere: Bool) -> Finding {
        isThere
            ? Finding("libsecret", .ok, "libsecret can be loaded.")
            : Finding(
                "libsecret", .warning,
                "libsecret is missing or too old, so the desktop keyring cannot be used.",
                remedy: "Install libsecret-1-0.")
    }

    static func curl(problem: String?) -> Finding {
        guard let problem else { return Finding("libcurl", .ok, "libcurl can be loaded.") }
        return Finding(
            "libcurl", .warning, "\(problem), so Vercel cannot be reached.",
            remedy: "Install libcurl4.")
    }
}
