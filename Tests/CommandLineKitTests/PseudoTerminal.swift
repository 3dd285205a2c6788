import CLinux
import CommandLineKit
import Foundation
import Glibc

/// A terminal whose keyboard and screen are the test's.
final class PseudoTerminal: @unchecked Sendable {
    struct Failure: Error {
        let what: String
    }

    /// The test's side. Its modes are those of the other side.
    let master: Int32
    /// The other side, kept open so that it does not hang up between two users.
    let slave: Int32
    /// Where the program under test opens it.
    let path: String

    init() throws {
        var master: Int32 = -1
        var slave: Int32 = -1
        var name = [CChar](repeating: 0, count: 128)
        guard unsafe openpty(&master, &slave, nil, nil, nil) == 0,
            fcntl(master, F_SETFD, FD_CLOEXEC) == 0, fcntl(slave, F_SETFD, FD_CLOEXEC) == 0,
            unsafe ttyname_r(slave, &name, name.count) == 0
        else {
            throw Failure(what: "openpty \(errno)")
        }
        self.master = master
        self.slave = slave
        path = String(decoding: name.prefix { $0 != 0 }.map { UInt8($0) }, as: UTF8.self)
    }

    deinit {
        close(slave)
        close(master)
    }

    /// Types bytes at the keyboard, waiting for the other side to read where there are many.
    func type(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes {
                unsafe write(master, $0.baseAddress, $0.count)
            }
            guard written > 0 else { return }
            rest = rest.dropFirst(written)
        }
    }

    func type(_ text: String) {
        type(Array(text.utf8))
    }

    /// What the screen shows so far, if anything came within some milliseconds.
    func screen(within milliseconds: Int32 = 50) -> String {
        var bytes: [UInt8] = []
        var entry = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
        while unsafe poll(&entry, 1, milliseconds) > 0, entry.revents & Int16(POLLIN) != 0 {
            var chunk = [UInt8](repeating: 0, count: 4096)
            let count = unsafe read(master, &chunk, chunk.count)
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The bits of `c_lflag`, which hold echo and line editing.
    var localModes: UInt32 {
        var modes = termios()
        return unsafe tcgetattr(master, &modes) == 0 ? modes.c_lflag : 0
    }

    var echoes: Bool { localModes & UInt32(ECHO) != 0 }

    /// Whether the terminal's reader has a line to read.
    var hasInput: Bool {
        let reader = unsafe open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC)
        defer { close(reader) }
        var entry = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&entry, 1, 0) == 1
    }

    /// Waits until echo is on or off.
    func wait(untilEcho wanted: Bool, seconds: Double = 60) -> Bool {
        eventually(seconds: seconds) { echoes == wanted }
    }
}

/// Whether a condition comes true in time.
func eventually(seconds: Double = 60, _ condition: () -> Bool) -> Bool {
    let end = Date().addingTimeInterval(seconds)
    while !condition() {
        if Date() > end { return false }
        usleep(1000)
    }
    return true
}

/// Work on a thread of its own, since it blocks.
final class Background<Value: Sendable>: @unchecked Sendable {
    private let done = DispatchSemaphore(value: 0)
    private var value: Value?

    init(_ work: @escaping @Sendable () -> Value) {
        Thread.detachNewThread {
            self.value = work()
            self.done.signal()
        }
    }

    /// The result, or nil when it takes longer than half a minute.
    func result() -> Value? {
        done.wait(timeout: .now() + 30) == .success ? value : nil
    }
}

/// What a hidden prompt gave.
enum Answer: Equatable, Sendable {
    case bytes([UInt8])
    /// The error, and whether the memory was zeroed.
    case failure(TerminalError, isWiped: Bool)

    static func text(_ text: String) -> Answer {
        .bytes(Array(text.utf8))
    }

    /// Asks at the terminal, in memory that holds something before.
    static func asked(
        at path: String, prompt: String = "Secret: ", capacity: Int = 64, erases: Bool = true
    ) -> Answer {
        var memory = [UInt8](repeating: 0x5A, count: capacity)
        do throws(TerminalError) {
            let terminal = try TerminalDevice(opening: path, erasesPrompts: erases)
            var span = memory.mutableSpan
            var bytes = unsafe span.mutableBytes
            let count = try terminal.readHidden(prompt: prompt, into: &bytes)
            return .bytes(Array(memory[..<count]))
        } catch {
            return .failure(error, isWiped: memory.allSatisfy { $0 == 0 })
        }
    }
}
