internal import CommandLineKit
internal import CurlTransport
internal import Glibc
internal import SecretServiceKeyring
internal import SystemFiles
internal import Vault

extension Context {
    /// Returns the context of this process.
    ///
    /// - Parameter hardening: Created first in the process.
    static func live(_ program: ProgramSpec, hardening: ProcessHardening) -> Context {
        let raw = ProcessParts.environment
        var environment: [String: String] = [:]
        for entry in raw {
            guard let equals = entry.firstIndex(of: 0x3D),
                let name = String(validating: entry[..<equals], as: UTF8.self),
                let value = String(validating: entry[(equals + 1)...], as: UTF8.self)
            else { continue }
            environment[name] = environment[name] ?? value
        }
        // TLS libraries write their session keys to this file, with which recorded traffic, tokens and
        // values included, could be decrypted. A child of `run` still gets it, from `raw`.
        _ = unsafe unsetenv("SSLKEYLOGFILE")
        let keyring = DesktopKeyring(environment)
        return Context(
            program: program, arguments: ProcessParts.arguments, hardening: hardening,
            environment: environment,
            rawEnvironment: raw, workingDirectory: ProcessParts.workingDirectory ?? "/",
            files: PosixFileStore(), keyring: { keyring.opened },
            now: ProcessParts.milliseconds, user: { UserAccount.current },
            transport: {
                var configuration = CurlConfiguration()
                configuration.shouldCancel = { Interrupts.pending != nil }
                return try CurlTransport(configuration)
            },
            waitingRoom: SystemSleeper(shouldCancel: { Interrupts.pending != nil }),
            output: OutputStream(descriptor: 1),
            messages: OutputStream(descriptor: 2))
    }
}

/// The desktop keyring, opened at first use and shared within a command: connecting and agreeing on keys
/// costs as much as all requests together.
private final class DesktopKeyring {
    /// nil without a session bus.
    private(set) lazy var opened: (any Keyring)? = {
        let address = SessionBus.address(
            configured: environment["DBUS_SESSION_BUS_ADDRESS"],
            runtimeDirectory: environment["XDG_RUNTIME_DIR"])
        guard let address else { return nil }
        let hasScreen = ["DISPLAY", "WAYLAND_DISPLAY"].contains {
            environment[$0]?.isEmpty == false
        }
        return SecretServiceKeyring(
            busAddress: address, limit: .seconds(hasScreen ? 60 : 5))
    }()
    private let environment: [String: String]

    init(_ environment: [String: String]) {
        self.environment = environment
    }
}

/// The parts of the process that the context reads once.
enum ProcessParts {
    /// The arguments without the program's name.
    static var arguments: [[UInt8]] {
        (0..<Int(CommandLine.argc)).dropFirst().map {
            unsafe bytes(CommandLine.unsafeArgv[$0])
        }
    }

    /// `NAME=value` entries.
    static var environment: [[UInt8]] {
        var list: [[UInt8]] = []
        var next = unsafe environ
        while let entry = unsafe next.pointee {
            unsafe list.append(bytes(entry))
            unsafe next += 1
        }
        return list
    }

    /// The directory without symbolic links; nil if it was removed.
    static var workingDirectory: String? { RealPath.of(".") }

    /// Returns the wall-clock time in milliseconds since 1970.
    static func milliseconds() -> UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return UInt64(max(time.tv_sec, 0)) * 1_000 + UInt64(max(time.tv_nsec, 0)) / 1_000_000
    }

    private static func bytes(_ text: UnsafePointer<CChar>?) -> [UInt8] {
        guard let text = unsafe text else { return [] }
        return unsafe Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))
    }
}
