import SyncPlan
import Testing

/// Cases by name: one key, and what happens to its records.
@Suite("A plan for one key")
struct PlannedRecordsTests {
    private let shared = Content(.known(1), .encrypted)

    @Test func `never merges two records whose values the vault lacks`() throws {
        var world = ModelWorld("KEY")
        try world.agree([Place.production], Content(.unread(1), .sensitive))
        try world.agree([Place.preview], Content(.unread(2), .sensitive))
        world.planAll()
        #expect(world.requests.isEmpty)

        // Not even if one of them is wanted in both targets.
        world.want([Place.preview], Content(.unread(1), .sensitive))
        world.planAll()
        #expect(world.requests.isEmpty)
        #expect(world.plan[0].leftOut.map(\.target) == [Place.preview])
        #expect(world.plan[0].leftOut.map(\.reason) == [.unreadable])
    }

    @Test func `keeps equal records apart`() throws {
        var world = ModelWorld("KEY")
        try world.agree([Place.production], shared)
        try world.agree([Place.preview], Content(.known(2), .encrypted))
        world.want([Place.preview], shared)
        try world.push()
        #expect(world.steps == ["r2 [2] value"])
    }

    @Test func `exchanges no values that the vault lacks`() throws {
        var world = ModelWorld("KEY")
        try world.agree([Place.production], Content(.unread(1), .sensitive))
        try world.agree([Place.preview], Content(.unread(2), .sensitive))
        world.want([Place.production], Content(.unread(2), .sensitive))
        world.want([Place.preview], Content(.unread(1), .sensitive))
        world.planAll()
        #expect(world.requests.isEmpty)
        #expect(world.plan[0].leftOut.count == 2)
    }

    @Test func `overwrites no value that is wanted elsewhere and cannot get there`() throws {
        var world = ModelWorld("KEY")
        try world.agree([Place.preview], Content(.unread(1), .sensitive))
        world.want([Place.preview], Content(.known(2), .sensitive))
        world.want([Place.production], Content(.unread(1), .sensitive))
        world.planAll()
        #expect(world.requests.isEmpty)
        #expect(world.plan[0].leftOut.map(\.reason) == [.unreadable, .valueWantedElsewhere])
    }

    @Test func `keeps a value that the vault lacks in the target that stays`() throws {
        var world = ModelWorld("KEY")
        try world.agree([Place.production, Place.preview], Content(.unread(1), .sensitive))
        world.want([Place.production], Content(.known(2), .sensitive))
        try world.push()
        #expect(world.steps == ["r1 [2]", "new [0] value"])
        #expect(world.plan[0].gaps == [Place.production])
    }

    @Test func `hardens a record that development has too`() throws {
        var world = ModelWorld("KEY")
        try world.agree([Place.production, Place.preview, Place.development], shared)
        world.want([Place.production, Place.preview], Content(.known(1), .sensitive))
        try world.push()
        // Production never loses its value; development does, between the two requests.
        #expect(world.steps == ["r1 [0 2]", "new [4] value"])
        #expect(world.plan[0].gaps == [Place.development])
        #expect(world.plan[0].exposed.isEmpty)
        #expect(world.value(Place.development)?.type == .encrypted)
    }

    @Test(arguments: ModelWorld.Stop.allCases, [0, 1])
    func `finishes a record that was stopped between its two requests`(
        stop: ModelWorld.Stop, number: Int
    ) throws {
        var world = ModelWorld("KEY")
        try world.agree([Place.production, Place.preview, Place.development], shared)
        world.want([Place.production, Place.preview], Content(.known(1), .sensitive))
        world.planAll()
        var stopped: ModelWorld?
        try world.send { if ($1, $2) == (number, stop) { stopped = $0 } }
        var again = try #require(stopped)
        try again.push()
        #expect(again.plan[0].conflicts.isEmpty)
        for target in [Place.production, Place.preview, Place.development] {
            #expect(again.value(target) == world.value(target))
        }
        again.planAll()
        #expect(again.requests.isEmpty)
    }

    @Test func `changes a comment for the whole record`() throws {
        var world = ModelWorld("KEY")
        try world.agree([Place.production, Place.preview], shared)
        world.want([Place.preview], Content(.known(1), .encrypted, comment: "new"))
        try world.push()
        #expect(world.steps == ["r1 [0 2]"])
        #expect(world.plan[0].comments.map(\.target) == [Place.production])
        #expect(world.value(Place.production)?.comment == "new")
        world.planAll()
        #expect(world.requests.isEmpty)
    }

    @Test func `changes no comment of a target that someone else added`() throws {
        var world = ModelWorld("KEY")
        try world.agree([Place.production], shared)
        try world.platform.change(0, isOurs: false) {
            $0.targets = [Place.production, Place.preview]
        }
        world.want([Place.production], Content(.known(1), .encrypted, comment: "new"))
        world.planAll()
        #expect(world.requests.isEmpty)
        #expect(world.plan[0].leftOut.map(\.reason) == [.sharesRecord])
        #expect(world.plan[0].behind == [Place.preview])
    }

    @Test func `takes over the comment of a value that it never sent`() throws {
        var world = ModelWorld("KEY")
        try world.platform.create(
            "KEY", [Place.production], 101, .encrypted, comment: "theirs", isOurs: false)
        world.want([Place.production], shared)
        try world.push()
        #expect(world.requests.isEmpty)
        #expect(world.plan[0].conflicts.isEmpty && world.plan[0].same == [Place.production])
        #expect(world.keys[0].wishes[0]?.comment == "theirs")
        #expect(world.keys[0].agreements[0]?.content.comment == "theirs")
    }

    @Test func `recreates a sensitive record that becomes readable only by force`() throws {
        var world = ModelWorld("KEY")
        try world.agree([Place.production], Content(.known(1), .sensitive))
        world.want([Place.production], shared)
        world.planAll()
        #expect(world.requests.isEmpty)
        #expect(world.plan[0].leftOut.map(\.reason) == [.typeIsFinal])
        #expect(world.plan[0].leftOut.map(\.record) == ["r1"])

        world.keys[0].choices.force = true
        try world.push()
        #expect(world.steps == ["r1 []", "new [0] value"])
        #expect(world.plan[0].exposed == [Place.production])
        #expect(world.plan[0].gaps == [Place.production])
    }

    @Test func `sends the other target of a record whose type is final`() throws {
        var world = ModelWorld("KEY")
        try world.agree([Place.production, Place.preview], Content(.known(1), .sensitive))
        world.want([Place.production], shared)
        world.want([Place.preview], Content(.known(2), .sensitive))
        try world.push()
        #expect(world.steps == ["r1 [0]", "new [2] value"])
        #expect(world.plan[0].leftOut.map(\.target) == [Place.production])

        // What takes a value away changes no type.
        world.want([Place.production, Place.preview], nil)
        try world.push()
        #expect(world.platform.records.isEmpty)
    }

    @Test func `leaves a doubtful record that became readable`() throws {
        var world = ModelWorld("KEY")
        try world.agree([Place.production, Place.preview], Content(.known(1), .sensitive))
        world.want([Place.production, Place.preview], Content(.known(2), .sensitive))
        world.planAll()
        var stopped = world
        try world.send { if $2 == .beforeNote { stopped = $0 } }
        stopped.want([Place.production], Content(.known(2), .encrypted))
        stopped.planAll()
        #expect(stopped.requests.isEmpty && stopped.plan[0].open == [0])
        #expect(stopped.plan[0].leftOut.map(\.reason) == [.typeIsFinal, .sharesRecord])
        stopped.keys[0].choices.force = true
        try stopped.push()
        #expect(stopped.steps == ["r1 [2] value", "new [0] value"])
    }

    @Test func `never makes readable what it cannot send again`() throws {
        var world = ModelWorld("KEY")
        try world.agree([Place.production], Content(.unread(1), .sensitive))
        world.want([Place.production], Content(.unread(1), .encrypted))
        world.planAll()
        #expect(world.requests.isEmpty)
        #expect(world.plan[0].leftOut.map(\.reason) == [.unreadable])
    }

    @Test func `puts an equal value into the record that has it`() throws {
        var world = ModelWorld("KEY")
        try world.agree([Place.production], shared)
        world.want([Place.preview, Place.custom], shared)
        try world.push()
        #expect(world.steps == ["r1 [0 1 2]"])
    }

    @Test func `gives a branch a record of its own`() throws {
        var world = ModelWorld("KEY")
        try world.agree([Place.preview], shared)
        world.want([Place.branch, Place.development], shared)
        try world.push()
        #expect(world.steps == ["r1 [2 4]", "new [3] value"])
    }

    @Test func `plans only the selected targets`() throws {
        var world = ModelWorld("KEY")
        try world.agree([Place.production, Place.preview], Content(.known(1), .sensitive))
        world.want([Place.production, Place.preview], Content(.known(2), .sensitive))
        world.keys[0].choices.targets = [Place.production]
        try world.push()
        #expect(world.steps == ["r1 [2]", "new [0] value"])
        #expect(world.value(Place.preview)?.value == 101)
        #expect(world.plan[0].notSelected == [Place.preview] && world.plan[0].same.isEmpty)

        // The other one was not changed by anybody else.
        world.keys[0].choices.targets = nil
        try world.push()
        #expect(world.steps == ["r1 [2] value"])
        #expect(world.plan[0].conflicts.isEmpty)
    }

    @Test func `deletes no value that the vault lacks and an unselected target wants`() throws {
        var world = ModelWorld("KEY")
        try world.agree([Place.production], Content(.unread(1), .sensitive))
        world.want([Place.production], nil)
        world.want([Place.preview], Content(.unread(1), .sensitive))
        world.keys[0].choices.targets = [Place.production]
        world.planAll()
        #expect(world.requests.isEmpty)
        #expect(world.plan[0].leftOut.map(\.reason) == [.valueWantedElsewhere])
    }

    @Test func `replaces a value that the vault lacks if one target keeps it unselected`() throws {
        var world = ModelWorld("KEY")
        try world.agree([Place.production, Place.preview], Content(.unread(1), .sensitive))
        world.want([Place.production], Content(.known(2), .sensitive))
        world.want([Place.preview], Content(.known(3), .sensitive))
        world.want([Place.custom], Content(.unread(1), .sensitive))
        world.keys[0].choices.targets = [Place.preview, Place.custom]
        try world.push()
        #expect(world.steps == ["r1 [0]", "new [2] value"])
        #expect(world.plan[0].leftOut.map(\.target) == [Place.custom])
    }

    @Test func `knows more than 64 targets`() {
        let set = TargetSet([Target(3), Target(64), Target(200)])
        #expect(set.count == 3 && set.contains(Target(200)) && !set.contains(Target(136)))
        #expect(set.map(\.position) == [3, 64, 200])
        #expect(set.subtracting([Target(200)]) == TargetSet([Target(3), Target(64)]))
        #expect(set.subtracting([Target(3)]).heaviest == Target(64))
    }
}
