import Foundation
import Testing
import Threads

@testable import Postal

/// The end of the server, at which the library ends the process if a connection is suspended.
@Suite struct ServerEndTests {
    @Test func `A request whose body arrives during shutdown is answered, and not processed`()
        throws
    {
        let (heads, works) = (Monitor(0), Monitor(0))
        let server = HTTPServer(
            .init(address: "127.0.0.1", port: 0, peers: []), metrics: Metrics(),
            steady: { 0 },
            plan: { _ in
                heads.change { $0 += 1 }
                return .work(.kept(limit: 100)) { _, _, reply in
                    works.look { $0 += 1 }
                    reply(HTTPAnswer(status: 204))
                }
            },
            readStream: { _ in }, streamEnded: { _ in })
        let port = try #require(server.start())
        let (first, late) = (try RelayClient(port: port), try RelayClient(port: port))
        #expect(try first.request("POST", "/", body: "in time").status == 204)
        try late.write("POST / HTTP/1.1\r\nHost: relay\r\nContent-Length: 4\r\n\r\n")
        #expect(heads.wait(milliseconds: 60_000) { $0 == 2 ? true : nil } == true)
        server.quiesce(milliseconds: 10_000)
        try late.write("late")
        let answer = try late.answer()
        #expect(answer.status == 503 && answer.code == "busy")
        #expect(answer.head.contains("Connection: close"))
        #expect(works.look { $0 } == 1)
        server.stop()
    }
}
