import Glibc
import SystemFiles
import TestSupport
import Testing

@Suite("Replacing a file")
struct FileReplacementTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.path("file") }

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func write(_ text: String, replaces: Bool = true, permissions: UInt32 = 0o600) throws {
        try FileReplacement.write(
            to: path, by: ".new", permissions: permissions, replaces: replaces
        ) { file in unsafe try file.write(text.utf8Span.span.bytes) }
    }

    private var text: String? {
        OpenFile.wholeBytes(of: path, limit: 100).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("a file is replaced whole, with the requested permissions")
    func replaced() throws {
        try write("one")
        try write("two", permissions: 0o755)
        #expect(text == "two")
        #expect(try FileFacts(path).permissions == 0o755)
        #expect(Directory.names(in: directory.path) == ["file"])
    }

    @Test("an existing file stays if it must not be replaced, and a dangling link too")
    func kept() throws {
        #expect(unsafe symlink("nowhere", path) == 0)
        #expect(throws: FileReplacement.Failure.exists) { try write("two", replaces: false) }
        #expect(Directory.names(in: directory.path) == ["file"])
        #expect(unsafe unlink(path) == 0)
        try write("two", replaces: false)
        #expect(text == "two")
    }

    @Test("a new file that cannot be written is removed, and the old one stays")
    func unfilled() throws {
        struct Full: Error {}
        try write("one")
        #expect(throws: Full.self) {
            try FileReplacement.write(to: path, by: ".new", replaces: true) { _ in throw Full() }
        }
        // A refusal by the kernel is a failure to write.
        #expect(throws: FileReplacement.Failure.notWritten(SystemError(EBADF))) {
            try FileReplacement.write(to: path, by: ".new", replaces: true) { _ in
                unsafe try OpenFile(path, O_RDONLY).write("x".utf8Span.span.bytes)
            }
        }
        #expect(text == "one")
        #expect(Directory.names(in: directory.path) == ["file"])
    }

    @Test("another process's temporary file is not touched")
    func taken() throws {
        #expect(unsafe mkdir(directory.path(".new"), 0o700) == 0)
        #expect(throws: FileReplacement.Failure.cannotCreate(SystemError(EEXIST))) {
            try write("one")
        }
        #expect(try FileFacts(directory.path(".new")).kind == .directory)
    }

    @Test("a directory in place of the file is not replaced")
    func directoryThere() throws {
        #expect(unsafe mkdir(path, 0o700) == 0)
        #expect(throws: FileReplacement.Failure.cannotRename(SystemError(EISDIR))) {
            try write("one")
        }
        #expect(Directory.names(in: directory.path) == ["file"])
    }

    @Test(
        "the directory of a path",
        arguments: [("a", "."), ("/a", "/"), ("/a/b", "/a"), ("a/b", "a")])
    func directories(path: String, directory: String) {
        #expect(FileReplacement.directory(of: path) == directory)
    }

    @Test("a file that is longer than allowed is not read")
    func bounded() throws {
        try write("12345")
        #expect(OpenFile.wholeBytes(of: path, limit: 5) == Array("12345".utf8))
        #expect(OpenFile.wholeBytes(of: path, limit: 4) == nil)
        let file = try OpenFile(path, O_RDONLY)
        #expect(try file.bytes(at: 3, upTo: 10) == Array("45".utf8))
        #expect(try file.bytes(at: 9, upTo: 10) == [])
    }
}
