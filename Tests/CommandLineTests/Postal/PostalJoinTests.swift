import Foundation
import PostalProtocol
import Sealing
import TestSupport
import Testing

/// `postal join`, `status` and `leave` against the test's relay.
@Suite("postal join, status and leave")
struct PostalJoinTests {
    private static func home() throws -> CommandHome {
        let home = try CommandHome()
        try home.initialise()
        return home
    }

    private static func join(
        _ home: CommandHome, _ relay: FakeRelay, _ code: String, _ more: String...
    ) throws -> ProgramResult {
        try home.run(["postal", "join", relay.url] + more, input: .text(code + "\n"))
    }

    @Test func `a device joins, is confirmed, and leaves again`() throws {
        let (home, relay) = (try Self.home(), try FakeRelay())
        let code = relay.invite("team_1", "user_1")
        let joined = try json(
            Self.join(
                home, relay, code.lowercased().replacingOccurrences(of: "-", with: " "), "--json"))
        let device = try #require(relay.device)
        #expect(joined["device"] == .string(device.name) && joined["relay"] == .string(relay.url))
        #expect(joined["accounts"] == ["team_1", "user_1"])
        #expect(relay.targets == ["POST /devices", "GET /device"])
        // Neither the vault nor the request exposes secrets.
        let token = try #require(relay.devices.keys.first)
        #expect(try home.vaultBytes().firstRange(of: Array(token.utf8)) == nil)
        let status = try json(home.run(["postal", "status", "--json"]))["relays"]?.elements.first
        #expect(status?["state"] == "answers" && status?["device"] == .string(device.name))
        #expect(status?["newest"] == 10 && status?["acknowledged"] == 10)
        #expect(status?["lastEventAt"] == .null)
        let text = done(try home.run(["postal", "status"])).output
        #expect(text.contains(device.name) && text.contains("team_1, user_1"))
        #expect(text.contains("no events yet") && !text.contains(token))
        let before = relay.targets.count
        let offline = try json(home.run(["postal", "status", "--json", "--offline"]))
        #expect(offline["relays"]?.elements.first?["state"] == "not checked")
        #expect(relay.targets.count == before)
        // It needs a confirmation, and does nothing with --dry-run.
        #expect(try home.run(["postal", "leave"]).end == .exited(2))
        done(try home.run(["postal", "leave", "--dry-run", "--json"]))
        #expect(relay.devices.count == 1)
        let left = try json(home.run(["postal", "leave", relay.url, "--yes", "--json"]))
        #expect(left["removedThere"] == true && relay.devices.isEmpty)
        #expect(relay.targets.suffix(2) == ["DELETE /device", "GET /device"])
        #expect(try json(home.run(["postal", "status", "--json"]))["relays"] == [])
        #expect(try home.run(["postal", "leave", "--yes"]).end == .exited(4))
        #expect(try home.run(["postal", "leave", relay.url, "--yes"]).end == .exited(4))
    }

    @Test func `a wrong code, URL or relay is reported and changes nothing`() throws {
        let (home, relay) = (try Self.home(), try FakeRelay())
        let vault = try home.vaultBytes()
        func expect(_ result: ProgramResult, _ status: Int32, _ words: String, line: Int = #line) {
            #expect(result.end == .exited(status), "line \(line): \(result.error)")
            #expect(result.error.contains(words), "line \(line): \(result.error)")
        }
        for code in ["", "ABCD", "ABCD-EFGH-ABCD-EFGH-ABC!"] {
            expect(try Self.join(home, relay, code), 2, "invite code")
        }
        #expect(relay.targets.isEmpty)
        let foreign = InviteCode(random: [UInt8](repeating: 3, count: 20)).text
        let refused = try Self.join(home, relay, foreign)
        expect(refused, 6, "rejected the invite code")
        #expect(!refused.error.contains(foreign) && !refused.output.contains(foreign))
        for url in [
            "http://relay.example", "relay.example", "https://a@b.example", "https://a.b/x",
        ] {
            let result = try home.run(["postal", "join", url], input: .text(foreign))
            expect(result, 2, "relay")
        }
        let gone = try FakeRelay()
        gone.server.stop()
        usleep(100_000)
        expect(try Self.join(home, gone, foreign), 7, "relay")
        relay.setDown(true)
        expect(try Self.join(home, relay, foreign), 7, "busy")
        relay.setDown(false)
        let before = relay.targets.count
        done(try Self.join(home, relay, relay.invite("team_1"), "--dry-run", "--json"))
        expect(try Self.join(home, relay, foreign, "--offline"), 7, "--offline")
        #expect(relay.targets.count == before)
        for answer in [
            "{}", "no json", #"{"device":"d","token":"t","accounts":[]}"#,
            #"{"device":"device-0123456789","token":"short","accounts":["a"]}"#,
            #"{"device":"device-0123456789","token":"\#(String(repeating: "a b", count: 14))x","accounts":["a"]}"#,
            #"{"device":"../../0123456789","token":"\#(String(repeating: "a", count: 43))","accounts":["a"]}"#,
            #"{"device":"device-0123456789","token":"\#(String(repeating: "a", count: 43))","accounts":["a/b"]}"#,
        ] {
            relay.override("POST /devices", [.answer(201, answer)])
            expect(try Self.join(home, relay, foreign), 7, "Cannot read the relay's response")
        }
        relay.override("POST /devices", [.close])
        expect(try Self.join(home, relay, foreign), 7, "whose key is lost")
        relay.override("POST /devices", [.answer(302, "", headers: ["Location: /elsewhere"])])
        expect(try Self.join(home, relay, foreign), 7, "not a relay")
        #expect(try home.vaultBytes() == vault)
        let none = try CommandHome()
        let result = try none.run(["postal", "join", relay.url], input: .text(foreign))
        expect(result, 4, "vault")
    }

    @Test func `a vault that has joined, or is not writable, leaves no device behind`() throws {
        let (home, relay) = (try Self.home(), try FakeRelay())
        do {
            let lock = try HeldLock(of: home)
            let failed = try Self.join(home, relay, relay.invite("team_1"))
            #expect(failed.end == .exited(5), "\(failed.error)")
            #expect(failed.error.contains("device was removed from"), "\(failed.error)")
            #expect(relay.devices.isEmpty && relay.targets.last == "DELETE /device")
            relay.override("DELETE /device", [.close])
            let stays = try Self.join(home, relay, relay.invite("team_1"))
            #expect(stays.end == .exited(5) && stays.error.contains("whose key is lost"))
            relay.override("DELETE /device", nil)
            relay.removeDevices()
            withExtendedLifetime(lock) {}
        }
        done(try Self.join(home, relay, relay.invite("team_1")))
        let again = try Self.join(home, relay, relay.invite("team_1"))
        #expect(again.end == .exited(5) && again.error.contains("already"))
        #expect(relay.devices.count == 1)
        // A second relay is another registration; then `leave` needs its URL.
        let other = try FakeRelay()
        done(try Self.join(home, other, other.invite("team_1")))
        #expect(try home.run(["postal", "leave", "--yes"]).end == .exited(2))
        done(try home.run(["postal", "leave", other.url, "--yes"]))
        #expect(relay.devices.count == 1 && other.devices.isEmpty)
    }

    @Test func `an unconfirmed result is reported`() throws {
        let (home, relay) = (try Self.home(), try FakeRelay())
        relay.override("GET /device", [.answer(503, "{}")])
        let joined = try Self.join(home, relay, relay.invite("team_1"))
        #expect(joined.end == .exited(7) && joined.error.contains("could not be confirmed"))
        relay.override("GET /device", nil)
        done(try home.run(["postal", "status"]))
        // Another device with the same token is not ours.
        relay.override(
            "GET /device", [.answer(200, #"{"device":"device-other-one","accounts":["team_1"]}"#)])
        let status = try home.run(["postal", "status"])
        #expect(status.end == .exited(5) && status.error.contains("disagree"))
        relay.override("GET /device", [.answer(200, "<html>")])
        #expect(try home.run(["postal", "status"]).end == .exited(7))
    }

    @Test func `a device removed on the relay is reported, and leaves with the same command`()
        throws
    {
        let (home, relay) = (try Self.home(), try FakeRelay())
        done(try Self.join(home, relay, relay.invite("team_1")))
        relay.removeDevices()
        let status = try home.run(["postal", "status"])
        #expect(status.end == .exited(6) && status.output.contains("removed"), "\(status.error)")
        done(try home.run(["postal", "leave", "--yes"]))
        #expect(try json(home.run(["postal", "status", "--json"]))["relays"] == [])
    }

    @Test func `leaving an unreachable relay takes --force, which says what remains`() throws {
        let (home, relay) = (try Self.home(), try FakeRelay())
        done(try Self.join(home, relay, relay.invite("team_1")))
        let vault = try home.vaultBytes()
        relay.setDown(true)
        let failed = try home.run(["postal", "leave", "--yes"])
        #expect(failed.end == .exited(7) && failed.error.contains("vault was not changed"))
        #expect(try home.vaultBytes() == vault)
        #expect(try home.run(["postal", "status"]).end == .exited(7))
        relay.setDown(false)
        // The relay claims to have done it and has not: nothing is forgotten here.
        relay.override("DELETE /device", [.answer(204, "")])
        #expect(try home.run(["postal", "leave", "--yes"]).end == .exited(1))
        #expect(try home.vaultBytes() == vault)
        relay.setDown(true)
        let forced = try home.run(["postal", "leave", "--yes", "--force"])
        #expect(forced.end == .exited(0) && forced.error.contains("remove the device"))
        #expect(try json(home.run(["postal", "status", "--json"]))["relays"] == [])
        #expect(relay.devices.count == 1)
    }

    @Test func `a lost answer to leave is resolved`() throws {
        let (home, relay) = (try Self.home(), try FakeRelay())
        done(try Self.join(home, relay, relay.invite("team_1")))
        relay.override("DELETE /device", [.close])
        #expect(try home.run(["postal", "leave", "--yes"]).end == .exited(1))
        relay.removeDevices()
        done(try home.run(["postal", "leave", "--yes"]))
    }

    @Test func `rekey, backup and restore keep the device`() throws {
        let (home, relay) = (try Self.home(), try FakeRelay())
        done(try Self.join(home, relay, relay.invite("team_1")))
        done(try home.run(["backup", "kept.zgv"]))
        done(try home.run(["rekey", "--yes"]))
        done(try home.run(["verify"]))
        done(try home.run(["postal", "status"]))
        done(try home.run(["restore", "kept.zgv", "--yes"]))
        let status = try json(home.run(["postal", "status", "--json"]))["relays"]?.elements.first
        #expect(status?["state"] == "answers")
        done(try home.run(["postal", "leave", "--yes"]))
        #expect(relay.devices.isEmpty)
    }

    @Test func `on a terminal the code is typed at a hidden prompt`() throws {
        let (home, relay) = (try Self.home(), try FakeRelay())
        let code = relay.invite("team_1")
        var runner = home.terminalRunner(
            ["postal", "join", relay.url, "--passphrase-file", home.passphrasePath], streams: true,
            script: [(.terminal("Invite code: "), .line(code))])
        runner.timeLimit = .seconds(30)
        let result = try runner.run()
        #expect(result.end == .exited(0), "\(result.screen)")
        #expect(!result.screen.contains(code.prefix(9)) && relay.devices.count == 1)
    }
}
