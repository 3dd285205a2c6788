import Foundation
import HTTPClient
import Sealing
import Testing
import VercelAPI

@Suite struct `Users, projects, deployments and the rest` {
    @Test(arguments: [
        (#"{"user":{"id":"u","username":"a","limited":true}}"#, true),
        (#"{"user":{"uid":"u","name":null,"defaultTeamId":null}}"#, false),
        (#"{"id":"u","email":"a@b"}"#, false),
    ])
    func `a user is read in several forms`(body: String, isLimited: Bool) throws {
        let api = try FakeAPI(.answer(200, body), scope: .team(id: "team_1"))
        let user = try api.client.user()
        #expect(user.id == "u" && user.isLimited == isLimited)
        #expect(api.transport.sent[0].target == "/v2/user")
    }

    @Test func `teams are read in every form`() throws {
        let api = try FakeAPI(
            .answer(
                200,
                #"{"teams":[{"id":"team_1","slug":"a","name":null,"membership":{"role":"OWNER"},"limited":{"x":1},"sensitiveEnvironmentVariablePolicy":"on"}],"pagination":{"next":null}}"#
            ))
        let team = try #require(try api.client.teams().first)
        #expect(team.slug == "a" && team.sensitivePolicy == "on")
    }

    @Test func `a project is read with its production deployment and latest request`() throws {
        let body = #"""
            {"id":"prj_1","name":"web","accountId":"team_1","updatedAt":1.7e12,"framework":null,
            "link":{"type":"gitlab","projectNamespace":"g","projectName":"web","productionBranch":"main"},
            "targets":{"production":{"id":"dpl_1","readyState":"READY","readySubstate":"PROMOTED","aliasAssigned":1700000000000}},
            "latestDeployments":[{"uid":"dpl_2","state":"BUILDING"},{"broken":1}],
            "lastAliasRequest":{"jobStatus":"in-progress","toDeploymentId":"dpl_3","requestedAt":5,"type":"rollback"},
            "rollingRelease":null}
            """#
        let api = try FakeAPI(.answer(200, body))
        let project = try api.client.project("web", withRollbackInfo: true)
        #expect(api.transport.sent[0].target == "/v9/projects/web?rollbackInfo=true")
        #expect(project.production?.id == "dpl_1")
        #expect(project.production?.substate == .promoted)
        #expect(project.production?.isAliasAssigned == true)
        #expect(project.updatedAt?.milliseconds == 1_700_000_000_000)
        #expect(project.link?.productionBranch == "main")
        #expect(project.latestDeployments.map(\.state) == [.building])
        #expect(project.lastAliasRequest?.jobStatus == .inProgress)
        let bare = try FakeAPI(
            .answer(
                200,
                #"{"id":"p","name":"n","targets":{"production":null},"link":null,"lastAliasRequest":null,"rollingRelease":{"target":"x"}}"#
            ))
        let other = try bare.client.project("n")
        #expect(other.production == nil && other.lastAliasRequest == nil)
    }

    @Test(arguments: [
        (
            #"{"uid":"d","state":"READY","created":5,"aliasAssigned":true}"#,
            Deployment.State.ready, true, true
        ),
        (
            #"{"id":"d","readyState":"READY","createdAt":5,"aliasAssigned":1700000000000}"#, .ready,
            true, true
        ),
        (#"{"id":"d","status":"READY","createdAt":5,"aliasAssigned":null}"#, .ready, false, false),
        (
            #"{"id":"d","readyState":"READY","createdAt":5,"aliasAssigned":false,"aliasError":{"code":"x"}}"#,
            .ready, false, true
        ),
        (
            #"{"id":"d","readyState":"READY","createdAt":5,"checks":{"deployment-alias":{"state":"failed"}}}"#,
            .ready, false, true
        ),
        (#"{"id":"d","readyState":"CANCELED","createdAt":5}"#, .canceled, false, true),
        (#"{"id":"d","readyState":"BLOCKED","createdAt":5}"#, .blocked, false, true),
        (
            #"{"id":"d","readyState":"LAMBDA_ERROR","createdAt":5}"#,
            .init(rawValue: "LAMBDA_ERROR"), false, true
        ),
        (
            #"{"id":"d","readyState":"SOMETHING_NEW","createdAt":5}"#,
            .init(rawValue: "SOMETHING_NEW"), false, false
        ),
        (#"{"id":"d","createdAt":5}"#, .init(rawValue: "UNKNOWN"), false, false),
    ])
    func `a deployment is read in several forms`(
        body: String, state: Deployment.State, isAssigned: Bool, isSettled: Bool
    ) throws {
        let api = try FakeAPI(.answer(200, body))
        let deployment = try api.client.deployment("d")
        #expect(deployment.id == "d")
        #expect(deployment.state == state)
        #expect(deployment.createdAt == APITime(milliseconds: 5))
        #expect(deployment.isAliasAssigned == isAssigned)
        #expect(deployment.isSettled == isSettled)
    }

    @Test func `Vercel filters deployments`() throws {
        let api = try FakeAPI(.answer(200, #"{"deployments":[],"pagination":{}}"#))
        var filter = DeploymentFilter()
        filter.projectId = "prj_1"
        filter.target = "production"
        filter.states = [.ready, .error]
        filter.branch = "a&b"
        filter.since = APITime(milliseconds: 7)
        filter.isRollbackCandidate = true
        filter.limit = 500
        _ = try api.client.deployments(filter)
        #expect(
            api.transport.sent[0].target
                == "/v6/deployments?projectId=prj_1&target=production&state=READY%2CERROR&branch=a%26b&since=7&rollbackCandidate=true&limit=100"
        )
    }

    @Test func `a redeploy names its source, its cache and its commit`() throws {
        let api = try FakeAPI(.answer(200, #"{"id":"dpl_2","readyState":"QUEUED"}"#))
        var new = NewDeployment(sourceId: "dpl_1", projectName: "web", target: "production")
        #expect(try api.client.createDeployment(new).id == "dpl_2")
        new.usesCache = true
        new.usesLatestCommit = true
        new.target = nil
        new.customEnvironment = "env_1"
        new.action = "promote"
        _ = try api.client.createDeployment(new)
        #expect(
            api.transport.sent.map(\.target) == [
                "/v13/deployments?forceNew=1", "/v13/deployments?forceNew=1&withCache=1",
            ])
        #expect(
            api.transport.sent.map(\.body) == [
                #"{"deploymentId":"dpl_1","name":"web","target":"production","meta":{"action":"redeploy"}}"#,
                #"{"deploymentId":"dpl_1","name":"web","customEnvironmentSlugOrId":"env_1","withLatestCommit":true,"meta":{"action":"promote"}}"#,
            ])
        #expect(api.transport.sent.allSatisfy { !$0.isRepeatable })
    }

    @Test func `promotion, rollback, canceling and deleting`() throws {
        let api = try FakeAPI(
            .answer(201, ""), .answer(202, ""), .answer(201, ""),
            .answer(200, #"{"id":"d","readyState":"CANCELED"}"#),
            .answer(200, #"{"uid":"d","state":"DELETED"}"#))
        #expect(try api.client.promote("dpl_1", ofProject: "prj_1") == .accepted)
        #expect(try api.client.promote("dpl_1", ofProject: "prj_1") == .queued)
        #expect(
            try api.client.rollBack(to: "dpl_0", ofProject: "prj_1", reason: "bad key")
                == .accepted)
        #expect(try api.client.cancelDeployment("d").state == .canceled)
        #expect(try api.client.deleteDeployment("d") == .deleted)
        #expect(
            api.transport.sent.map { "\($0.method) \($0.target) \($0.body ?? "-")" } == [
                "POST /v10/projects/prj_1/promote/dpl_1 {}",
                "POST /v10/projects/prj_1/promote/dpl_1 {}",
                "POST /v1/projects/prj_1/rollback/dpl_0?description=bad%20key {}",
                "PATCH /v12/deployments/d/cancel -", "DELETE /v13/deployments/d -",
            ])
        let unknown = try FakeAPI(.broken(.cut))
        #expect(
            unknown.error { _ = try unknown.client.promote("d", ofProject: "p") }?.code
                == .outcomeUnknown)
        let impossible = try FakeAPI(.answer(422, "{}"))
        #expect(
            impossible.error { _ = try impossible.client.promote("d", ofProject: "p") }?.code
                == .notPossible)
    }

    @Test func `domains that moved are read in both forms`() throws {
        let api = try FakeAPI(
            .answer(
                200,
                #"{"aliases":[{"status":"failed","alias":"a.b","id":"1"},{"status":"completed","alias":{"alias":"c.d","deploymentId":"x"},"id":"2"}]}"#
            ))
        #expect(
            try api.client.promotionAliases(ofProject: "p", failedOnly: true).map(\.alias)
                == ["a.b", "c.d"])
    }

    @Test func `a token's own details are read`() throws {
        let api = try FakeAPI(
            .answer(
                200,
                #"{"token":{"id":"t1","name":"ci","expiresAt":9,"leakedAt":7,"leakedUrl":"https://x","scopes":[{"type":"team","teamId":"team_1"},{"type":"user"}]}}"#
            ))
        let token = try api.client.currentToken()
        #expect(token.leakedAt?.milliseconds == 7 && token.expiresAt?.milliseconds == 9)
        #expect(api.transport.sent[0].target == "/v5/user/tokens/current")
    }

    @Test func `webhooks are created, listed and deleted`() throws {
        let hook =
            #"{"id":"h1","url":"https://x","events":["deployment.created"],"secret":"s\u0041"}"#
        let api = try FakeAPI(
            .answer(200, hook), .answer(200, "[\(hook)]"), .answer(200, "{\"webhooks\":[\(hook)]}"),
            .answer(204, ""))
        let made = try api.client.createWebhook(
            url: "https://x", events: ["deployment.created"], projectIds: ["prj_1"],
            secretInto: api.arena)
        #expect(made.secret.exposedText == "sA")
        #expect(try api.client.webhooks(ofProject: "prj_1").map(\.id) == ["h1"])
        #expect(try api.client.webhooks().map(\.id) == ["h1"])
        #expect(try api.client.deleteWebhook("h1") == .deleted)
        #expect(
            api.transport.sent[0].body
                == #"{"url":"https://x","events":["deployment.created"],"projectIds":["prj_1"]}"#)
        let mute = try FakeAPI(.answer(200, #"{"id":"h1","url":"https://x","events":[]}"#))
        #expect(
            mute.error {
                _ = try mute.client.createWebhook(
                    url: "https://x", events: ["a"], secretInto: mute.arena)
            }?.code == .malformedAnswer)
    }

    @Test func `any response is decoded or refused, never a trap`() throws {
        var generator = SeededGenerator(seed: 6)
        let seeds = [
            #"{"id":"1","key":"K","name":"n","type":"plain","target":["a"],"value":"v","createdAt":1,"envs":[{"id":"1","key":"K"}],"env":{"A":"b"},"pagination":{"next":null}}"#,
            #"{"uid":"1","readyState":"READY","meta":{"a":1,"b":"c"},"checks":{"deployment-alias":{"state":"x"}},"deployments":[{"uid":"2"}],"user":{"id":"u"}}"#,
            #"{"error":{"code":"x","message":"y","limit":{"reset":99999999999999999999}},"failed":[{"error":{}}]}"#,
        ]
        let pieces = [
            "null", "[]", "{}", "\"\"", "-1", "1e400", "9223372036854775808", "true", "[[[[",
        ]
        for _ in 0..<4_000 {
            var text = Array(seeds[Int.random(in: 0..<seeds.count, using: &generator)])
            for _ in 0..<Int.random(in: 1..<5, using: &generator) {
                let start = Int.random(in: 0..<text.count, using: &generator)
                let end = Int.random(in: start...min(start + 8, text.count), using: &generator)
                text.replaceSubrange(
                    start..<end, with: pieces[Int.random(in: 0..<pieces.count, using: &generator)])
            }
            let status = [200, 201, 400, 403, 429].randomElement(using: &generator) ?? 200
            let api = try FakeAPI(.answer(status, String(text)))
            let client = api.client
            _ = api.error { _ = try client.user() }
            _ = api.error { _ = try client.project("p") }
            _ = api.error { _ = try client.deployment("d") }
            _ = api.error { _ = try client.latestEvents(ofDeployment: "d", limit: 5) }
            _ = api.error {
                _ = try client.environmentVariables(ofProject: "p", valuesInto: api.arena)
            }
            _ = api.error {
                _ = try client.pulledEnvironment(ofDeployment: "d", valuesInto: api.arena)
            }
        }
    }
}
