import Foundation
import Glibc
import Sealing
import TestSupport
import Testing

@testable import EnvOperations
@testable import Vault

/// The response cache of a home, opened with its vault's index key.
struct CacheProbe {
    let path: String
    let cache: ResponseCache
    /// The vault's index when the probe was made.
    let index: VaultIndex

    init(_ home: CommandHome) throws {
        path = home.directory.path("cache/zg-env")
        let vault = try Vault(opening: home.vaultPath, in: PosixFileStore())
        let secret = try Array(CommandHome.passphrase.utf8).withBytes {
            try SecretBytes(copying: $0)
        }
        let keys = try vault.open(with: secret, memoryLimitBytes: nil).keys
        // Only the index key, as from the keyring.
        let index = VaultKeys(
            index: IndexKey(
                try keys.index.bytes.withBytes { try SecretBytes(copying: $0) },
                epoch: keys.index.epoch), root: nil)
        #expect(!index.opensValues)
        self.index = try vault.index(with: keys, extent: .everything)
        cache = try ResponseCache(
            key: try index.derivedKey(for: .answers), vault: vault.header.vaultID, directory: path,
            complain: { Issue.record("\($0)") })
    }

    /// The names of all files.
    var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }

    /// The names of the tables.
    var tables: [String] { names.filter { $0.hasSuffix(".answers") } }

    func file(_ name: String) -> [UInt8] { SmallFile.bytes("\(path)/\(name)") }

    /// All responses. The only table must open; without a table there is nothing.
    func answers() -> [CachedResponse] {
        let answers = cache.answers()
        #expect(tables.count == (answers.isEmpty ? 0 : 1), "\(names)")
        return answers
    }

    /// What the responses are about.
    func subjects() -> [ResponseKey.Subject] { answers().map(\.address.subject) }

    /// Makes every response older.
    func age(bySeconds seconds: UInt64) throws {
        try cache.update { answers in
            try answers.map { try $0.older(byMilliseconds: seconds * 1_000) }
        }
    }
}

extension CachedResponse {
    fileprivate func older(byMilliseconds age: UInt64) throws -> CachedResponse {
        let time = (askedAt - age, #""askedAt":\#(askedAt)"#)
        let text = String(decoding: line, as: UTF8.self)
            .replacingOccurrences(of: time.1, with: #""askedAt":\#(time.0)"#)
        let older = try #require(CachedResponse(line: Array(text.utf8)))
        #expect(older.askedAt == time.0)
        return older
    }
}

/// A local port that accepts connections and never answers, or does not even accept them.
final class BlackHole {
    private let listener: Int32
    private var connections: [Int32] = []

    /// Takes the port of `url`, whose server has ended.
    ///
    /// - Parameter accepts: False to leave connections pending, as a network that drops packets
    /// does.
    init(at url: String, accepts: Bool = true) throws {
        let port = try #require(url.split(separator: ":").last.flatMap { UInt16($0) })
        listener = socket(
            AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue),
            0)
        var yes: Int32 = 1
        unsafe setsockopt(
            listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let bound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard bound == 0, listen(listener, accepts ? 64 : 0) == 0 else {
            throw SystemCallError("bind")
        }
        if accepts { return }
        // A full queue drops further connections.
        for _ in 0..<4 {
            let filler = socket(
                AF_INET,
                Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
            connections.append(filler)
            _ = unsafe withUnsafePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe connect(filler, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }
    }

    deinit {
        for connection in connections { close(connection) }
        close(listener)
    }

    /// Returns the number of connections since the last call.
    func newConnections() -> Int {
        var count = 0
        while true {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else { return count }
            _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
            connections.append(connection)
            count += 1
        }
    }
}
