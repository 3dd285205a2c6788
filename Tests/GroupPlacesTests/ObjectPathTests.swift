import GroupPlaces
import Groups
import Testing
import Vault

@Suite("Paths of objects")
struct ObjectPathTests {
    private static let hash = GroupHash(of: [1])
    private static let invite = Identifier.random()

    @Test(arguments: [
        ObjectPath.entry(1), .entry(9_999_999_999), .losingEntry(42, hash), .change(hash),
        .invite(invite), .join(invite: invite, hash),
    ])
    func `a path is its text`(path: ObjectPath) {
        #expect(ObjectPath(path.text) == path)
    }

    @Test
    func `paths are those of the format`() {
        let digits = Self.hash.hexadecimal
        #expect(ObjectPath.entry(7).text == "entries/0000000007")
        #expect(ObjectPath.losingEntry(7, Self.hash).text == "entries/0000000007-\(digits)")
        #expect(
            ObjectPath.change(Self.hash).text
                == "changes/\(digits.prefix(2))/\(digits.dropFirst(2))")
        #expect(ObjectPath.invite(Self.invite).text == "invites/\(Self.invite.hexadecimal)")
    }

    @Test
    func `everything else is refused`() {
        let (digits, invite) = (Self.hash.hexadecimal, Self.invite.hexadecimal)
        let texts = [
            "", "/", "entries", "entries/", "entries/0000000000", "entries/000000001",
            "entries/00000000001", "entries/000000000a", "entries/+000000001",
            "entries/0000000001-", "entries/0000000001-\(digits.dropLast())",
            "entries/0000000001-\(digits)0", "entries/0000000001-\(digits.uppercased())",
            "entries/0000000001/", "/entries/0000000001", "./entries/0000000001",
            "changes/\(digits)", "changes/\(digits.prefix(3))/\(digits.dropFirst(3))",
            "changes/\(digits.prefix(2))/\(digits.dropFirst(2))/", "changes//\(digits)",
            "changes/\(digits.prefix(2))/../\(digits.dropFirst(2))",
            "invites/\(invite)0", "invites/\(invite.uppercased())A", "joins/\(invite)",
            "joins/\(invite)/\(digits.prefix(62))", "joins/\(invite)/\(digits)/", "other/x",
            "entries/0000000001\0", "entries/000000000１", String(repeating: "a/", count: 1 << 20),
        ]
        for text in texts { #expect(ObjectPath(text) == nil, "\(text.prefix(100))") }
    }

    @Test
    func `bytes must fit their path`() throws {
        let bytes = [UInt8](repeating: 7, count: 1_025)
        let hash = GroupHash(of: bytes)
        #expect(PlaceObject(.change(hash), bytes) != nil)
        #expect(PlaceObject(.change(hash), [1]) == nil)
        #expect(PlaceObject(.losingEntry(1, hash), [1]) == nil)
        #expect(PlaceObject(.join(invite: Self.invite, hash), bytes) == nil, "too large")
        #expect(PlaceObject(.entry(1), []) == nil)
        #expect(PlaceObject(.entry(0), [1]) == nil)
        #expect(PlaceObject(.entry(10_000_000_000), [1]) == nil)
        let large = [UInt8](repeating: 0, count: (8 << 20) + 1)
        #expect(PlaceObject(.entry(1), large) == nil)
        #expect(PlaceObject(.entry(1), Array(large.dropLast())) != nil)
    }
}
