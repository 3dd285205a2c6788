import Foundation
import TestSupport
import Testing

/// Who configures a firewall reads the table of requests in docs/vercel.md: it must have every command
/// that sends one.
@Suite("Page of the requests") struct RequestPageTests {
    /// A command, and the words by which a row's second column means it; none if it sends nothing.
    private static let commands: [(command: String, words: [String])] = [
        ("doctor", ["`doctor`"]), ("account list --refresh", ["`account list --refresh`"]),
        ("project list", ["`project list`"]), ("pull", ["`pull`"]),
        ("list --refresh", ["`--refresh`"]),
        ("check --on vercel", ["comparisons", "`check"]),
        ("check --on live", ["comparisons", "`check --on live`"]),
        ("diff --remote", ["comparisons"]),
        ("reveal SEED_SITE_NAME --remote -t production", ["comparisons"]),
        ("exposure --since 2030-01-01", ["`exposure`"]),
        ("push --dry-run", ["`push`"]), ("harden --dry-run", ["`push`"]),
        ("redeploy --wait --yes", ["`redeploy`", "`--wait`"]),
        ("deployment list", ["`deployment list`", "`deployment` commands"]),
        ("deployment show live", ["`deployment` commands"]),
        ("deployment logs live", ["`deployment` commands", "`deployment logs`"]),
        ("open --dashboard", ["`open`"]), ("webhook list", ["`webhook` commands"]),
        ("status", []), ("list", []), ("show SEED_SITE_NAME", []), ("projects", []), ("scan", []),
        ("check", []), ("run -- true", []), ("export", []), ("log", []), ("verify", []),
        ("account use dev", []), ("doctor --offline", []), ("logout", []),
    ]

    @Test("Each request of a command is in a row that has the command")
    func requests() throws {
        let rows = try Self.rows()
        #expect(rows.count > 20)
        for (number, sent) in try Self.sent().enumerated() {
            let (command, words) = Self.commands[number]
            #expect(sent.isEmpty == words.isEmpty, "\(command): \(sent)")
            for request in sent {
                let row = try #require(
                    rows.first { (try? $0.request.wholeMatch(in: request)) != nil },
                    "\(request) of \(command) has no row")
                #expect(
                    words.contains { row.commands.contains($0) },
                    "\(request) of \(command): \(row.commands)")
            }
        }
    }

    /// Returns a pattern for each request of the table, with its row's second column.
    private static func rows() throws -> [(request: Regex<AnyRegexOutput>, commands: String)] {
        let page = try String(
            contentsOfFile: "\(DocumentationTests.root)/docs/vercel.md", encoding: .utf8)
        let section = try #require(
            page.components(separatedBy: "\n## ").first { $0.hasPrefix("Requests\n") })
        var rows: [(request: Regex<AnyRegexOutput>, commands: String)] = []
        for line in section.split(separator: "\n") where line.hasPrefix("| `") {
            let cells = line.split(separator: "|").map(\.trimmed)
            let commands =
                cells[1].hasPrefix("the same") ? rows.last?.commands ?? "" : cells[1]
            // `GET`, `POST /a`, `/b`: two methods of the first path, the last one also of the second.
            var methods: [Substring] = []
            for match in cells[0].matches(of: #/`([A-Z]+)? ?(/[^`]*)?`/#) {
                if let method = match.1 { methods.append(method) }
                guard let path = match.2 else { continue }
                defer { methods = methods.suffix(1) }
                let pattern = NSRegularExpression.escapedPattern(for: String(path))
                    .replacing(#/\\\{.*?\\\}/#, with: "[^/?]+")
                // A query is only written where it makes a difference.
                let query = path.contains("?") ? "" : #"(\?(?!rollbackInfo).*)?"#
                let method = methods.joined(separator: "|")
                rows.append((try Regex("(\(method)) \(pattern)\(query)"), commands))
            }
        }
        return rows
    }

    /// Runs the commands, and returns what each of them sent, as `METHOD PATH`.
    private static func sent() throws -> [[String]] {
        let lines = commands.enumerated().map { number, entry in
            "zg-env \(entry.command) </dev/null >/dev/null 2>&1; requests >sent\(number)"
        }
        let script = try DocumentScript(
            """
            <!-- run:
            mkdir -p ~/web && cd ~/web && git init -q
            zg-env-sandbox --port 0 --build-seconds 0.1 >~/sandbox.json &
            until [ -s ~/sandbox.json ]; do sleep 0.1; done
            export ZG_ENV_API_URL=$(sed -E 's/.*"url":"([^"]*)".*/\\1/' ~/sandbox.json)
            token=$(sed -E 's/.*"token":"([^"]*)".*/\\1/' ~/sandbox.json)
            printf '%s\\n' "$PASSPHRASE" >~/passphrase && chmod 600 ~/passphrase
            export ZG_ENV_PASSPHRASE_FILE=~/passphrase
            requests() {
                local host=${ZG_ENV_API_URL#http://}
                exec 3<>"/dev/tcp/${host%:*}/${host#*:}"
                printf 'GET /_sandbox/requests HTTP/1.1\\r\\nHost: %s\\r\\n' "$host" >&3
                printf 'Authorization: Bearer %s\\r\\nConnection: close\\r\\n\\r\\n' "$token" >&3
                sed '1,/^\\r$/d' <&3
                exec 3<&-
            }
            zg-env init -q --no-secret-service --kdf 8MiB,1
            printf %s "$token" | zg-env login -q && zg-env link -q web && zg-env pull -q
            echo key | zg-env set SEED_API_KEY -q -t production,preview
            echo SEED_SITE_NAME= >.env.example
            requests >start
            -->
            <!-- run:
            \(lines.joined(separator: "\n"))
            -->
            """)
        let run = try DocumentRun(script, keyring: nil)
        let failures = try run.failures()
        #expect(failures.isEmpty, "\(failures)")
        func requests(_ name: String) throws -> [String] {
            let log = try JSONDocument(run.home.read("web/\(name)"))
            return (log["requests"]?.elements ?? []).map {
                "\($0["method"]?.text ?? "") \($0["path"]?.text ?? "")"
            }
        }
        var count = try requests("start").count
        return try commands.indices.map { number in
            let all = try requests("sent\(number)")
            defer { count = all.count }
            return Array(all.dropFirst(count))
        }
    }
}
