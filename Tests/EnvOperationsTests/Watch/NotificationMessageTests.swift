import Sealing
import TestSupport
import Testing

@testable import EnvOperations
@testable import Vault
@testable import VercelAPI

@Suite("Messages about deployments")
struct NotificationMessageTests {
    private static func pending(
        _ id: String, _ kind: DeploymentChange.Kind, project: String = "web", isLate: Bool = false
    ) -> WatchProgress.Pending {
        let phase: WatchedDeployment.Phase =
            switch kind {
            case .started: .building
            case .ready, .promoted: .ready
            case .failed: .failed
            case .canceled: .canceled
            }
        return .init(
            DeploymentChange(
                kind,
                WatchedDeployment(
                    id: id, project: "prj", phase: phase, createdAt: 1, target: "production",
                    commitMessage: "Repair it", branch: "main", creator: "ada")),
            project: project, isLate: isLate)
    }

    private static func messages(
        _ pending: [WatchProgress.Pending]
    ) -> [NotificationMessage] {
        var progress = WatchProgress()
        progress.pending = pending
        return NotificationMessage.messages(of: progress)
    }

    @Test func `one deployment has one message, about its last event`() {
        let messages = Self.messages([
            Self.pending("a", .started), Self.pending("b", .failed), Self.pending("a", .ready),
        ])
        #expect(messages.map(\.subject) == ["b", "a"])
        #expect(
            messages.map(\.title) == ["web: failed (production)", "web: ready (production)"])
        #expect(messages.map(\.body) == Array(repeating: "main: Repair it\nby ada", count: 2))
        #expect(messages.map(\.isUrgent) == [true, false])
        #expect(messages.map(\.covers.count) == [1, 2])
    }

    @Test func `many are counted by project, and very many together`() {
        let kinds: [DeploymentChange.Kind] = [.ready, .ready, .ready, .ready, .failed]
        let web = kinds.enumerated().map { Self.pending("w\($0)", $1) }
        let one = Self.messages(web)
        #expect(one.map(\.title) == ["5 deployments of web finished"])
        #expect(one.map(\.body) == ["4 ready, 1 failed"])
        let two = Self.messages(web + [Self.pending("x", .canceled, project: "api")])
        #expect(
            two.map(\.title) == ["api: canceled (production)", "5 deployments of web finished"])
        let all = Self.messages(
            (0..<9).map { Self.pending("d\($0)", $0 < 7 ? .failed : .started, project: "p\($0)") })
        #expect(all.map(\.title) == ["9 deployments of 9 projects"])
        #expect(all[0].body == "7 failed, 2 building\nfailed: p0, p1, p2, p3, p4 and 2 more")
        #expect(all[0].covers.count == 9)
    }

    @Test func `what was shown leaves the list, and what was not stays`() {
        var progress = WatchProgress()
        progress.pending = [Self.pending("a", .ready), Self.pending("b", .failed)]
        let messages = NotificationMessage.messages(of: progress)
        progress.noteTold(messages[0])
        #expect(progress.pending.map(\.change.deployment.id) == ["b"])
    }

    @Test func `nothing stored or shown of a deployment can contain a value`() throws {
        let text = #"""
            {"uid":"dpl_1","projectId":"prj_1","created":5,"readyState":"ERROR","url":"a.b",
             "target":null,"env":["MARKER"],"buildEnv":{"A":"MARKER"},"errorMessage":"MARKER",
             "errorCode":"MARKER","aliasError":{"message":"MARKER"},
             "meta":{"githubCommitMessage":"Repair it\nMARKER","githubCommitRef":"main",
             "secret":"MARKER"},"creator":{"username":"ada","email":"MARKER"}}
            """#
        let deployment = try #require(
            Array(text.utf8).withBytes { JSONDecoding.value(Deployment.self, from: $0) })
        let watched = try #require(WatchedDeployment(deployment))
        #expect(watched.phase == .failed && watched.target == "preview")
        #expect(!String(describing: watched).contains("MARKER"))
        #expect(watched.commitMessage == "Repair it")
    }

    @Test func `stored messages open only under their own key and name`() throws {
        let key = try SecretBytes.random(count: 32)
        let vault = Identifier(high: 1, low: 2)
        let sealing = try WatchSealing(key: key, vault: vault)
        var progress = WatchProgress()
        progress.pending = [Self.pending("a", .ready)]
        let file = try #require(Optional(sealing.seal(progress, as: .progress)) ?? nil)
        #expect(file.count == 4_096 + 40)
        #expect(sealing.open(file, as: .progress, WatchProgress.self) == progress)
        #expect(sealing.open(file, as: .choices, WatchProgress.self) == nil)
        let other = try WatchSealing(key: key, vault: Identifier(high: 1, low: 3))
        #expect(other.open(file, as: .progress, WatchProgress.self) == nil)
        for place in stride(from: 0, to: file.count, by: 97) {
            var changed = file
            changed[place] ^= 1
            #expect(sealing.open(changed, as: .progress, WatchProgress.self) == nil)
        }
        for count in [0, 1, 24, 40, 4_000] {
            #expect(
                sealing.open(Array(file.prefix(count)), as: .progress, WatchProgress.self) == nil)
        }
    }
}
