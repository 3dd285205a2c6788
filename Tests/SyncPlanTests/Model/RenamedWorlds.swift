import SyncPlan

/// All small worlds of two variables, two targets and three names: what both had, which names, targets
/// and versions the vault wants since.
struct RenamedWorlds {
    private static let names = ["ONE", "TWO", "THREE"]
    private static let rules = ModelRules(development: Target(1))

    /// One variable: what it had, and what it is to have.
    private struct Case {
        let before: [Content?]
        let after: [Content?]
    }

    private static func cases(of variable: Int) -> [Case] {
        let contents = [
            Content(.known(1, of: variable), .encrypted),
            Content(.known(1, of: variable), .sensitive),
            Content(.unread(1, of: variable), .sensitive),
        ]
        let sets: [[Bool]] = [[true, true], [true, false], [false, true], [false, false]]
        var all: [Case] = []
        for content in contents {
            let new = Content(.known(2, of: variable), content.type)
            for before in sets where before.contains(true) || content == contents[0] {
                for after in sets {
                    for wish in [content, new] where after.contains(true) || wish == new {
                        // What was never there has no value that the vault lacks.
                        if !before.contains(true), !wish.version.isReadable { continue }
                        all.append(
                            Case(
                                before: before.map { $0 ? content : nil },
                                after: after.map { $0 ? wish : nil }))
                    }
                }
            }
        }
        return all
    }

    func forEach(part: (first: Int, step: Int), _ body: (ModelWorld) throws -> Void) throws {
        var number = 0
        for one in Self.cases(of: 1) {
            for two in Self.cases(of: 2) {
                for first in 0..<3 {
                    for second in 0..<3 where second != first {
                        number += 1
                        if number % part.step != part.first { continue }
                        try body(try Self.world(one, two, first, second))
                    }
                }
            }
        }
    }

    /// A record may not have both targets if it is sensitive, so each target has one then.
    private static func world(_ one: Case, _ two: Case, _ first: Int, _ second: Int) throws
        -> ModelWorld
    {
        var world = ModelWorld(
            platform: ModelPlatform(rules: rules),
            keys: names.map {
                ModelWorld.Key(name: $0, wishes: [nil, nil], agreements: [nil, nil])
            })
        for (place, variable) in [one, two].enumerated() {
            for (position, content) in variable.before.enumerated() {
                guard var content else { continue }
                if position == 1, variable.before[0] != nil {
                    if content.type.isReadable { continue }
                    if !content.version.isReadable {
                        content.version = .unread(2, of: place + 1)
                    }
                }
                let isShared = content.type.isReadable && !variable.before.contains(nil)
                try world.agree(
                    isShared ? [Target(0), Target(1)] : [Target(position)], content, key: place)
            }
        }
        for place in world.keys.indices { world.keys[place].wishes = [nil, nil] }
        for (name, variable) in [(first, one), (second, two)] {
            for (position, content) in variable.after.enumerated() {
                guard let content else { continue }
                var wish = content
                if !wish.version.isReadable, position == 1, variable.before[0] != nil {
                    wish.version = .unread(2, of: wish.version.variable)
                }
                world.keys[name].wishes[position] = wish
            }
        }
        return world
    }
}
