import Testing

@testable import Sandbox

@Suite struct `Timestamps` {
    @Test func `times are written in ISO 8601`() {
        #expect(Timestamp.text(1_612_962_709_180) == "2021-02-10T13:11:49.180Z")
        #expect(Timestamp.text(0) == "1970-01-01T00:00:00.000Z")
        #expect(Timestamp.text(1_709_164_800_000) == "2024-02-29T00:00:00.000Z")
        #expect(Timestamp.http(1_612_962_709_180) == "Wed, 10 Feb 2021 13:11:49 GMT")
        #expect(Timestamp.http(0) == "Thu, 01 Jan 1970 00:00:00 GMT")
    }
}
