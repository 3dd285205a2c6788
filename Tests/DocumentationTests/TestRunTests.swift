import Foundation
import TestSupport
import Testing

/// `Tests/run-all` with a program that only says what tests say: which ends it takes for good.
@Suite("A run of all tests") struct TestRunTests {
    /// Stands for the program with the tests. `first` says how many tests fail among the others, and
    /// how that process ends; `again` how a test by itself ends.
    private static let program = #"""
        #!/bin/bash
        first=(FIRST) again=AGAIN number=0 status=0
        while [[ $# -gt 0 ]]; do
            case $1 in
                --event-stream-output-path) events=$2 ;;
                --filter) filter=$2 ;;
            esac
            shift
        done
        event() { printf '{"kind":"event","payload":{"kind":"%s",%s}}\n' "$@" >>"$events"; }
        end() {
            local id="CommandLineTests.SomeTests\\/\`a \\/ test\`()\\/SomeTests.swift:$2:6"
            event testEnded '"messages":[{"symbol":"'"$1"'","text":""}],"testID":"'"$id"'"'
        }
        case $filter in
            *SomeTests*)
                echo "$filter seed $ZG_ENV_PROOF_SEED" >>"$(dirname "$0")/again"
                [[ $filter == '^CommandLineTests\..*/SomeTests\.swift:'[0-9]':6$' ]] || exit 3
                [[ $again == none ]] || echo "✔ Test run with 1 test in 1 suite passed"
                [[ $again == passes || $again == none ]] || exit 1 ;;
            '^CommandLineTests\.[A-C]')
                echo "seed $ZG_ENV_PROOF_SEED" >"$(dirname "$0")/first"
                while [[ $number -lt ${first[0]} ]]; do
                    : $((number += 1))
                    echo "✘ Test \"number $number\" failed after 1 seconds with 1 issue."
                    [[ ${first[2]} != trap ]] || echo '✘ Test "a" recorded an issue: .signalled(6)'
                    end fail $number
                done
                end pass 9
                status=${first[1]} ;;
        esac
        [[ ${first[2]} == cut ]] || event runEnded '"messages":[]'
        exit $status
        """#

    private func run(first: String, again: String) throws -> (ProgramResult, repeated: [String]) {
        let directory = try TemporaryDirectory()
        let text = Self.program.replacing("FIRST", with: first).replacing("AGAIN", with: again)
        try directory.write(text, to: "tests", mode: 0o755)
        var runner = ProgramRunner(
            path: DocumentationTests.root + "/Tests/run-all", [directory.path + "/tests"],
            environment: ["PATH": "/usr/bin:/bin", "TMPDIR": directory.path])
        runner.workingDirectory = directory.path
        runner.timeLimit = .seconds(60)
        let result = try runner.run()
        let lines = { (name: String) in
            try? String(contentsOfFile: directory.path + "/" + name, encoding: .utf8)
        }
        let seed = try #require(lines("first")?.split(separator: "\n").first)
        let repeated = lines("again")?.split(separator: "\n").map { String($0) } ?? []
        #expect(repeated.allSatisfy { $0.hasSuffix(" " + seed) }, "\(repeated)")
        return (result, repeated)
    }

    @Test func `what fails among the others and passes by itself is named`() throws {
        let (none, repeated) = try run(first: "0 0", again: "fails")
        #expect(none.status == 0 && repeated.isEmpty && !none.output.contains("by itself"))
        for count in 1...3 {
            let (result, repeated) = try run(first: "\(count) 1", again: "passes")
            #expect(result.status == 0 && repeated.count == count, "\(result.output)")
            #expect(result.output.contains("passed, but \(count) of the tests only when run alone"))
            #expect(result.output.contains("✘ Test \"number 1\" failed"))
        }
    }

    @Test(arguments: [
        // By itself too; by a filter that finds nothing; more than a few.
        ("1 1", "fails", 1), ("1 1", "none", 1), ("4 1", "passes", 0),
        // A process that ended otherwise: a signal, a sanitizer's report, before its tests.
        ("0 1", "passes", 0), ("1 139", "passes", 0), ("1 66", "passes", 0), ("0 66", "passes", 0),
        ("1 1 cut", "passes", 0),
        // A program that trapped once.
        ("1 1 trap", "passes", 0),
    ])
    func `everything else is a failure`(first: String, again: String, count: Int) throws {
        let (result, repeated) = try run(first: first, again: again)
        #expect(result.status == 1 && repeated.count == count, "\(result.output)")
        #expect(!result.output.contains("passed, but"))
    }
}
