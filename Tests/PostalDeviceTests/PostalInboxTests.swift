import PostalProtocol
import Sealing
import Testing

@testable import PostalDevice

/// A device's key, and what a relay seals to it.
struct TestDevice {
    let opener: EventOpener

    init(_ byte: UInt8 = 7) throws {
        let arena = SecretArena(firstRegionByteCount: 4_096)
        opener = try EventOpener(
            seed: [UInt8](repeating: byte, count: 32).withBytes { try arena.copy($0) })
    }

    func box(_ event: PostalEvent) -> [UInt8] { box(event.sealedText ?? []) }

    func box(_ text: [UInt8]) -> [UInt8] {
        do {
            return try text.withBytes { try SealedBox.seal($0, to: opener.publicKey) }
        } catch {
            Issue.record("nothing can be sealed to the device: \(error)")
            return []
        }
    }

    static func event(
        _ id: String, _ type: PostalEventType = .deploymentReady, account: String = "team_1",
        project: String? = "prj_1", at time: Int64 = 1_000
    ) -> PostalEvent {
        PostalEvent(
            id: id, type: type, createdAt: time, account: account,
            project: project.map { .init(id: $0, name: "web") },
            variable: .init(id: "env_1", key: "KEY"))
    }
}

@Suite("What a device has read from a relay") struct PostalInboxTests {
    let device: TestDevice
    let accounts = ["team_1", "user_1"]

    init() throws { device = try TestDevice() }

    private func take(_ inbox: inout PostalInbox, _ number: Int64, _ event: PostalEvent)
        -> PostalInbox.Effect
    {
        inbox.take(
            .sealed(number: number, box: device.box(event)), accounts: accounts, with: device.opener
        )
    }

    @Test("takes each event once, in whatever order and however often it comes")
    func once() throws {
        var inbox = PostalInbox()
        let (first, second) = (TestDevice.event("evt_1", at: 9), TestDevice.event("evt_2", at: 5))
        #expect(take(&inbox, 4, first) == .event(first))
        #expect(take(&inbox, 4, first) == .passedOver)
        // Another number does not make it another event, and a smaller one does not go back.
        #expect(take(&inbox, 9, first) == .passedOver)
        #expect(take(&inbox, 2, second) == .event(second))
        #expect(inbox.number == 9 && inbox.newestAt == 9 && inbox.refusedCount == 0)
        for number in 10..<(10 + Int64(PostalInbox.knownLimit)) {
            #expect(take(&inbox, number, TestDevice.event("more_\(number)")) != .passedOver)
        }
        #expect(take(&inbox, 5_000, TestDevice.event("more_11")) == .passedOver)
    }

    @Test("skips what belongs to another device or key, is newer, or is not an event")
    func foreign() throws {
        var inbox = PostalInbox()
        let other = try TestDevice(8)
        let good = TestDevice.event("evt_1")
        let newer =
            #"{"version":2,"id":"e","type":"deployment.ready","createdAt":5,"account":"team_1"}"#
        var changed = device.box(good)
        changed[60] ^= 1
        let boxes = [
            device.box(TestDevice.event("evt_2", account: "team_2")), other.box(good),
            device.box(Array(newer.utf8)), device.box(Array("{}".utf8)), changed, [], [1, 2, 3],
            [UInt8](repeating: 0, count: 4_000),
        ]
        for (place, box) in boxes.enumerated() {
            let number = Int64(place) + 1
            #expect(
                inbox.take(
                    .sealed(number: number, box: box), accounts: accounts, with: device.opener)
                    == .passedOver, "\(place)")
            // Otherwise it would be sent again for ever.
            #expect(inbox.number == number)
        }
        #expect(inbox.refusedCount == boxes.count && inbox.changed.isEmpty)
        #expect(inbox.newestAt == nil)
        #expect(take(&inbox, 20, good) == .event(good))
    }

    @Test("remembers which projects' variables to check")
    func looks() throws {
        var inbox = PostalInbox()
        _ = take(&inbox, 1, TestDevice.event("1", .variableUpdated))
        _ = take(&inbox, 2, TestDevice.event("2", .variableDeleted))
        _ = take(
            &inbox, 3, TestDevice.event("3", .variableCreated, account: "user_1", project: "b"))
        _ = take(&inbox, 4, TestDevice.event("4", .deploymentReady, project: "c"))
        let (a, b) = (
            PostalInbox.Project(account: "team_1", id: "prj_1"),
            PostalInbox.Project(account: "user_1", id: "b")
        )
        #expect(inbox.changed == [a, b] && !inbox.anyMayHaveChanged)
        inbox.postpone(a)
        #expect(inbox.changed == [b, a])
        inbox.markRefreshed(at: b)
        #expect(inbox.changed == [a])
        // An event without a project, too many of them, and a gap may concern any project.
        _ = take(&inbox, 5, TestDevice.event("5", .variableUpdated, project: nil))
        #expect(inbox.anyMayHaveChanged)
        inbox.scheduleRefresh(at: [a, b])
        #expect(inbox.changed == [a, b] && !inbox.anyMayHaveChanged)
        for number in 0..<300 {
            _ = take(
                &inbox, 6, TestDevice.event("p\(number)", .variableUpdated, project: "p\(number)"))
        }
        #expect(inbox.changed.count == PostalInbox.projectLimit && inbox.anyMayHaveChanged)
    }

    @Test("takes a gap once, and notices that the device was removed")
    func gaps() throws {
        var inbox = PostalInbox()
        func take(_ message: RelayMessage) -> PostalInbox.Effect {
            inbox.take(message, accounts: accounts, with: device.opener)
        }
        #expect(take(.missed(number: 12, count: 3)) == .missed(3))
        #expect(take(.missed(number: 12, count: 3)) == .passedOver)
        #expect(take(.missed(number: 13, count: 0)) == .missed(0))
        #expect(take(.removed) == .removed)
        #expect(take(.unreadable(number: nil)) == .passedOver)
        #expect(take(.unreadable(number: 20)) == .passedOver)
        #expect(inbox.number == 20 && inbox.anyMayHaveChanged && inbox.refusedCount == 2)
    }
}
