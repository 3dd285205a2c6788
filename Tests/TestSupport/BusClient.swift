import Foundation

/// A minimal D-Bus connection that calls methods and owns names, without a library.
///
/// It answers no call by itself, so a name it owns belongs to a service that hangs. Not
/// thread-safe.
package final class BusClient: @unchecked Sendable {
    /// An error reply, or a broken connection.
    package struct Failure: Error, CustomStringConvertible {
        /// The name of the error.
        package let description: String
    }

    private let socket: Int32
    private var serial: UInt32 = 0

    /// Connects to the socket at `path` and registers.
    package init(socketPath path: String) throws {
        socket = Foundation.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard socket >= 0 else { throw SystemCallError("socket") }
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = Array(path.utf8)
        guard name.count < 108 else { throw Failure(description: "path too long") }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
        let connected = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard connected == 0 else { throw SystemCallError("connect \(path)") }
        // The identity is the user id in decimal, each character as two hexadecimal digits.
        let identity = "\(geteuid())".utf8.map { String($0, radix: 16) }.joined()
        try send(Array("\0AUTH EXTERNAL \(identity)\r\n".utf8))
        while try receive(1) != [0x0a] {}
        try send(Array("BEGIN\r\n".utf8))
        _ = try callBus("Hello", [])
    }

    deinit {
        close(socket)
    }

    /// Acquires the name, and never answers a call to it during this object's lifetime.
    package func own(_ name: String) throws {
        _ = try callBus("RequestName", [.string(name), .number(4)])
    }

    /// Calls a method and returns a reader for the reply's body.
    func call(
        _ name: String, _ path: String, _ interface: String, _ member: String,
        _ arguments: [BusMessage.Argument]
    ) throws -> BusReader {
        serial += 1
        try send(
            BusMessage.call(
                serial: serial, to: name, path: path, interface: interface, member: member,
                arguments))
        while true {
            let message = try receiveMessage()
            guard message.replyTo == serial else { continue }
            if message.isError { throw Failure(description: message.errorName) }
            return message.body
        }
    }

    private func callBus(_ member: String, _ arguments: [BusMessage.Argument]) throws -> BusReader {
        try call(
            "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", member,
            arguments)
    }

    /// A message from the bus.
    struct Message {
        var isCall = false
        var isError = false
        var serial: UInt32 = 0
        var replyTo: UInt32?
        var errorName = ""
        var member = ""
        var sender = ""
        var body = BusReader([])
    }

    /// Calls a method without waiting for a reply.
    func send(
        _ name: String, _ path: String, _ interface: String, _ member: String,
        _ arguments: [BusMessage.Argument]
    ) throws {
        serial += 1
        try send(
            BusMessage.call(
                serial: serial, to: name, path: path, interface: interface, member: member,
                arguments))
    }

    /// Sends an empty reply to a call.
    func reply(to message: Message) throws {
        serial += 1
        try send(BusMessage.reply(serial: serial, to: message.sender, call: message.serial))
    }

    /// Closes the connection, which makes a thread in ``receiveMessage()`` fail.
    func disconnect() {
        shutdown(socket, Int32(SHUT_RDWR))
    }

    /// Waits for a message.
    func receiveMessage() throws -> Message {
        let head = try receive(16)
        var reader = BusReader(head, offset: 4)
        let bodyLength = Int(reader.number())
        let number = reader.number()
        let fieldsLength = Int(reader.number())
        let fields = try receive((fieldsLength + 7) / 8 * 8)
        let body = try receive(bodyLength)
        var message = Message()
        message.isCall = head[1] == 1
        message.isError = head[1] == 3
        message.serial = number
        message.body = BusReader(body)
        var field = BusReader(fields)
        while field.position < fieldsLength {
            field.align(8)
            let code = field.byte()
            switch field.signature() {
            case "u":
                let number = field.number()
                if code == 5 { message.replyTo = number }
            case "g": _ = field.signature()
            default:
                let text = field.text()
                switch code {
                case 3: message.member = text
                case 4: message.errorName = text
                case 7: message.sender = text
                default: break
                }
            }
        }
        return message
    }

    private func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe Foundation.send(
                    socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw SystemCallError("send") }
            rest = rest.dropFirst(count)
        }
    }

    private func receive(_ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            var buffer = [UInt8](repeating: 0, count: count - bytes.count)
            let received = unsafe recv(socket, &buffer, buffer.count, 0)
            guard received > 0 else { throw SystemCallError("recv") }
            bytes += buffer[..<received]
        }
        return bytes
    }
}
