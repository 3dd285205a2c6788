import SyncPlan
import Testing

/// Cases by name: what others did, what the listing hides, and what the platform refuses.
@Suite("A plan and what others did")
struct PlannedConflictsTests {
    private let first = Content(.known(1), .encrypted)
    private let second = Content(.known(2), .encrypted)

    @Test func `overwrites no change by someone else`() throws {
        var world = ModelWorld("KEY")
        try world.agree([Place.production, Place.preview], first)
        try world.platform.change(0, isOurs: false) { $0.value = 9_051 }
        world.want([Place.production], second)
        world.planAll()
        #expect(world.requests.isEmpty)
        #expect(world.plan[0].conflicts.map(\.target) == [Place.production])
        #expect(world.plan[0].conflicts.map(\.reason) == [.changedThere])
        #expect(world.plan[0].behind == [Place.preview])

        world.keys[0].choices.force = true
        try world.push()
        #expect(world.value(Place.production)?.value == 102)
        #expect(world.value(Place.preview)?.value == 101)
    }

    @Test func `takes a record that moved for unchanged only if its value was read`() throws {
        for type in [ValueType.encrypted, .sensitive] {
            var world = ModelWorld("KEY")
            try world.agree([Place.production], Content(.known(1), type))
            try world.platform.change(0, isOurs: false) { _ in }
            world.want([Place.production], Content(.known(2), type))
            #expect(world.state(of: 0).recordsToRead == (type == .encrypted ? ["r1"] : []))
            world.planAll()
            #expect(world.requests.isEmpty == !type.isReadable)
            #expect(world.plan[0].conflicts.isEmpty == type.isReadable)
        }
    }

    @Test func `names what was removed, and what was never seen`() throws {
        var world = ModelWorld("KEY")
        try world.agree([Place.production], first)
        world.platform.records = []
        try world.platform.create("KEY", [Place.preview], 9_051, .plain, isOurs: false)
        world.want([Place.production, Place.preview], second)
        world.planAll()
        #expect(world.requests.isEmpty)
        #expect(world.plan[0].conflicts.map(\.reason) == [.removedThere, .unseenThere])
        #expect(world.plan[0].conflicts.map(\.record) == [nil, "r2"])
    }

    @Test func `deletes what only the platform has if the user asks for it`() throws {
        var world = ModelWorld("KEY")
        try world.platform.create("KEY", [Place.preview], 9_051, .plain, isOurs: false)
        try world.push()
        #expect(world.requests.isEmpty && world.plan[0].behind == [Place.preview])
        world.keys[0].choices.force = true
        world.planAll()
        #expect(world.requests.isEmpty)
        world.keys[0].choices.pruned = [Place.production]
        world.planAll()
        #expect(world.requests.isEmpty)
        world.keys[0].choices.pruned = [Place.preview]
        try world.push()
        #expect(world.platform.records.isEmpty)
    }

    @Test func `deletes nothing that changed since it was removed here`() throws {
        var world = ModelWorld("KEY")
        try world.agree([Place.production], first)
        try world.platform.change(0, isOurs: false) { $0.value = 9_051 }
        world.want([Place.production], nil)
        world.planAll()
        #expect(world.requests.isEmpty)
        #expect(world.plan[0].conflicts.map(\.reason) == [.changedThere])
    }

    @Test func `sends a hidden value again if its request may have arrived`() throws {
        for isOurs in [true, false] {
            var world = ModelWorld("KEY")
            try world.agree([Place.production], Content(.known(1), .sensitive))
            world.want([Place.production], Content(.known(2), .sensitive))
            world.planAll()
            var stopped = world
            try world.send { if $2 == .beforeNote { stopped = $0 } }
            // Somebody else has the last word, and the platform names the author only.
            if !isOurs { try stopped.platform.change(0, isOurs: false) { $0.value = 9_051 } }
            stopped.planAll()
            #expect(stopped.steps == (isOurs ? ["r1 [0] value"] : []))
            #expect(stopped.plan[0].conflicts.isEmpty == isOurs)
        }
    }

    @Test func `overwrites no comment that someone else changed after a request was lost`() throws {
        var world = ModelWorld("KEY")
        try world.agree([Place.production], first)
        world.want([Place.production], second)
        world.planAll()
        var stopped = world
        try world.send { if $2 == .beforeNote { stopped = $0 } }
        try stopped.platform.change(0, isOurs: false) { $0.comment = "theirs" }
        stopped.planAll()
        #expect(stopped.requests.isEmpty)
        #expect(stopped.plan[0].conflicts.map(\.reason) == [.changedThere])
    }

    @Test func `overwrites no type that someone else changed after a request was lost`() throws {
        var world = ModelWorld("KEY")
        try world.agree([Place.production], first)
        world.want([Place.production], second)
        world.planAll()
        var stopped = world
        try world.send { if $2 == .beforeNote { stopped = $0 } }
        try stopped.platform.change(0, isOurs: false) { $0.type = .plain }
        stopped.planAll()
        #expect(stopped.requests.isEmpty)
        #expect(stopped.plan[0].conflicts.map(\.reason) == [.changedThere])
    }

    /// Also if the vault has the other value.
    @Test(arguments: [9_051, 103])
    func `overwrites no value that differs from the one that was sent`(value: Int) throws {
        var world = ModelWorld("KEY")
        try world.agree([Place.production], first)
        world.want([Place.production], second)
        world.planAll()
        var stopped = world
        try world.send { if $2 == .beforeNote { stopped = $0 } }
        try stopped.platform.change(0, isOurs: false) { $0.value = value }
        stopped.platform.records[0].isInOurName = true
        stopped.planAll()
        #expect(stopped.requests.isEmpty)
        #expect(stopped.plan[0].conflicts.map(\.reason) == [.changedThere])
    }

    @Test func `repeats a deletion whose record was hidden meanwhile`() throws {
        var world = ModelWorld("KEY")
        try world.agree([Place.production], Content(.known(1), .sensitive))
        world.want([Place.production], nil)
        world.planAll()
        var stopped = world
        try world.send { if $2 == .beforeRequest { stopped = $0 } }
        stopped.hidden = [Place.production]
        stopped.planAll()
        #expect(stopped.plan[0].open == [0])
        stopped.hidden = []
        stopped.planAll()
        #expect(stopped.steps == ["r1 []"])
    }

    @Test func `splits no record that may or may not have a value`() throws {
        var world = ModelWorld("KEY")
        try world.agree([Place.production, Place.preview], Content(.known(1), .sensitive))
        world.want([Place.production, Place.preview], Content(.known(2), .sensitive))
        world.planAll()
        var stopped = world
        try world.send { if $2 == .beforeNote { stopped = $0 } }
        stopped.keys[0].choices.targets = [Place.production]
        stopped.planAll()
        #expect(stopped.requests.isEmpty)
        #expect(stopped.plan[0].leftOut.map(\.reason) == [.sharesRecord])
    }

    @Test func `keeps what was agreed after a request whose outcome is not known`() throws {
        var world = ModelWorld("KEY")
        try world.agree([Place.production, Place.preview], Content(.known(1), .sensitive))
        world.want([Place.production], Content(.known(3), .encrypted))
        world.want([Place.preview], Content(.known(2), .sensitive))
        world.keys[0].choices.force = true
        world.planAll()
        var stopped = world
        try world.send { if ($1, $2) == (0, .beforeNote) { stopped = $0 } }
        // The record that may have changed is not written, and its other target gets a new one.
        (stopped.hidden, stopped.listed) = ([Place.preview], ["r1"])
        try stopped.push()
        #expect(stopped.steps == ["new [0] value"])
        (stopped.hidden, stopped.listed) = ([], [])
        stopped.planAll()
        #expect(stopped.keys[0].agreements[0]?.content == Content(.known(3), .encrypted))
        #expect(stopped.steps == ["r1 [2] value"])
    }

    @Test func `takes no unreadable value of someone else for its own`() throws {
        var world = ModelWorld("KEY")
        try world.agree([Place.production], Content(.unread(1), .encrypted))
        world.want([Place.production], Content(.unread(1), .encrypted, comment: "new"))
        world.planAll()
        var stopped = world
        try world.send { if $2 == .beforeNote { stopped = $0 } }
        try stopped.platform.change(0, isOurs: false) { $0.value = 9_051 }
        stopped.planAll()
        #expect(stopped.requests.isEmpty)
        #expect(stopped.plan[0].conflicts.map(\.reason) == [.changedThere])
    }

    @Test func `takes a request for carried out if a policy made its record sensitive`() throws {
        var world = ModelWorld("KEY")
        try world.agree([Place.production], first)
        world.want([Place.production], second)
        world.planAll()
        var stopped = world
        try world.send { if $2 == .beforeNote { stopped = $0 } }
        stopped.platform.records[0].type = .sensitive
        stopped.planAll()
        #expect(stopped.plan[0].conflicts.isEmpty)
    }

    @Test func `writes nothing where the listing may hide something`() throws {
        var world = ModelWorld("KEY")
        try world.agree([Place.production], first)
        try world.agree([Place.preview], first)
        world.hidden = [Place.production]
        world.planAll()
        #expect(world.requests.isEmpty && world.plan[0].leftOut.isEmpty)
        #expect(world.plan[0].behind.isEmpty && world.plan[0].agreements[0] != nil)
        // What is hidden may have changed.
        #expect(world.plan[0].same == [Place.preview])

        world.want([Place.production, Place.preview], second)
        try world.push()
        #expect(world.steps == ["r2 [2] value"])
        #expect(world.plan[0].leftOut.map(\.reason) == [.hidden])

        // A record of preview may have become one of production.
        world.platform.records.removeAll { $0.id == "r2" }
        world.want([Place.preview], nil)
        world.planAll()
        #expect(world.plan[0].leftOut.map(\.reason) == [.hidden, .hidden])
        #expect(world.plan[0].agreements[Place.preview.position] != nil)
    }

    @Test func `leaves a request open while the listing may hide its record`() throws {
        var world = ModelWorld("KEY")
        world.want([Place.production], first)
        world.planAll()
        var stopped = world
        try world.send { if $2 == .beforeNote { stopped = $0 } }
        stopped.hidden = [Place.production]
        stopped.planAll()
        #expect(stopped.plan[0].open == [0] && stopped.requests.isEmpty)
        stopped.hidden = []
        stopped.planAll()
        #expect(stopped.plan[0].open.isEmpty && stopped.requests.isEmpty)
        #expect(stopped.plan[0].agreements[0] != nil)
    }

    @Test func `changes what an integration manages only by force`() throws {
        var world = ModelWorld("KEY")
        try world.agree([Place.production], first)
        world.platform.records[0].owner = .integration
        world.want([Place.production], second)
        world.planAll()
        #expect(world.requests.isEmpty)
        #expect(world.plan[0].conflicts.map(\.reason) == [.managedByIntegration])
        world.keys[0].choices.force = true
        try world.push()
        #expect(world.steps == ["r1 [0] value"])
    }

    @Test func `changes nothing that is not the project's, by force either`() throws {
        var world = ModelWorld("KEY")
        try world.platform.create(
            "KEY", [Place.production, Place.branch], 9_051, .plain, isOurs: false,
            owner: .platform
        )
        world.want([Place.production, Place.preview], first)
        world.keys[0].choices.force = true
        try world.push()
        #expect(world.steps == ["new [2] value"])
        #expect(world.plan[0].conflicts.map(\.reason) == [.notOurs])
    }

    @Test func `gives production a record of its own where a team wants that`() throws {
        var world = ModelWorld("KEY", rules: .model(separatesProduction: true))
        try world.agree([Place.production, Place.preview], first)
        world.want([Place.production], Content(.known(2), .sensitive))
        world.want([Place.preview], Content(.known(1), .sensitive))
        try world.push()
        #expect(world.steps == ["r1 [2]", "new [0] value"])

        // The other value would be refused after the record was split.
        var equal = ModelWorld("KEY", rules: .model(separatesProduction: true))
        try equal.agree([Place.production, Place.preview], first)
        equal.want([Place.production, Place.preview], Content(.known(1), .sensitive))
        equal.planAll()
        #expect(equal.requests.isEmpty)
        #expect(equal.plan[0].leftOut.map(\.reason) == [.refused, .refused])
    }

    @Test func `sends nothing readable where a team wants sensitive variables`() throws {
        var world = ModelWorld("KEY", rules: .model(requiresSensitive: true))
        world.want([Place.production, Place.development], first)
        try world.push()
        #expect(world.steps == ["new [4] value"])
        #expect(world.plan[0].leftOut.map(\.reason) == [.refused])
    }

    @Test func `leaves alone what a team's new policy forbids but no one changes`() throws {
        var world = ModelWorld("KEY")
        try world.agree([Place.production, Place.preview], first)
        world.platform = ModelPlatform(
            copying: world.platform, rules: .model(requiresSensitive: true))
        world.planAll()
        #expect(world.requests.isEmpty && world.plan[0].leftOut.isEmpty)
        // The rest of the record would have to be sent in the forbidden form.
        world.want([Place.preview], nil)
        world.planAll()
        #expect(world.requests.isEmpty)
        #expect(world.plan[0].leftOut.map(\.reason) == [.refused])
    }

    @Test func `takes sensitive development alone`() throws {
        var world = ModelWorld("KEY")
        world.want([Place.production, Place.development], Content(.known(1), .sensitive))
        try world.push()
        #expect(world.steps == ["new [0] value", "new [4] value"])
    }
}
