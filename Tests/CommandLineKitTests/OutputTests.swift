import CommandLineKit
import Foundation
import Glibc
import JSON
import Testing

@Suite struct `JSON` {
    func written(_ value: JSONValue) throws -> String {
        var writer = JSONWriter(to: ByteBuffer())
        try writer.value(value)
        return try writer.finish().text
    }

    @Test func `keeps the order and takes no room`() throws {
        let value: JSONValue = [
            "z": 1, "a": [true, false, .null, "x", []], "empty": [:], "min": .integer(.min),
        ]
        #expect(
            try written(value)
                == #"{"z":1,"a":[true,false,null,"x",[]],"empty":{},"min":-9223372036854775808}"#)
    }

    @Test func `of every scalar is read back by Foundation as it was`() throws {
        var text = String.UnicodeScalarView()
        for value in UInt32(0)...0x10FFFF {
            if let scalar = Unicode.Scalar(value) { text.append(scalar) }
        }
        let json = Data(try written(.array([.string(String(text))])).utf8)
        let read = try #require(try JSONSerialization.jsonObject(with: json) as? [String])
        #expect(read.first?.unicodeScalars.elementsEqual(text) == true)
    }

    @Test func `holds no byte that steers a terminal`() throws {
        let text = String(
            String.UnicodeScalarView((0..<0x100).compactMap { Unicode.Scalar($0 as UInt32) }))
        let json = try written(.string(text + "\u{202E}\u{2028}\u{E0041}"))
        #expect(
            json.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) }
        )
        #expect(json.contains("\\u0000") && json.contains("\\u001b") && json.contains("\\u007f"))
        #expect(json.contains("\\u009b\\u009c"))
        #expect(json.contains("\\u202e\\u2028\\udb40\\udc41"))
        #expect(json.contains(##" !\"#$%"##) && json.contains(##"[\\]"##))
        #expect(json.contains("\\b\\t\\n"))
    }

    @Test func `takes bytes that never were a text`() throws {
        let bytes = Array("päss\"\n\u{1}😀".utf8)
        var writer = JSONWriter(to: ByteBuffer())
        try writer.beginObject()
        try writer.name("value")
        try unsafe writer.string(utf8: bytes.span.bytes)
        try writer.endObject()
        #expect(try writer.finish().text == #"{"value":"päss\"\n\u0001😀"}"#)
    }

    @Test(
        arguments: [
            [0x80], [0xC3], [0xC0, 0x80], [0xE2, 0x82], [0xED, 0xA0, 0x80],
            [0xF5, 0x80, 0x80, 0x80],
            [0xF4, 0x90, 0x80, 0x80], [0xE0, 0x80, 0x80], [0xF0, 0x80, 0x80, 0x80],
            [0x61, 0xFF, 0x61],
        ] as [[UInt8]])
    func `refuses bytes that are no UTF-8, and writes none of them`(_ bytes: [UInt8]) throws {
        var writer = JSONWriter(to: ByteBuffer())
        var failure: OutputError?
        do throws(OutputError) {
            try unsafe writer.string(utf8: bytes.span.bytes)
        } catch {
            failure = error
        }
        #expect(failure == .invalidUTF8)
        try writer.null()
        #expect(try writer.finish().text == "null")
    }

    @Test func `judges UTF-8 as the standard library does`() {
        var seed: UInt64 = 7
        let alphabet: [UInt8] = [
            0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0,
            0xE1, 0xED,
            0xEF, 0xF0, 0xF1, 0xF4, 0xF5, 0xFF,
        ]
        var valid = 0
        for _ in 0..<100_000 {
            let bytes = (0..<4).map { _ -> UInt8 in
                seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return alphabet[Int(seed >> 33) % alphabet.count]
            }
            let expected = String(validating: bytes, as: UTF8.self) != nil
            if expected { valid += 1 }
            guard unsafe UTF8Check.isValid(bytes.span.bytes) == expected else {
                Issue.record("\(bytes)")
                return
            }
        }
        #expect(valid > 100)
    }

    @Test func `cannot be written out of shape`() throws {
        func fails(_ body: (inout JSONWriter<ByteBuffer>) throws(OutputError) -> Void) -> Bool {
            var writer = JSONWriter(to: ByteBuffer())
            do throws(OutputError) {
                try body(&writer)
                _ = try writer.finish()
                return false
            } catch {
                return error == .invalidStructure
            }
        }
        #expect(fails { (_) throws(OutputError) in })
        #expect(fails { (w) throws(OutputError) in try w.beginObject() })
        #expect(fails { (w) throws(OutputError) in try w.endObject() })
        #expect(fails { (w) throws(OutputError) in try w.endArray() })
        #expect(fails { (w) throws(OutputError) in try w.name("a") })
        #expect(
            fails { (w) throws(OutputError) in
                try w.null()
                try w.null()
            })
        #expect(
            fails { (w) throws(OutputError) in
                try w.beginObject()
                try w.bool(true)
            })
        #expect(
            fails { (w) throws(OutputError) in
                try w.beginObject()
                try w.name("a")
                try w.endObject()
            })
        #expect(
            fails { (w) throws(OutputError) in
                try w.beginObject()
                try w.name("a")
                try w.name("b")
            })
        #expect(
            fails { (w) throws(OutputError) in
                try w.beginArray()
                try w.endObject()
            })
    }
}

@Suite(.timeLimit(.minutes(1))) struct `An output` {
    /// The reading and the writing end of a pipe.
    func pipe() -> (Int32, Int32) {
        var ends: [Int32] = [-1, -1]
        _ = unsafe Glibc.pipe(&ends)
        // A child of a test that runs beside this one would keep the pipe open.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    func everything(from descriptor: Int32, slowly: Bool = false) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        while true {
            if slowly { usleep(500) }
            let count = unsafe read(descriptor, &chunk, chunk.count)
            guard count > 0 else { return bytes }
            bytes += chunk[..<count]
        }
    }

    @Test(arguments: [false, true])
    func `writes all of it, also where it must wait`(_ isNonBlocking: Bool) throws {
        let (reading, writing) = pipe()
        if isNonBlocking { _ = fcntl(writing, F_SETFL, O_NONBLOCK) }
        let reader = Background { self.everything(from: reading, slowly: true) }
        let output = OutputStream(descriptor: writing)
        var expected: [UInt8] = []
        for size in [0, 1, 8191, 8192, 8193, 1, 300_000, 5, 1_000_000] {
            let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ size) }
            try unsafe output.write(bytes.span.bytes)
            expected += bytes
        }
        try output.write("ende")
        expected += Array("ende".utf8)
        try output.flush()
        close(writing)
        #expect(reader.result() == expected)
        close(reading)
    }

    @Test func `keeps bytes until it is flushed`() throws {
        let (reading, writing) = pipe()
        let output = OutputStream(descriptor: writing)
        try output.write("gathered")
        var entry = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
        #expect(unsafe poll(&entry, 1, 0) == 0)
        try output.flush()
        #expect(unsafe poll(&entry, 1, 0) == 1)
        output.discard()
        close(writing)
        #expect(everything(from: reading) == Array("gathered".utf8))
        close(reading)
    }

    @Test func `tells a reader that went from other failures`() async {
        await #expect(processExitsWith: .exitCode(141)) {
            try Interrupts.install()
            var ends: [Int32] = [-1, -1]
            guard unsafe Glibc.pipe(&ends) == 0 else { exit(1) }
            close(ends[0])
            let output = OutputStream(descriptor: ends[1])
            do throws(OutputError) {
                try output.write("x")
                try output.flush()
            } catch {
                exit(error == .closed ? 141 : 2)
            }
        }
    }

    @Test func `reports what the system said`() throws {
        let full = unsafe open("/dev/full", O_WRONLY | O_CLOEXEC)
        let output = OutputStream(descriptor: full)
        try output.write("x")
        #expect(throws: OutputError.system(errno: ENOSPC)) { try output.flush() }
        close(full)
    }

    @Test func `a descriptor that is closed, or open for reading alone, has no reader`() throws {
        let null = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(null) }
        for descriptor in [-1, null] {
            let output = OutputStream(descriptor: descriptor)
            try output.write("x")
            #expect(throws: OutputError.closed) { try output.flush() }
        }
    }
}
