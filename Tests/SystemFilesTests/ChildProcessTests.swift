import Foundation
import Glibc
import SystemFiles
import TestSupport
import Testing

@Suite("Child processes")
struct ChildProcessTests {
    private typealias Child = SystemFiles.ChildProcess

    private func shell(
        _ command: String, input: Child.Stream = .null, output: Child.Stream = .pipe,
        further: [Int32: Child.Stream] = [:], startsSession: Bool = false
    ) throws -> Child {
        try Child.start(
            "/bin/sh", ["sh", "-c", command], environment: [Array("NAME=value".utf8)], input: input,
            output: output, error: .null, further: further, startsSession: startsSession,
            searchesPath: false)
    }

    private func output(of child: Child) throws -> String {
        let file = OpenFile(owning: dup(child.outputDescriptor))
        return String(decoding: try file.bytes(upTo: 1_000), as: UTF8.self)
    }

    @Test("a child has its arguments, its environment and its pipes")
    func streams() throws {
        let child = try shell(
            "cat; cat <&3; env | grep -v -e PWD= -e _=",
            input: .pipe, further: [3: .pipe])
        for (number, text) in [(0, "in "), (3, "further\n")] as [(Int32, String)] {
            unsafe try OpenFile(owning: dup(child.descriptor(number)))
                .write(text.utf8Span.span.bytes)
            child.closeInput(number)
            #expect(child.descriptor(number) == -1)
        }
        #expect(try output(of: child) == "in further\nNAME=value\n")
        #expect(child.wait() == 0)
    }

    @Test("the end is the status, or 128 and the signal")
    func ends() throws {
        #expect(try shell("exit 7", output: .null).wait() == 7)
        #expect(try shell("kill -KILL $$", output: .null).wait() == 128 + SIGKILL)
        let child = try shell("read line", input: .pipe, output: .null)
        #expect(child.exitCodeIfEnded() == nil)
        child.terminate()
    }

    @Test("no exit code is made up if somebody else waited for the child")
    func reapedElsewhere() throws {
        let (first, second) = (try shell("exit 0"), try shell("exit 0"))
        for child in [first, second] {
            #expect(waitpid(child.identifier, nil, 0) == child.identifier)
        }
        #expect(first.wait() == 255)
        #expect(second.exitCodeIfEnded() == 255)
        let known = try shell("exit 7")
        #expect(known.wait() == 7 && known.exitCodeIfEnded() == 7 && known.wait() == 7)
    }

    @Test("a missing program is an error that names it")
    func missing() throws {
        #expect(throws: Child.Failure.self) {
            try Child.start(
                "zg-env-none", [], environment: [], input: .null, output: .null, searchesPath: true)
        }
    }

    @Test("every process of a session ends with it, whatever signals it ignores")
    func session() throws {
        let child = try shell(
            "trap '' TERM; sleep 1000 & echo $!; wait", startsSession: true)
        var bytes: [UInt8] = []
        let file = OpenFile(owning: dup(child.outputDescriptor))
        while bytes.last != 0x0A { bytes += try file.bytes(upTo: 1) }
        let sleeper = try #require(Int32(String(decoding: bytes.dropLast(), as: UTF8.self)))
        child.endSession()
        // The signal is on its way. Until the system reaps it, a zombie is left.
        while let stat = OpenFile.wholeBytes(of: "/proc/\(sleeper)/stat", limit: 1_000),
            !String(decoding: stat, as: UTF8.self).contains(") Z ")
        {
            usleep(1_000)
        }
    }

    @Test("a program that a test wrote starts, even if a process had it open for writing")
    func writtenProgram() throws {
        let directory = try TemporaryDirectory()
        let writer = unsafe open(
            try directory.write("", to: "program"), O_WRONLY | O_CLOEXEC)
        // Long enough that a start which does not wait fails.
        Thread.detachNewThread {
            usleep(200_000)
            close(writer)
        }
        let program = try directory.write("#!/bin/sh\nexit 7\n", to: "program", mode: 0o700)
        let child = try Child.start(
            program, [program], environment: [], input: .null, output: .null, error: .null,
            further: [:], startsSession: false, searchesPath: false)
        #expect(child.wait() == 7)
    }
}
