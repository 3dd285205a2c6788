import Foundation
import Glibc

/// A connection between servers on 127.0.0.1 that a test can cut: data under way is held, as in a
/// network that loses packets, and continues when the link is restored.
package final class NetworkLink: @unchecked Sendable {
    /// The port for clients of this link.
    package let port: UInt16
    private let target: UInt16
    private let listener: Int32
    private let condition = NSCondition()
    private var isCut = false
    private var isEnding = false

    /// Creates a link to a port, which need not be in use yet.
    package init(to target: UInt16) throws {
        self.target = target
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard listener >= 0 else { throw SystemCallError("socket") }
        var address = Self.address(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = unsafe withUnsafeMutablePointer(to: &address) { [listener] pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(listener, $0, length) == 0 && listen(listener, 64) == 0
                    && getsockname(listener, $0, &length) == 0
            }
        }
        guard isListening else {
            close(listener)
            throw SystemCallError("bind")
        }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [self] in accept() }
    }

    /// Holds all data from now on.
    package func cut() { set { $0.isCut = true } }

    /// Passes all data again, including what was held.
    package func open() { set { $0.isCut = false } }

    /// Ends the link and closes its connections.
    package func end() {
        set { $0.isEnding = true }
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private func set(_ change: (NetworkLink) -> Void) {
        condition.withLock {
            change(self)
            condition.broadcast()
        }
    }

    /// Waits while the link is cut; false at the end.
    private func pass() -> Bool {
        condition.withLock {
            while isCut && !isEnding { condition.wait() }
            return !isEnding
        }
    }

    private func accept() {
        defer { close(listener) }
        while true {
            let near = Glibc.accept(listener, nil, nil)
            guard near >= 0 else { return }
            _ = fcntl(near, F_SETFD, FD_CLOEXEC)
            Thread.detachNewThread { [self] in
                guard pass(), let far = connect() else {
                    close(near)
                    return
                }
                let pair = Pair(near, far)
                Thread.detachNewThread { [self] in carry(pair, from: far, to: near) }
                carry(pair, from: near, to: far)
            }
        }
    }

    private func carry(_ pair: Pair, from source: Int32, to target: Int32) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe recv(source, &buffer, buffer.count, 0)
            guard count > 0, pass() else { break }
            var rest = buffer[..<count]
            while !rest.isEmpty {
                let sent = unsafe rest.withUnsafeBytes { bytes in
                    unsafe send(target, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
                }
                guard sent > 0 else { break }
                rest = rest.dropFirst(sent)
            }
            guard rest.isEmpty else { break }
        }
        // The end of a connection also passes only while the link is open.
        _ = pass()
        pair.shut()
    }

    private func connect() -> Int32? {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = Self.address(target)
        let isConnected = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Glibc.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else {
            close(socket)
            return nil
        }
        return socket
    }

    private static func address(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = port.bigEndian
        return address
    }

    /// Both ends of a connection, closed with the last reference.
    private final class Pair: Sendable {
        private let near: Int32
        private let far: Int32

        init(_ near: Int32, _ far: Int32) { (self.near, self.far) = (near, far) }

        deinit {
            close(near)
            close(far)
        }

        func shut() {
            shutdown(near, Int32(SHUT_RDWR))
            shutdown(far, Int32(SHUT_RDWR))
        }
    }
}
