import Dispatch
import Foundation
import TestSupport
import Testing
import Threads

/// Processes that write one after another, all at once, while others read.
@Suite("Many writers")
struct ManyWritersTests {
    private static let writers = Proof.count(short: 6, full: 20)
    private static let writes = Proof.count(short: 10, full: 50)

    /// Writes one variable after another. Exit code 5 means that nothing changed and it retries.
    private static let write = """
        n=0
        while [ $n -lt $3 ]; do
            while :; do
                printf 'value %s %s' "$2" "$n" | "$1" set "KEY_$2_$n" -p web --json >/dev/null
                status=$?
                [ $status = 0 ] && break
                [ $status = 5 ] || exit $status
                echo again
            done
            n=$((n + 1))
        done
        """

    /// Reads until the file `stop` exists; any failure ends it.
    private static let read = """
        n=0
        until [ $n -gt 0 ] && [ -e "$2" ]; do
            "$1" list -p web --json >"$3" || { s=$?; [ $s = 4 ] || exit $s; }
            "$1" verify --json >"$3" || { s=$?; cat "$3"; exit $s; }
            n=$((n + 1))
        done
        echo $n
        """

    private func shell(_ home: CommandHome, _ script: String, _ arguments: [String]) throws
        -> ProgramResult
    {
        var runner = home.wrapped("/bin/sh") { ["-c", script, "sh", $0] + arguments }
        runner.timeLimit = .seconds(540)
        return try runner.run()
    }

    @Test func `concurrent writers lose nothing, and no reader sees a damaged vault`() throws {
        let home = try CommandHome.initialised()
        try home.store(["FIRST": "1"])
        let failures = Monitor<[String]>([])
        let repeats = Monitor(0)
        let stop = home.directory.path("stop")
        let reading = DispatchGroup()
        let seen = Monitor<[Int]>([])
        for number in 0..<2 {
            DispatchQueue.global().async(group: reading) {
                let result = try? shell(
                    home, Self.read, [stop, home.directory.path("read-\(number)")])
                if result?.status != 0 {
                    failures.look {
                        $0.append("reader: \(result?.output ?? "") \(result?.error ?? "")")
                    }
                }
                let rounds = result.flatMap {
                    Int($0.output.trimmingCharacters(in: .whitespacesAndNewlines))
                }
                seen.look { $0.append(rounds ?? 0) }
            }
        }
        let writing = DispatchGroup()
        for number in 0..<Self.writers {
            Thread.detach(into: writing) {
                let result = try? shell(home, Self.write, ["\(number)", "\(Self.writes)"])
                if result?.status != 0 {
                    failures.look { $0.append("writer: \(result?.error ?? "not run")") }
                }
                repeats.look { $0 += result?.output.split(separator: "\n").count ?? 0 }
            }
        }
        writing.wait()
        try home.directory.write("", to: "stop")
        reading.wait()
        #expect(failures.look { $0 } == [])
        #expect(seen.look { $0.allSatisfy { $0 > 0 } })
        let object = try json(
            home.run(["export", "-p", "web", "-t", "preview", "--format", "json"]))
        var expected = ["FIRST": JSONDocument.string("1")]
        for writer in 0..<Self.writers {
            for write in 0..<Self.writes {
                expected["KEY_\(writer)_\(write)"] = .string("value \(writer) \(write)")
            }
        }
        #expect(object == .object(expected))
        let verified = try json(home.run(["verify", "--json"]))
        #expect(verified["checked"]?["versions"] == .integer(expected.count))
        print(
            "\(Self.writers) writers of \(Self.writes) each: \(expected.count - 1) variables, "
                + "\(repeats.look { $0 }) waited too long and came again, readers read "
                + "\(seen.look { $0 }) times")
    }
}

extension Thread {
    /// Runs `body` on its own thread, which no thread pool can delay.
    static func detach(into group: DispatchGroup, _ body: @escaping @Sendable () -> Void) {
        group.enter()
        Thread.detachNewThread {
            body()
            group.leave()
        }
    }
}
