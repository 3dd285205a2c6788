import Foundation
import Testing

/// One entry of `Tests/Vectors/vectors.json`: a vault file and what a reader must find.
struct Vector: Codable, Equatable, Sendable, CustomTestStringConvertible {
    /// The secret that opens the vault, exactly one of them; ``slotKey`` comes with ``slot``.
    struct Secret: Codable, Equatable, Sendable {
        var passphrase: String?
        var recoveryCode: String?
        /// 32 bytes in hexadecimal, as the desktop's keyring stores them for ``slot``.
        var slotKey: String?
        var slot: String?
        /// The whole text of a key file.
        var keyFile: String?
    }

    /// A version of a record's value.
    struct Value: Codable, Equatable, Sendable {
        var project: String
        var key: String
        var type: String
        var targets: [String]
        var customEnvironments: [String]
        var branch: String?
        var comment: String?
        var removed: Bool
        var version: UInt64
        var current: Bool
        /// The value as text; absent if the secret opens only names.
        var value: String?
        /// The value in hexadecimal if it is not UTF-8.
        var valueHex: String?
    }

    /// The file's name in the directory of vectors.
    var file: String
    /// The one property that the file has.
    var description: String
    var secret: Secret
    /// "ok", "newer", "pre-release", "locked", or a class of damage.
    var `class`: String
    /// The exit code of a command that checks the file with the secret.
    var exit: Int32
    /// Every version of an intact vault, by project, key, scope and number.
    var values: [Value]?

    var testDescription: String { file }
}

extension Vector {
    static var directory: URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Vectors")
    }

    /// The content of `vectors.json`.
    static func read() throws -> [Vector] {
        try JSONDecoder().decode(
            [Vector].self,
            from: Data(contentsOf: directory.appendingPathComponent("vectors.json")))
    }

    /// The bytes of the file.
    func bytes() throws -> [UInt8] {
        [UInt8](try Data(contentsOf: Self.directory.appendingPathComponent(file)))
    }
}
