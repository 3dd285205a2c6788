import PostalProtocol
import Testing

@Suite("Events for devices") struct PostalEventTests {
    static let event = PostalEvent(
        id: "evt_1", type: .deploymentReady, createdAt: 1_765_432_100_123, account: "team_1",
        project: .init(id: "prj_1", name: "web"),
        deployment: .init(id: "dpl_1", url: "web.example", target: "production", commit: "Grüße"),
        variable: .init(id: nil, key: "DATABASE_URL"))

    @Test("are read back as written, padded")
    func roundTrip() throws {
        let text = try #require(Self.event.sealedText)
        #expect(text.count % 256 == 0)
        #expect(PostalEvent(sealedText: text) == Self.event)
        #expect(text.last == UInt8(ascii: " ") || text.last == UInt8(ascii: "}"))
    }

    @Test("are read from the documented form, ignoring unknown members")
    func page() throws {
        let text = """
            {"version":1,"id":"e","type":"project.env-variable.updated","createdAt":5,"account":"a",
             "project":{"id":"p","name":null,"more":1},"deployment":null,"variable":{"id":"v","key":"K"},
             "later":[1,2]}   
            """
        let event = try #require(PostalEvent(sealedText: Array(text.utf8)))
        #expect(event.type == .variableUpdated && event.variable?.key == "K")
        #expect(event.project?.name == nil && event.deployment == nil)
    }

    @Test(
        "of another form are none",
        arguments: [
            "", "{}", "[]", "null", "{\"version\":1}",
            #"{"version":2,"id":"e","type":"deployment.ready","createdAt":5,"account":"a"}"#,
            #"{"version":1,"id":"e","type":"deployment-ready","createdAt":5,"account":"a"}"#,
            #"{"version":1,"id":"e\u001b","type":"deployment.ready","createdAt":5,"account":"a"}"#,
            #"{"version":1,"id":"e\u202e","type":"deployment.ready","createdAt":5,"account":"a"}"#,
            #"{"version":1,"id":"e","type":"deployment.ready","createdAt":5e300,"account":"a"}"#,
        ])
    func refused(_ text: String) { #expect(PostalEvent(sealedText: Array(text.utf8)) == nil) }

    @Test("take at most 4,096 bytes and texts of 200 characters")
    func bounds() throws {
        var long = Self.event
        long.deployment?.commit = String(repeating: "é", count: 201)
        #expect(PostalEvent(sealedText: try #require(long.sealedText)) == nil)
        long.deployment?.commit = String(repeating: "\u{10FFFF}", count: 2_000)
        #expect(long.sealedText == nil)
        #expect(PostalEvent(sealedText: [UInt8](repeating: 0x20, count: 4_097)) == nil)
    }

    @Test("cut Vercel's texts to one plain line")
    func plainText() {
        #expect(PostalEvent.plainText("one\ntwo") == "one")
        #expect(PostalEvent.plainText("a\u{1b}[31mb\u{202e}c\u{200b}") == "a[31mbc")
        #expect(PostalEvent.plainText(String(repeating: "x", count: 900)).count == 200)
        #expect(PostalEvent.plainText("\u{7}\u{7}").isEmpty)
    }

    @Test("know the older names of event types")
    func olderNames() {
        #expect(PostalEventType(webhookName: "deployment-error") == .deploymentError)
        #expect(PostalEventType(webhookName: "deployment") == .deploymentCreated)
        #expect(PostalEventType(webhookName: "project.env-variable.deleted") == .variableDeleted)
        #expect(PostalEventType(webhookName: "flag.created") == nil)
    }
}
