import DotEnv
import Foundation
import Testing

/// The results of measured parsers for the cases of `dotenv-cases.json`.
@Suite struct `Measured readers` {
    struct Case {
        let name: String
        let input: String
        let agree: Bool
        /// The result of each parser; nil if it refuses the text.
        let readers: [String: [Pair]?]
    }

    static let cases: [Case] = {
        let place = Places.tests.appending(path: "Cases/dotenv-cases.json")
        guard let data = try? Data(contentsOf: place),
            let items = ExactJSON.value(data).object?["cases"]?.array
        else { return [] }
        return items.compactMap(\.object).map { item in
            var readers: [String: [Pair]?] = [:]
            for group in ["expected", "also"] {
                for (reader, result) in item[group]?.object ?? [:] {
                    readers[reader] = .some(result.pairs)
                }
            }
            var agree = false
            if case .bool(true) = item["agree"] { agree = true }
            return Case(
                name: item["name"]?.string ?? "", input: item["input"]?.string ?? "",
                agree: agree, readers: readers)
        }
    }()

    /// A parser's result as a set; nil if it was not measured.
    static func expected(_ reader: String, _ item: Case) -> Set<Pair>?? {
        guard let result = item.readers[reader] else { return nil }
        return .some(result.map { effective($0) })
    }

    @Test func `the cases exist`() {
        #expect(Self.cases.count >= 190)
    }

    @Test func `the default dialect gives the values of motdotla`() throws {
        for item in Self.cases {
            let found = effective(try pairs(item.input)).filter { $0.key != "__proto__" }
            #expect(found == Self.expected("motdotla", item), "\(item.name)")
        }
    }

    @Test func `node gives the values of Node 20`() throws {
        for item in Self.cases {
            let found = effective(try pairs(item.input, as: .node))
                .filter { $0.key != "__proto__" }
            #expect(found == Self.expected("node", item), "\(item.name)")
        }
    }

    @Test func `where parsers agree there is no diagnostic of disagreement`() throws {
        for item in Self.cases where item.agree {
            // The three agree; so must these, and no version of dotenv-expand may replace anything.
            let others = ["bash_source", "compose_go", "ruby", "godotenv", "dotenvx_2_0_in_tree"]
                .compactMap { Self.expected($0, item) }
            let reference = Self.expected("motdotla", item)
            guard others.count == 5, others.allSatisfy({ $0 == reference }),
                !item.input.contains(/\$[\w{]|\\\$/)
            else { continue }
            let found = try codes(item.input).filter { $0.hasPrefix("differs-") }
            #expect(found.isEmpty, "\(item.name)")
        }
    }

    @Test func `USE-A1: where any measured parser disagrees there is a diagnostic`() throws {
        var count = 0
        for item in Self.cases {
            let reference = Self.expected("motdotla", item)
            let others = [
                "node", "python_dotenv", "bash_source", "compose_go", "ruby", "godotenv",
                "dotenvx_2_0_in_tree",
            ].compactMap { Self.expected($0, item) }
            guard others.contains(where: { $0 != reference }) else { continue }
            count += 1
            let found = try codes(item.input)
            let isTold = found.contains {
                $0.hasPrefix("differs-") || $0.hasPrefix("ignored-") || $0 == "name-not-portable"
            }
            #expect(isTold, "\(item.name)")
        }
        #expect(count > 110)
    }

    @Test(arguments: [
        (DotEnvDialect.docker, "docker_env_file"), (.systemd, "systemd_252"),
        (.compose, "compose_go"), (.shell, "bash_source"),
    ])
    func `other dialects give what their parsers give`(
        dialect: DotEnvDialect, reader: String
    ) throws {
        var compared = 0
        for item in Self.cases {
            guard let expected = Self.expected(reader, item) else { continue }
            let file = try? read(item.input, as: dialect)
            // Nothing is expanded or run here; Compose and bash do both.
            let expands =
                dialect == .compose
                && file?.diagnostics.contains { $0.code == .unexpanded } == true
            let runs = dialect == .shell && file == nil
            if expands || runs { continue }
            compared += 1
            guard let expected else {
                #expect(file == nil, "\(item.name)")
                continue
            }
            let found = try? pairs(item.input, as: dialect)
            #expect(found.map { effective($0) } == expected, "\(item.name)")
        }
        #expect(compared > (dialect == .shell ? 100 : 170))
    }
}

/// Random texts with the results of real parsers; `Generator/generate.js` made the list.
@Suite struct `Random texts` {
    struct Item {
        let text: String
        let classic: [Pair]
        let node: [Pair]
        let python: [Pair]
        let bash: [Pair]
        /// Nil if Next.js takes nothing from the text.
        let next: [Pair]?
    }

    static let items: [Item] = {
        let place = Places.tests.appending(path: "Generator/random-texts.json")
        guard let data = try? Data(contentsOf: place),
            let list = ExactJSON.value(data).array
        else { return [] }
        return list.compactMap(\.array).filter { $0.count == 6 }.map { item in
            let classic = item[1].pairs ?? []
            return Item(
                text: item[0].string ?? "", classic: classic,
                node: item[2].pairs ?? classic, python: item[3].pairs ?? classic,
                bash: item[4].pairs ?? classic, next: item[5].pairs(besides: classic))
        }
    }()

    @Test func `the list exists`() {
        #expect(Self.items.count == 4000)
    }

    @Test func `the default dialect gives the pairs of motdotla in order`() throws {
        for item in Self.items {
            let found = try pairs(item.text).filter { $0.key != "__proto__" }
            #expect(found == item.classic, "\(item.text.debugDescription)")
        }
    }

    @Test func `node gives the values of Node 20`() throws {
        for item in Self.items {
            let found = effective(try pairs(item.text, as: .node))
                .filter { $0.key != "__proto__" }
            #expect(found == effective(item.node), "\(item.text.debugDescription)")
        }
    }

    @Test func `USE-A1: next gives the values of Next.js`() throws {
        for item in Self.items {
            let found = try? expandedPairs(item.text, as: .next).filter { $0.key != "__proto__" }
            #expect(
                found.map { effective($0) } == item.next.map { effective($0) },
                "\(item.text.debugDescription)")
        }
    }

    @Test func `shell gives the values of bash, or refuses the text`() throws {
        var count = 0
        for item in Self.items {
            guard let found = try? pairs(item.text, as: .shell) else { continue }
            count += 1
            #expect(effective(found) == effective(item.bash), "\(item.text.debugDescription)")
        }
        #expect(count > 300)
    }

    @Test func `USE-A1: exactly the disagreements have a diagnostic of disagreement`() throws {
        var (disagreements, agreements) = (0, 0)
        for item in Self.items {
            let reference = effective(item.classic)
            // For Compose, the model that is checked against recorded cases.
            let compose = try? read(item.text, as: .compose)
            let isLive = compose?.diagnostics.contains { $0.code == .unexpanded } ?? true
            let readers: [[Pair]?] = [
                item.node, item.python, item.bash, item.next,
                isLive ? nil : try? pairs(item.text, as: .compose),
            ]
            let differs = readers.contains { pairs in pairs.map { effective($0) } != reference }
            let found = try codes(item.text)
            let isTold = found.contains { $0.hasPrefix("differs-") }
            if differs {
                disagreements += 1
                let isSaid = found.contains {
                    $0.hasPrefix("ignored-") || $0 == "name-not-portable"
                }
                #expect(isTold || isSaid, "\(item.text.debugDescription)")
            } else if !item.text.contains(/[\\$]|__proto__/) {
                // Parsers that are not recorded here interpret `$` and backslashes.
                agreements += 1
                #expect(!isTold, "\(item.text.debugDescription) \(found)")
            }
        }
        #expect(disagreements > 2000 && agreements > 100, "\(disagreements) \(agreements)")
    }

    @Test func `portable texts have the same values for all`() throws {
        var count = 0
        for item in Self.items {
            guard let found = try? pairs(item.text, as: .portable) else { continue }
            count += 1
            #expect(effective(found) == effective(item.classic))
            #expect(effective(found) == effective(item.node))
            #expect(effective(found) == effective(item.python))
            #expect(try pairs(item.text, as: .systemd).count == found.count)
        }
        #expect(count > 20)
    }
}
