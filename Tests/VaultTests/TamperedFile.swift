import Foundation
import TestSupport

@testable import Vault

/// The bytes of a vault as they are, to be put back later.
struct TamperedFile {
    private let path: String
    private let bytes: Data

    init(_ fixture: VaultFixture) throws {
        path = fixture.path
        bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    }

    func putBack() throws {
        try bytes.write(to: URL(fileURLWithPath: path))
    }
}
