import Foundation
import SecretServiceKeyring
import TestSupport
import Testing
import Vault

@Suite("Processes with a desktop keyring")
struct KeyringProcessTests {
    @Test func `two concurrent processes lose no item`() async throws {
        let keyring = try PrivateKeyring()
        defer { withExtendedLifetime(keyring) {} }
        let address = keyring.bus.address
        async let first: Void = storeItems("a", address)
        async let second: Void = storeItems("b", address)
        _ = await (first, second)
        let connection = keyring.connection()
        for vault in ["a", "b"] as [Character] {
            for index in 0..<20 {
                let bytes = try connection.bytes(for: .slotKey("0\(index)", of: vault))
                #expect(bytes == [UInt8(index)])
            }
        }
        #expect(try keyring.itemCount() == (40, 0))
    }

    private func storeItems(_ vault: String, _ address: String) async {
        await #expect(processExitsWith: .success) {
            [vault = vault as String, address = address as String] in
            let connection = SecretServiceKeyring(busAddress: address, limit: .seconds(20))
            for index in 0..<20 {
                let item = KeyringItem.slotKey("0\(index)", of: Character(vault))
                try connection.store([UInt8(index)], for: item)
                try #require(try connection.bytes(for: item) == [UInt8(index)])
            }
        }
    }

    @Test func `libsecret is loaded at the first call and not before`() async throws {
        let keyring = try PrivateKeyring()
        defer { withExtendedLifetime(keyring) {} }
        let address = keyring.bus.address
        await #expect(processExitsWith: .success) { [address = address as String] in
            func isLoaded() -> Bool {
                unsafe dlopen("libsecret-1.so.0", RTLD_NOW | RTLD_NOLOAD) != nil
            }
            let connection = SecretServiceKeyring(busAddress: address, limit: .seconds(20))
            try #require(!isLoaded())
            _ = try connection.status()
            try #require(isLoaded())
        }
    }

    @Test func `without libsecret the error is a missing library`() async throws {
        let keyring = try PrivateKeyring()
        defer { withExtendedLifetime(keyring) {} }
        let address = keyring.bus.address
        await #expect(processExitsWith: .success) { [address = address as String] in
            // No descriptor is free, so no library can be opened.
            var limit = rlimit(rlim_cur: 3, rlim_max: 3)
            try #require(unsafe setrlimit(__rlimit_resource_t(7), &limit) == 0)
            let connection = SecretServiceKeyring(busAddress: address, limit: .seconds(20))
            let error = #expect(throws: KeyringError.self) { try connection.status() }
            try #require(error?.code == .libraryMissing)
        }
    }

    @Test func `no descriptor of a connection is inherited by another program`() async throws {
        let keyring = try PrivateKeyring()
        defer { withExtendedLifetime(keyring) {} }
        let address = keyring.bus.address
        await #expect(processExitsWith: .success) { [address = address as String] in
            let before = try KeyringProcessTests.openDescriptors()
            let connection = SecretServiceKeyring(busAddress: address, limit: .seconds(20))
            _ = try connection.status()
            let added = try KeyringProcessTests.openDescriptors().subtracting(before)
            try #require(!added.isEmpty)
            for number in added { try #require(fcntl(number, F_GETFD) & FD_CLOEXEC != 0) }
        }
    }

    static func openDescriptors() throws -> Set<Int32> {
        let names = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        // Without the descriptor of the listing itself.
        return Set(names.compactMap { Int32($0) }.filter { fcntl($0, F_GETFD) >= 0 })
    }
}
