import SyncPlan
import Testing

/// Cases by name: several keys.
@Suite("A plan for several keys")
struct PlannedNamesTests {
    @Test func `exchanges two names as two values`() throws {
        var world = ModelWorld("ONE", "TWO")
        let (one, two) = (
            Content(.known(1, of: 1), .sensitive), Content(.known(1, of: 2), .sensitive)
        )
        try world.agree([Place.production], one, key: 0)
        try world.agree([Place.production], two, key: 1)
        world.want([Place.production], two, key: 0)
        world.want([Place.production], one, key: 1)
        try world.push()
        #expect(world.steps == ["ONE r1 [0] value", "TWO r2 [0] value"])
        #expect(world.value(Place.production, key: 0)?.value == 201)
        #expect(world.value(Place.production, key: 1)?.value == 101)
        #expect(world.plan.allSatisfy { $0.gaps.isEmpty })
    }

    @Test func `exchanges no names if the vault lacks a value`() throws {
        var world = ModelWorld("ONE", "TWO")
        let (one, two) = (
            Content(.known(1, of: 1), .sensitive), Content(.unread(1, of: 2), .sensitive)
        )
        try world.agree([Place.production], one, key: 0)
        try world.agree([Place.production], two, key: 1)
        world.want([Place.production], two, key: 0)
        world.want([Place.production], one, key: 1)
        world.planAll()
        #expect(world.requests.isEmpty)
        #expect(world.plan[0].leftOut.map(\.reason) == [.unreadable])
        #expect(world.plan[1].leftOut.map(\.reason) == [.valueWantedElsewhere])
    }

    @Test func `creates a new name before it deletes the old one`() throws {
        var world = ModelWorld("OLD", "NEW", "ELSE")
        let content = Content(.known(1, of: 1), .encrypted)
        try world.agree([Place.production, Place.preview], content, key: 0)
        world.want([Place.production, Place.preview], nil, key: 0)
        world.want([Place.production, Place.preview], content, key: 1)
        world.want([Place.production], Content(.known(1, of: 2), .encrypted), key: 2)
        try world.push()
        #expect(world.steps == ["NEW new [0 2] value", "ELSE new [0] value", "OLD r1 []"])
        #expect(world.requests.map(\.waitsFor) == [[], [], ["NEW"]])
    }

    @Test func `keeps an old name whose new one cannot be sent`() throws {
        var world = ModelWorld("OLD", "NEW")
        let content = Content(.unread(1, of: 1), .sensitive)
        try world.agree([Place.production], content, key: 0)
        world.want([Place.production], nil, key: 0)
        world.want([Place.production], content, key: 1)
        world.planAll()
        #expect(world.requests.isEmpty)
        #expect(world.plan[0].leftOut.map(\.reason) == [.waits(for: "NEW")])
        #expect(world.plan[1].leftOut.map(\.reason) == [.unreadable])
    }

    @Test func `keeps an old name whose new one is not selected, or taken`() throws {
        let content = Content(.known(1, of: 1), .encrypted)
        for isTaken in [true, false] {
            var world = ModelWorld("OLD", "NEW")
            try world.agree([Place.production], content, key: 0)
            world.want([Place.production], nil, key: 0)
            world.want([Place.production], content, key: 1)
            if isTaken {
                try world.platform.create(
                    "NEW", [Place.production], 9_051, .encrypted, isOurs: false)
            } else {
                world.keys[1].choices.targets = []
            }
            world.planAll()
            #expect(world.requests.isEmpty)
            #expect(world.plan[0].leftOut.map(\.reason) == [.waits(for: "NEW")])
        }
    }

    @Test func `gives a readable variable the name of a sensitive one`() throws {
        var world = ModelWorld("OLD", "NEW")
        let content = Content(.known(1, of: 1), .encrypted)
        try world.agree([Place.production], content, key: 0)
        try world.agree([Place.production], Content(.known(1, of: 2), .sensitive), key: 1)
        world.want([Place.production], nil, key: 0)
        world.want([Place.production], content, key: 1)
        world.planAll()
        #expect(world.plan.flatMap(\.leftOut).isEmpty)
        #expect(world.requests.map(\.isDeletion) == [true, false, true])

        // And the other way round.
        world.want([Place.production], Content(.known(1, of: 2), .encrypted), key: 0)
        world.want([Place.production], nil, key: 1)
        try world.push()
        #expect(world.steps == ["OLD r1 [0] value", "NEW r2 []"])
    }

    @Test func `recreates a record before other names go`() throws {
        var world = ModelWorld("ONE", "TWO")
        try world.agree([Place.production], Content(.known(1, of: 1), .sensitive), key: 0)
        try world.agree([Place.production], Content(.known(1, of: 2), .encrypted), key: 1)
        world.want([Place.production], Content(.known(1, of: 1), .encrypted), key: 0)
        world.want([Place.production], nil, key: 1)
        world.keys[0].choices.force = true
        try world.push()
        #expect(world.steps == ["ONE r1 []", "ONE new [0] value", "TWO r2 []"])
    }

    @Test func `waits only for other names of a variable`() throws {
        var world = ModelWorld("OLD", "NEW")
        let content = Content(.known(1, of: 1), .encrypted)
        try world.agree([Place.production, Place.preview], content, key: 0)
        world.want([Place.production], nil, key: 0)
        world.want([Place.production], content, key: 1)
        try world.push()
        #expect(world.steps == ["NEW new [0] value", "OLD r1 [2]"])
        #expect(world.requests.map(\.waitsFor) == [[], ["NEW"]])
    }

    @Test func `replaces a value that the vault lacks beside a target that keeps it`() throws {
        var world = ModelWorld("ONE", "TWO")
        try world.agree([Place.production, Place.preview], Content(.unread(1), .sensitive), key: 0)
        world.want([Place.preview], Content(.known(2), .sensitive), key: 0)
        try world.push()
        #expect(world.steps == ["ONE r1 [0]", "ONE new [2] value"])
    }

    @Test func `deletes whole keys last`() throws {
        var world = ModelWorld("A", "B", "C")
        for key in 0..<3 {
            try world.agree(
                [Place.production, Place.preview], Content(.known(1, of: key + 1), .encrypted),
                key: key)
        }
        world.want([Place.production, Place.preview], nil, key: 0)
        world.want([Place.production], nil, key: 1)
        world.want([Place.preview], Content(.known(2, of: 3), .encrypted), key: 2)
        try world.push()
        #expect(world.steps == ["C r3 [0]", "C new [2] value", "B r2 [2]", "A r1 []"])
    }
}
