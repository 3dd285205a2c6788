import CLinux
import Foundation
import Glibc
import Sealing
import TestSupport
import Testing
import Vault

@testable import KernelKeyring

@Suite("The unlock cache in this machine's kernel")
struct UnlockCacheTests {
    @Test func `a cached root is found again in the same session`() throws {
        let found = try LoginThread.run(.session) {
            let cache = UnlockCache.unused()
            let before = try cache.found()
            try Kept().store(in: cache)
            return [before, try cache.found()]
        }
        #expect(found == [nil, Kept(endsAt: 1_100)])
    }

    @Test func `a second one replaces the first`() throws {
        let found = try LoginThread.run(.session) {
            let cache = UnlockCache.unused()
            try Kept(byte: 1).store(in: cache, for: 100)
            let later = VaultPosition(generation: .max, indexTag: Array(repeating: 255, count: 16))
            try Kept(byte: 2, position: later).store(in: cache, for: 50)
            return try cache.found()
        }
        let later = VaultPosition(generation: .max, indexTag: Array(repeating: 255, count: 16))
        #expect(found == Kept(byte: 2, position: later, endsAt: 1_050))
    }

    @Test func `another session of the user finds nothing, unless it is for all`() throws {
        let cache = UnlockCache.unused()
        let found = try LoginThread.run(.session) {
            try Kept().store(in: cache)
            let other = try LoginThread.run(.session) { try cache.found() }
            try Kept(byte: 9, scope: .user).store(in: cache, for: 200)
            let shared = try LoginThread.run(.session) { try cache.found() }
            let linked = try LoginThread.run(.sessionWithUserKeyring) { try cache.found() }
            let own = try cache.found()
            try UnlockCache.lock(cache.vault)
            return [other, shared, linked, own]
        }
        let shared = Kept(byte: 9, endsAt: 1_200, scope: .user)
        #expect(found == [nil, shared, shared, shared])
    }

    @Test func `of a session's and a user's, the one that expires later is used`() throws {
        let cache = UnlockCache.unused()
        let found = try LoginThread.run(.session) {
            try Kept(byte: 1).store(in: cache, for: 300)
            try Kept(byte: 2, scope: .user).store(in: cache, for: 200)
            let both = try cache.found()
            try cache.remove(.session)
            let user = try cache.found()
            try cache.remove(.user)
            return [both, user, try cache.found()]
        }
        #expect(found.map { $0?.byte } == [1, 2, nil])
    }

    @Test func `vaults and epochs do not see each other's keys`() throws {
        let vault = Identifier.random()
        let found = try LoginThread.run(.session) {
            try Kept(byte: 1).store(in: UnlockCache(vault: vault, epoch: 1))
            try Kept(byte: 2).store(in: UnlockCache(vault: vault, epoch: 2))
            let epochs = try (1...3).map { try UnlockCache(vault: vault, epoch: $0).found()?.byte }
            return epochs + [try UnlockCache.unused().found()?.byte]
        }
        #expect(found == [1, 2, nil, nil])
    }

    // MARK: - The four failures

    @Test(arguments: [false, true])
    func `another user who inherits the session finds nothing`(_ linksUserKeyring: Bool) throws {
        let state: LoginThread.State = linksUserKeyring ? .sessionWithUserKeyring : .session
        let cache = UnlockCache.unused()
        let seen = try LoginThread.run(state) { () -> [Bool] in
            try Kept().store(in: cache)
            // What a key readable by its possessor would reveal in the same place.
            let control = "zg-env-test:\(UUID().uuidString)"
            let naive = try [UInt8](repeating: 3, count: 40).withBytes {
                try KernelKey.put(
                    $0, description: control, seconds: 60, access: .possessor, into: .user)
            }
            let session = try SessionKeyring.own()
            let key = try KernelKey.user.search(cache.keyDescription)
            let root = try session.search(cache.rootDescription)
            try LoginThread.becomeNobody()
            func isReadable(_ key: KernelKey?, _ count: Int) throws -> Bool {
                try key?.payload(count: count) != nil
            }
            return [
                key != nil, root != nil,
                try cache.found() != nil,
                try isReadable(key, 40),
                try isReadable(try session.search(cache.keyDescription), 40),
                try isReadable(root, 104),
                try isReadable(naive, 40),
            ]
        }
        // The other user can read the sealed root through possession; U cannot be read, and a key
        // for its possessor in U's place could be, as soon as the login links the user keyring.
        #expect(seen == [true, true, false, false, false, true, linksUserKeyring])
    }

    @Test func `a login without a session keyring is reported, and can unlock for the user`() throws
    {
        let cache = UnlockCache.unused()
        let seen = try LoginThread.run(.withoutSession) { () -> [KernelKeyringError.Code?] in
            let codes = [
                code { try UnlockCache.check(.session) },
                code { try Kept().store(in: cache) },
                code { try UnlockCache.check(.user) },
            ]
            guard try cache.found() == nil else { return [] }
            try Kept(scope: .user).store(in: cache)
            guard try cache.found()?.scope == .user else { return [] }
            try UnlockCache.lock(cache.vault)
            return codes
        }
        #expect(seen == [.noSession, .noSession, nil])
    }

    @Test func `locking in one session locks all`() throws {
        let cache = UnlockCache.unused()
        let other = UnlockCache.unused()
        let found = try LoginThread.run(.session) {
            try Kept().store(in: cache)
            try Kept().store(in: UnlockCache(vault: cache.vault, epoch: 2))
            try Kept().store(in: other)
            let locked = try LoginThread.run(.session) {
                [
                    try UnlockCache.lock(cache.vault),
                    try UnlockCache.lock(cache.vault),
                ]
            }
            let left = [
                try cache.found(), try UnlockCache(vault: cache.vault, epoch: 2).found(),
                try other.found(),
            ]
            return locked + left.map { $0 != nil }
        }
        #expect(found == [true, false, false, false, true])
    }

    @Test func `unlocking after a lock elsewhere does not open the old session again`() throws {
        let cache = UnlockCache.unused()
        let found = try LoginThread.run(.session) {
            try Kept(byte: 1).store(in: cache)
            let second = try LoginThread.run(.session) {
                try UnlockCache.lock(cache.vault)
                try Kept(byte: 2).store(in: cache)
                return try cache.found()?.byte
            }
            let first = try cache.found()?.byte
            try Kept(byte: 3).store(in: cache)
            return [second, first, try cache.found()?.byte]
        }
        #expect(found == [2, nil, 3])
    }

    @Test func `a revoked session keyring is reported, and unlocking for the user works`() throws {
        let cache = UnlockCache.unused()
        let seen = try LoginThread.run(.revokedSession) { () -> [KernelKeyringError.Code?] in
            let codes = [
                code { try UnlockCache.check(.session) },
                code { try Kept().store(in: cache) },
                code { _ = try cache.find(now: 1_000) },
            ]
            try Kept(scope: .user).store(in: cache)
            guard try cache.found()?.scope == .user else { return [] }
            try UnlockCache.lock(cache.vault)
            return codes
        }
        #expect(seen == [.sessionEnded, .sessionEnded, nil])
    }

    // MARK: - Time

    @Test func `the kernel removes both keys`() throws {
        let cache = UnlockCache.unused()
        let found = try LoginThread.run(.session) {
            try Kept().store(in: cache, for: 1)
            let before = try cache.found()
            usleep(2_200_000)
            let gone = [
                try KernelKey.user.search(cache.keyDescription),
                try SessionKeyring.own().search(cache.rootDescription),
            ]
            return [before != nil, try cache.found() != nil] + gone.map { $0 != nil }
        }
        #expect(found == [true, false, false, false])
    }

    @Test func `a shorter time in one session does not end another`() throws {
        let cache = UnlockCache.unused()
        let found = try LoginThread.run(.session) {
            try Kept(byte: 1).store(in: cache, for: 100)
            let second = try LoginThread.run(.session) {
                try Kept(byte: 2).store(in: cache, for: 1)
                let before = try cache.found()?.byte
                usleep(2_200_000)
                return [before, try cache.found()?.byte]
            }
            return second + [try cache.found()?.byte]
        }
        #expect(found == [2, nil, 1])
    }

    @Test func `a longer time in another session keeps the shared key alive`() throws {
        let cache = UnlockCache.unused()
        let found = try LoginThread.run(.session) {
            try Kept(byte: 1).store(in: cache, for: 1)
            return try LoginThread.run(.session) {
                try Kept(byte: 2).store(in: cache, for: 100)
                usleep(2_200_000)
                return try cache.found()?.byte
            }
        }
        #expect(found == 2)
    }

    @Test func `SEC-F17: the sealed expiry applies, however long the kernel keeps the keys`() throws
    {
        let cache = UnlockCache.unused()
        let found = try LoginThread.run(.session) { () -> [UInt64?] in
            try Kept().store(in: cache, for: 100)
            return try [1_000, 1_099, 1_100, 1_101, .max].map {
                try cache.found(now: $0)?.endsAt
            }
        }
        // The keys exist all the time: the kernel counts its own hundred seconds.
        #expect(found == [1_100, 1_100, nil, nil, nil])
    }

    @Test func `SEC-F17: payloads restored after their expiry do not unlock`() throws {
        let cache = UnlockCache.unused()
        let found = try LoginThread.run(.session) { () -> [Bool] in
            let session = try SessionKeyring.own()
            try Kept().store(in: cache, for: 100)
            func payload(_ keyring: KernelKey, _ name: String, _ count: Int) throws -> [UInt8] {
                try keyring.search(name)?.payload(count: count)?.withBytes { bytes in
                    (0..<count).map { bytes.byte(at: $0) }
                } ?? []
            }
            let key = try payload(.user, cache.keyDescription, 40)
            let root = try payload(session, cache.rootDescription, 104)
            try UnlockCache.lock(cache.vault)
            let locked = try cache.found() != nil
            try put(key, cache.keyDescription, .user, .owner)
            try put(root, cache.rootDescription, session)
            // The threat model allows it to the same user: before its expiry it is valid.
            return [locked, try cache.found(now: 1_050) != nil, try cache.found(now: 1_100) != nil]
        }
        #expect(found == [false, true, false])
    }

    // MARK: - Foreign and damaged payloads

    @Test func `any changed byte of the sealed root means locked`() throws {
        let cache = UnlockCache.unused()
        let opened = try LoginThread.run(.session) {
            try Kept().store(in: cache)
            let session = try SessionKeyring.own()
            guard let sealed = try session.search(cache.rootDescription)?.payload(count: 104) else {
                return [-1]
            }
            let bytes = sealed.withBytes { bytes in (0..<104).map { bytes.byte(at: $0) } }
            var opened: [Int] = []
            for position in 0..<104 {
                var changed = bytes
                changed[position] ^= 0x10
                try put(changed, cache.rootDescription, session)
                if try cache.found() != nil { opened.append(position) }
            }
            try put(bytes, cache.rootDescription, session)
            return try cache.found() == nil ? [-2] : opened
        }
        #expect(opened == [])
    }

    @Test(arguments: [1, 39, 41, 103, 105, 4_096])
    func `a payload of another length means locked`(_ length: Int) throws {
        let cache = UnlockCache.unused()
        let found = try LoginThread.run(.session) {
            try Kept().store(in: cache)
            try put([UInt8](repeating: 1, count: length), cache.rootDescription, .own())
            let root = try cache.found()
            try Kept().store(in: cache)
            try put([UInt8](repeating: 1, count: length), cache.keyDescription, .user, .owner)
            return [root, try cache.found()]
        }
        #expect(found == [nil, nil])
    }

    @Test func `a sealed root of another vault or epoch does not open`() throws {
        let vault = Identifier.random()
        let (first, second) = (
            UnlockCache(vault: vault, epoch: 1), UnlockCache(vault: vault, epoch: 2)
        )
        let third = UnlockCache.unused()
        let found = try LoginThread.run(.session) {
            let session = try SessionKeyring.own()
            try Kept().store(in: first)
            for other in [second, third] {
                try Kept().store(in: other)
                // The same U, so that only the associated data differs.
                try copy(first.keyDescription, other.keyDescription, 40, .user, .owner)
                try copy(first.rootDescription, other.rootDescription, 104, session, .possessor)
            }
            return [try first.found(), try second.found(), try third.found()].map { $0 != nil }
        }
        #expect(found == [true, false, false])
    }

    // MARK: - Permissions of the keys

    @Test func `the keys belong to their owner and possessor, and nothing stays staged`()
        throws
    {
        let cache = UnlockCache.unused()
        let seen = try LoginThread.run(.session) { () -> [String] in
            try Kept().store(in: cache)
            let key = try KernelKey.user.search(cache.keyDescription)
            let root = try SessionKeyring.own().search(cache.rootDescription)
            let process = KernelKey(serial: -2)
            return [key, root].map(permissions)
                + [String(try process.children().count)]
        }
        #expect(seen == ["003b0000", "3b000000", "0"])
    }

    @Test(arguments: [ENOSYS, EPERM])
    func `if the calls are forbidden, every operation reports it`(_ number: Int32) throws {
        let cache = UnlockCache.unused()
        let codes = try LoginThread.run(.forbidden(number)) {
            [
                code { try UnlockCache.check(.session) }, code { try UnlockCache.check(.user) },
                code { try Kept().store(in: cache) }, code { _ = try cache.find(now: 1_000) },
                code { try UnlockCache.lock(nil) },
            ]
        }
        #expect(codes == Array(repeating: .unavailable, count: 5))
    }
}

/// Writes any bytes in place of a key of the cache.
private func put(
    _ bytes: [UInt8], _ description: String, _ keyring: KernelKey,
    _ access: KernelKey.Access = .possessor
) throws {
    try bytes.withBytes {
        _ = try KernelKey.put(
            $0, description: description, seconds: 60, access: access, into: keyring)
    }
}

private func copy(
    _ source: String, _ target: String, _ count: Int, _ keyring: KernelKey,
    _ access: KernelKey.Access
) throws {
    let payload = try keyring.search(source)?.payload(count: count)
    let bytes = payload?.withBytes { bytes in (0..<count).map { bytes.byte(at: $0) } } ?? []
    try put(bytes, target, keyring, access)
}

extension KernelKey {
    fileprivate static func own() throws -> KernelKey { try SessionKeyring.own() }
}

/// The permissions that the kernel reports for a key, eight hexadecimal digits.
private func permissions(_ key: KernelKey?) -> String {
    var text = [CChar](repeating: 0, count: 512)
    guard let key, unsafe zg_key_describe(key.serial, &text, text.count) > 0 else { return "" }
    let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    let fields = String(decoding: bytes, as: UTF8.self).split(separator: ";")
    return fields.count > 3 ? String(fields[3]) : ""
}
