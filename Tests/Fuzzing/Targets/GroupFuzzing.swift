import Sealing
import Vault

@testable import Groups

/// Properties of reading any bytes as an object of a group.
enum GroupFuzzing {
    /// Decodes the bytes as an entry, change, invite or join, by their label: what is accepted is
    /// encoded to the same bytes, but for signatures, and no list takes more memory than the bytes
    /// allow.
    static func exerciseObject(_ input: [UInt8]) throws {
        var accepted = 0
        if let entry = try decoded({ () throws(GroupError) in try Entry.decode(input) }) {
            accepted += 1
            try compare(entry.signed(with: signer.pair), input, signatures: 1)
            try exerciseChain(entry, input)
        }
        if let change = try decoded({ () throws(GroupError) in try Change(input) }) {
            accepted += 1
            try compare(change, input)
        }
        if let invite = try decoded({ () throws(GroupError) in try Invite.decode(input) }) {
            accepted += 1
            let code = try GroupInviteCode(secret(16))
            // The MAC of another code takes its place, too.
            let again = try invite.signed(with: signer.pair, code: code)
            guard again.dropLast(96) == input.dropLast(96) else {
                throw FuzzFinding("an accepted invite is encoded to other bytes")
            }
            guard
                try decoded({ () throws(GroupError) in try Invite.accept(input, code: code) })
                    == nil
            else { throw FuzzFinding("an invite fits a code that nobody gave") }
        }
        if let join = try decoded({ () throws(GroupError) in try Join.decode(input) }) {
            accepted += 1
            let again = join.signed(
                write: signer.pair, authority: signer.pair, code: signer.pair)
            try compare(again, input, signatures: 3)
            guard !Join.isSigned(input, codeKey: [UInt8](repeating: 0, count: 32)) else {
                throw FuzzFinding("a join is signed by nobody")
            }
        }
        guard accepted <= 1 else { throw FuzzFinding("one object has two kinds") }
    }

    /// Decodes the bytes after the first four as the opened operations of a change whose values have
    /// the length in those: what is accepted is encoded to the same bytes, and folded.
    static func exerciseOperations(_ input: [UInt8]) throws {
        guard input.count >= 4 else { return }
        let values = input[..<3].reversed().reduce(0) { $0 << 8 | Int($1) }
        let bytes = Array(input[4...])
        var writer = ByteWriter()
        writer.section { $0.raw(bytes) }
        let length = Padding.paddedByteCount(ofValue: writer.count)
        writer.raw([UInt8](repeating: 0, count: length - writer.count))
        let padded = writer.bytes
        guard
            let content = try decoded({ () throws(GroupError) in
                try ChangeContent.decode(padded: padded, valuesByteCount: values)
            })
        else { return }
        guard content.padded() == padded else {
            throw FuzzFinding("accepted operations are encoded to other bytes")
        }
        try fold(content)
    }

    /// Folds a change twice, and after another one: no trap, and the order does not matter.
    private static func fold(_ content: ChangeContent) throws {
        let start = GroupHash(of: [])
        let chain = founder
        let key: ChangeHeader.Key = content.operations.count % 2 == 0 ? .write : .authority
        let names = [GroupHash(of: [1]), GroupHash(of: [2]), GroupHash(of: [3])]
        var changes: [ReceivedChange] = []
        for number in 0..<3 {
            let before: GroupHash = number == 0 ? .zero : names[number - 1]
            let header = ChangeHeader(
                key: key, group: chain.group, compartment: .zero, epoch: 1, author: .zero,
                chain: .zero, counter: UInt64(number) + 1, before: before, entryNumber: 1,
                entry: chain.heads.first ?? start, parents: [])
            changes.append(
                ReceivedChange(
                    name: names[number], header: header, createdAt: 0,
                    operations: content.operations, isSigned: true))
        }
        let state = CompartmentFold.state(of: changes, chain: chain)
        let again = CompartmentFold.state(of: Array(changes.reversed()) + changes, chain: chain)
        guard state == again else { throw FuzzFinding("the order of changes matters") }
        guard state.counted.count + state.late.count + state.waiting.count == 3 else {
            throw FuzzFinding("a change is lost")
        }
    }

    /// A chain with one member, the author of what is folded.
    private static let founder: MembershipChain = {
        do {
            let valueBox = try SealedBox.KeyPair(seed: secret(32, 9)).publicKey
            let indexBox = try SealedBox.KeyPair(seed: secret(32, 8)).publicKey
            let epoch = try SealedBox.KeyPair(seed: secret(32, 6)).publicKey
            let write = try SigningKeyPair(seed: secret(32, 5)).publicKey
            let box = [UInt8](repeating: 0, count: 172)
            let entry = Entry(
                number: 1, group: .zero, previous: .zero, author: .zero, createdAt: 0,
                admissions: [
                    Admission(
                        member: .zero, person: .zero, name: "a",
                        rights: MemberRights(role: .admin),
                        keys: MemberKeys(
                            write: write, authority: signer.pair.publicKey, indexBox: indexBox,
                            valueBox: valueBox))
                ],
                epochs: [
                    NewEpoch(
                        compartment: .zero, number: 1, valueKey: epoch,
                        indexCommitment: .zero, rungs: [],
                        recipients: [
                            .init(
                                member: .zero, keys: SealedKeys(indexBox: box, valueBox: box))
                        ])
                ])
            let object = entry.signed(with: signer.pair)
            var chain = MembershipChain(group: GroupHash(of: object))
            try chain.insert([object])
            return chain
        } catch { fatalError("\(error)") }
    }()

    /// Judges an entry after another one, and as the first: it is refused or waits.
    private static func exerciseChain(_ entry: Entry, _ input: [UInt8]) throws {
        var chain = founder
        try chain.insert([input])
        guard chain.heads == founder.heads, chain.refused.count + chain.waiting.count == 1 else {
            throw FuzzFinding("an entry of nobody is valid")
        }
        var own = MembershipChain(group: GroupHash(of: input))
        try own.insert([input])
        guard own.heads.isEmpty || entry.number == 1 else {
            throw FuzzFinding("a later entry is valid without its predecessor")
        }
    }

    private static func decoded<T>(_ body: () throws(GroupError) -> T) throws -> T? {
        do throws(GroupError) { return try body() } catch {
            let own: Set<GroupError.Code> = [
                .length, .label, .newer, .bounds, .encoding, .order, .layout, .code, .padding,
            ]
            guard own.contains(error.code) else { throw FuzzFinding(error.reason) }
            return nil
        }
    }

    private static func compare(
        _ again: [UInt8], _ input: [UInt8], signatures: Int
    ) throws {
        guard again.dropLast(64 * signatures) == input.dropLast(64 * signatures) else {
            throw FuzzFinding("an accepted object is encoded to other bytes")
        }
    }

    private static func compare(_ change: Change, _ input: [UInt8]) throws {
        var writer = ByteWriter()
        change.header.encode(into: &writer)
        guard input.starts(with: writer.bytes), change.values.upperBound <= input.count - 64 else {
            throw FuzzFinding("an accepted change is encoded to other bytes")
        }
    }

    /// A pair that signs nothing that a fuzzer finds.
    private final class Signer: @unchecked Sendable {
        let pair: SigningKeyPair

        init() {
            do { pair = try SigningKeyPair(seed: secret(32)) } catch { fatalError("\(error)") }
        }
    }

    private static let signer = Signer()

    private static func secret(_ count: Int, _ byte: UInt8 = 7) throws(SealingError) -> SecretBytes
    {
        try [UInt8](repeating: byte, count: count).withBytes { (bytes) throws(SealingError) in
            try SecretBytes(copying: bytes)
        }
    }
}
