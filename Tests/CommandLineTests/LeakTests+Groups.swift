import TestSupport
import Testing

extension LeakTests {
    /// Commands about groups, in the order of the table: the project is shared from the first to the
    /// last.
    static let groupCommands: [String: @Sendable (LeakWitness) throws -> Void] = [
        "share": { witness in
            let place = try witness.home.directory.makeDirectory("place")
            try witness.run(["share", "one", "--group", "acme", "--at", "none"], status: 7)
            try witness.run(
                ["share", "one", "--group", "acme", "--at", place, "--as", "me", "--yes"])
            try witness.run(
                ["share", "one", "--group", "acme", "--at", place, "--yes", "--json"], status: 5)
        },
        "sync": { witness in
            try witness.run(["sync"])
            try witness.run(["sync", "acme", "--json", "--verbose"])
            try witness.run(["sync", witness.argument.text], status: 4)
        },
        "group invite": { witness in
            try witness.run(["group", "invite", "bob", "--yes"])
            try witness.run([
                "group", "invite", "ci", "--role", "reader", "--auto", "--yes", "--json",
            ])
        },
        "group join": { witness in
            try witness.run(
                ["group", "join", witness.home.directory.path("place"), "--group", "other"],
                input: .text(witness.typed.text), status: 2)
        },
        "group show": { witness in
            try witness.run(["group", "show"])
            try witness.run(["group", "status", "acme", "--json"])
            try witness.run(["log", "--group"])
            try witness.run(["log", "--group", "acme", "--json", "--verbose"])
        },
        "group adopt": { witness in
            try witness.run(["group", "adopt", "one"], status: 5)
        },
        "group accept": { witness in
            try witness.run(["group", "accept", "-p", "one"])
            try witness.run(
                ["group", "accept", "KEY", "-p", "one", "--unseen", "--json"], status: 5)
        },
        "resolve": { witness in
            try witness.run(["resolve", "KEY", "-p", "one"], status: 5)
            try witness.run(
                ["resolve", "KEY", "-p", "one", "--take", witness.argument.text], status: 5)
        },
        "group role": { witness in
            try witness.run(["group", "role", "nobody", "admin", "--yes"], status: 4)
        },
        "group remove": { witness in
            try witness.run(["group", "remove", "nobody", "--yes", "--json"], status: 4)
        },
        "group exposure": { witness in
            let report = witness.home.directory.path("report.md")
            try witness.run(["group", "exposure", "me", "--report", report], status: 1)
            try witness.run(["group", "exposure", "me", "--json"], status: 1)
        },
        "group leave": { witness in
            try witness.run(["group", "leave", "--dry-run"])
            try witness.run(["group", "leave", "--yes", "--json"])
        },
    ]
}
