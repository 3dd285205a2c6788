import Foundation
import Sealing
import TestSupport
import Testing

@testable import Vault

@Suite("Vault files")
struct PosixFileStoreTests {
    @Test func `only its owner can access a vault`() throws {
        let fixture = try VaultFixture()
        let attributes = try FileManager.default.attributesOfItem(atPath: fixture.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func `loose permissions, a symbolic link, a directory and no file are distinguished`()
        throws
    {
        let fixture = try VaultFixture()
        let link = fixture.directory.path + "/link.zgv"
        #expect(unsafe symlink(fixture.path, link) == 0)
        #expect(code { _ = try Vault(opening: link, in: fixture.store) } == nil)
        #expect(code { _ = try Vault(changing: link, in: fixture.store) } == .insecure)
        let chain = fixture.directory.path + "/chain.zgv"
        #expect(unsafe symlink(link, chain) == 0)
        #expect(code { _ = try Vault(opening: chain, in: fixture.store) } == .insecure)
        #expect(
            code { _ = try Vault(opening: fixture.directory.path, in: fixture.store) } == .insecure)
        #expect(
            code { _ = try Vault(opening: fixture.path + ".not", in: fixture.store) } == .notFound)
        #expect(try fixture.open().risk == nil)
        #expect(unsafe chmod(fixture.path, 0o644) == 0)
        #expect(try fixture.open().risk == nil)
        #expect(code { try fixture.set("A", "x") } == .insecure)
        #expect(unsafe chmod(fixture.path, 0o620) == 0)
        #expect(try fixture.open().risk?.contains("older copy") == true)
        #expect(unsafe chmod(fixture.path, 0o600) == 0)
        #expect(unsafe chmod(fixture.directory.path, 0o777) == 0)
        #expect(try fixture.open().risk?.contains("older copy") == true)
        #expect(code { try fixture.set("A", "x") } == .insecure)
    }

    @Test func `a lock held by another process ends in busy with its process id`() throws {
        let fixture = try VaultFixture()
        let failFast = PosixFileStore(lockSeconds: 0)
        var reason = ""
        try fixture.store.withLock(fixture.path) {
            do {
                try failFast.withLock(fixture.path) {}
            } catch { reason = (error as? VaultError)?.reason ?? "" }
        }
        #expect(reason.contains("\(getpid())"))
    }

    @Test func `the next writer removes a killed writer's temporary file`() throws {
        let fixture = try VaultFixture()
        let stale = fixture.directory.path + "/.vault.zgv.tmp-0123456789abcdef"
        try Data("left".utf8).write(to: URL(fileURLWithPath: stale))
        try fixture.set("KEY", "value")
        #expect(!FileManager.default.fileExists(atPath: stale))
    }

    @Test func `directories above a new vault are accessible to the user alone`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/a/b/vault.zgv"
        _ = try Vault.create(
            at: path, in: PosixFileStore(), passphrase: try VaultFixture.passphrase("p"),
            recipe: .init(cost: VaultFixture.cost, keyring: nil, time: 1))
        let attributes = try FileManager.default.attributesOfItem(
            atPath: directory.path + "/a/b")
        #expect(attributes[.posixPermissions] as? Int == 0o700)
    }
}
