import Foundation
import Sandbox
import TestSupport
import Testing

extension LeakTests {
    /// Relay commands; see ``commands``. Mistyped codes contain a marker.
    static let postalCommands: [String: @Sendable (LeakWitness) throws -> Void] = [
        "postal join": { witness in
            let relay = try FakeRelay()
            let join = ["postal", "join", relay.url]
            try witness.run(join + ["--json"], input: .text(relay.invite("team_1")))
            try witness.run(join, input: .text(relay.invite("team_1")), status: 5)
            try witness.run(["postal", "leave", "--yes"])
            try witness.run(join, input: .text(witness.typed.text), status: 2)
            try witness.run(join + [witness.argument.text], status: 2)
            try witness.run(["postal", "join", witness.argument.text], status: 2)
        },
        "postal status": { witness in
            let relay = try FakeRelay()
            try witness.run(
                ["postal", "join", relay.url], input: .text(relay.invite("team_1")))
            try witness.run(["postal", "status"])
            try witness.run(["postal", "status", "--json", "--verbose"])
            relay.removeDevices()
            try witness.run(["postal", "status"], status: 6)
            try witness.run(["postal", "leave", "--yes"])
        },
        "postal leave": { witness in
            let relay = try FakeRelay()
            try witness.run(
                ["postal", "join", relay.url], input: .text(relay.invite("team_1")))
            relay.setDown(true)
            try witness.run(["postal", "leave", "--yes"], status: 7)
            try witness.run(["postal", "leave", "--yes", "--force", "--json"])
            try witness.run(["postal", "leave", witness.argument.text, "--yes"], status: 2)
        },
    ]
}
