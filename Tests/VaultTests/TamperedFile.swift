import Foundation
import TestSupport

@testable import Vault

/// The original bytes of a vault, to be restored later.
struct TamperedFile {
    private let path: String
    private let bytes: Data

    init(_ fixture: VaultFixture) throws {
        path = fixture.path
        bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    }

    func restoreOriginal() throws {
        try bytes.write(to: URL(fileURLWithPath: path))
    }
}
