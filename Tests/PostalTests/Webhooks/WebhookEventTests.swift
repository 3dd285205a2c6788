import Postal
import PostalProtocol
import Testing

/// What is taken from a webhook, and what is not.
@Suite struct WebhookEventTests {
    private func read(_ payload: String, type: String = "deployment.ready") -> PostalEvent? {
        let body =
            #"{"id":"evt_1","type":"\#(type)","createdAt":1765432100123,"payload":{\#(payload)}}"#
        return WebhookEvent(body: Array(body.utf8))?.event(account: "team_a")
    }

    @Test func `A deployment's names are found where Vercel puts them`() throws {
        let event = try #require(
            read(
                #""team":{"id":"team_a"},"target":"production","project":{"id":"prj_1"},"#
                    + #""deployment":{"id":"dpl_1","name":"web","url":"https://web.vercel.app/","#
                    + #""meta":{"gitlabCommitRef":"main","gitlabCommitMessage":"One\n\nTwo","#
                    + #""gitlabCommitAuthorName":"ada"}}"#))
        #expect(event.account == "team_a" && event.type == .deploymentReady)
        #expect(event.project == .init(id: "prj_1", name: "web"))
        #expect(
            event.deployment
                == .init(
                    id: "dpl_1", url: "web.vercel.app", target: "production", branch: "main",
                    commit: "One", author: "ada"))
        #expect(event.variable == nil)
    }

    @Test(arguments: [
        #""project":{"id":"prj_1"},"envVar":{"id":"env_1","key":"KEY","value":"v"}"#,
        #""projectId":"prj_1","env":{"id":"env_1","key":"KEY"}"#,
        #""projectId":"prj_1","variable":{"id":"env_1","name":"KEY"}"#,
        #""projectId":"prj_1","envVarId":"env_1","envVarKey":"KEY","value":"v""#,
    ])
    func `A variable is found in several spellings, without its value`(_ payload: String) throws {
        let event = try #require(read(payload, type: "project.env-variable.deleted"))
        #expect(event.variable == .init(id: "env_1", key: "KEY"))
        #expect(event.project?.id == "prj_1")
        let text = String(decoding: try #require(event.shortenedSealedText), as: UTF8.self)
        #expect(!text.contains(#""v""#))
    }

    @Test("VER-W4: a rollback without a deployment is about the one that is live again")
    func rollback() throws {
        let event = try #require(
            read(
                #""team":null,"user":{"id":"user_1"},"project":{"id":"prj_1"},"#
                    + #""fromDeploymentId":"dpl_new","toDeploymentId":"dpl_old""#,
                type: "deployment.rollback"))
        #expect(event.type == .deploymentRollback && event.project?.id == "prj_1")
        #expect(event.deployment?.id == "dpl_old")
    }

    @Test("VER-W5: a change of variables needs neither a name nor an id", arguments: [true, false])
    func changeOfVariables(hasId: Bool) throws {
        let event = try #require(
            read(
                #""team":{"id":"team_a"},"user":null,"projectId":"prj_1","envVarId":"#
                    + (hasId ? #""env_1""# : "null"),
                type: "project.env-variable.deleted"))
        #expect(event.type.concernsVariable && event.project == .init(id: "prj_1", name: nil))
        #expect(event.variable == (hasId ? .init(id: "env_1", key: nil) : nil))
    }

    @Test func `Older type names mean the newer ones`() {
        for (name, type) in [
            ("deployment", PostalEventType.deploymentCreated),
            ("deployment-error", .deploymentError), ("project-removed", .projectRemoved),
        ] {
            #expect(read("", type: name)?.type == type)
        }
        #expect(read("", type: "flag.created") == nil)
    }

    @Test func `The longest texts still make an event that fits`() throws {
        let long = String(repeating: "\u{1F600}", count: 400)
        let event = try #require(
            read(
                #""project":{"id":"\#(long)","name":"\#(long)"},"target":"\#(long)","deployment":{"#
                    + #""id":"\#(long)","url":"\#(long)","meta":{"githubCommitRef":"\#(long)","#
                    + #""githubCommitMessage":"\#(long)","githubCommitAuthorName":"\#(long)"}}"#))
        let text = try #require(event.shortenedSealedText)
        #expect(text.count <= PostalEvent.byteLimit)
        #expect(PostalEvent(sealedText: text)?.deployment?.id == event.deployment?.id)
    }
}
