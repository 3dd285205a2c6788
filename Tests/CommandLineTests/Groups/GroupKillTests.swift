import Foundation
internal import JSON
import TestSupport
import Testing

/// Whole programs of several members at one place, at the same time, and killed anywhere: zg-env, the
/// git below it, and what serves the place. Nothing that was accepted is lost, and the next sync works
/// without help.
@Suite("Killed members of a group")
struct GroupKillTests {
    /// Nil is a path.
    private static let carriers: [GitServer.Kind?] = [nil] + GitServer.Kind.allCases

    @Test(.timeLimit(.minutes(60)), arguments: carriers)
    func `kills lose nothing, and the next sync works by itself`(
        server: GitServer.Kind?
    ) throws {
        let count = Proof.count(short: server == nil ? 3 : 2, full: server == nil ? 10 : 3)
        try check(members: count, server: server, rounds: Proof.count(short: 1, full: 25))
    }

    @Test(.timeLimit(.minutes(60)))
    func `two members lose nothing`() throws {
        guard Proof.isFull else { return }
        try check(members: 2, server: nil, rounds: 50)
    }

    @Test(.timeLimit(.minutes(20)), arguments: carriers)
    func `without kills, every command works`(server: GitServer.Kind?) throws {
        guard Proof.isFull || server == nil else { return }
        try check(
            members: Proof.count(short: 3, full: 10), server: server,
            rounds: Proof.count(short: 1, full: 3), isKilling: false)
    }

    private func check(
        members count: Int, server: GitServer.Kind?, rounds: Int, isKilling: Bool = true
    ) throws {
        let names = (0..<count).map { "m\($0)" }
        let homes = try GroupHomes(server: server)
        try homes.set("m0", GroupTraffic.sharedKey, "first")
        try homes.share("m0")
        for name in names.dropFirst() { try homes.admit(name, by: "m0") }
        var random = ProofRandom(UInt64(90 + count))
        let traffic = GroupTraffic(
            homes.homes, environment: homes.environment, isKilling: isKilling)
        for round in 0..<rounds {
            traffic.run(
                round: round, turns: Proof.count(short: 3, full: 6), server: homes.server,
                using: &random)
            for name in names {
                let next = try homes.run(name, "sync")
                #expect(
                    next.end == .exited(0),
                    "\(random.seedText) \(round), too long: \(next.timedOut): \(next.error)")
            }
        }
        #expect(traffic.failures == [], "\(random.seedText)")
        try homes.settle(names)
        try expectOneState(homes, names)
        try expectAll(traffic.writes, homes, names, random.seedText)
        let accepted = traffic.writes.count(where: \.isAccepted)
        #expect(accepted > 0)
        print(
            "\(server.map { "\($0)" } ?? "path"), \(count) members: \(accepted) of "
                + "\(traffic.writes.count) writes accepted, all there; \(traffic.summary)")
    }

    private func expectOneState(_ homes: GroupHomes, _ names: [String]) throws {
        let groups = try names.map { try homes.group($0) }
        #expect(Set(groups.compactMap { $0["stateWords"]?.text }).count == 1)
        for group in groups {
            #expect(group["outgoing"] == 0)
            for project in group["projects"]?.elements ?? [] {
                #expect(project["late"] == 0 && project["waiting"] == 0)
            }
        }
    }

    /// Each accepted write is in its author's vault. The last one of each member is also what all have,
    /// or is in question, or was seen by somebody else who replaced it.
    private func expectAll(
        _ writes: [GroupTraffic.Write], _ homes: GroupHomes, _ names: [String], _ seed: String
    ) throws {
        for (key, ofKey) in Dictionary(grouping: writes, by: \.key) {
            guard ofKey.contains(where: \.isAccepted) else { continue }
            var versions: [String: Set<String>] = [:]
            var current: Set<Set<String>> = []
            for name in names {
                let found = try homes.values(name, key)
                versions[name] = found.all
                current.insert(found.inQuestion)
            }
            let candidates = try #require(current.first)
            #expect(current.count == 1, "\(seed) \(key): \(current)")
            for (member, own) in Dictionary(grouping: ofKey, by: \.member) {
                let accepted = own.filter(\.isAccepted).map(\.value)
                let lost = Set(accepted).subtracting(versions[member] ?? [])
                #expect(lost.isEmpty, "\(seed) \(member) \(key)")
                guard let place = own.lastIndex(where: \.isAccepted) else { continue }
                // A killed one after it may have been written, too.
                let last = Set(own[place...].map(\.value))
                let isSeen = versions.contains { name, all in
                    name != member && !all.isDisjoint(with: last)
                }
                #expect(
                    !candidates.isDisjoint(with: last) || isSeen, "\(seed) \(member) \(key)")
            }
        }
    }
}
