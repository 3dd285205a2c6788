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

    private func write(
        _ text: String, replaces: Bool = true, permissions: UInt32 = 0o600, unnamed: Bool = false
    ) throws {
        try FileReplacement.write(
            to: path, by: ".new", permissions: permissions, replaces: replaces, unnamed: unnamed
        ) { file in unsafe try file.write(text.utf8Span.span.bytes) }
    }

    private var text: String? {
        OpenFile.wholeBytes(of: path, limit: 100).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(
        "a file is replaced whole, with the requested permissions", arguments: [false, true])
    func replaced(unnamed: Bool) throws {
        try write("one", unnamed: unnamed)
        try write("two", permissions: 0o755, unnamed: unnamed)
        #expect(text == "two")
        #expect(try FileFacts(path).permissions == 0o755)
        #expect(Directory.names(in: directory.path) == ["file"])
    }

    @Test(
        "an existing file stays if it must not be replaced, and a dangling link too",
        arguments: [false, true])
    func kept(unnamed: Bool) throws {
        #expect(unsafe symlink("nowhere", path) == 0)
        #expect(throws: FileReplacement.Failure.exists) {
            try write("two", replaces: false, unnamed: unnamed)
        }
        #expect(Directory.names(in: directory.path) == ["file"])
        #expect(unsafe unlink(path) == 0)
        try write("two", replaces: false, unnamed: unnamed)
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

    @Test("another process's temporary file is not touched", arguments: [false, true])
    func taken(unnamed: Bool) throws {
        unsafe try OpenFile(directory.path(".new"), O_WRONLY | O_CREAT)
            .write("theirs".utf8Span.span.bytes)
        #expect(throws: FileReplacement.Failure.cannotCreate(SystemError(EEXIST))) {
            try write("one", unnamed: unnamed)
        }
        #expect(OpenFile.wholeBytes(of: directory.path(".new"), limit: 9) == Array("theirs".utf8))
        #expect(Directory.names(in: directory.path) == [".new"])
    }

    @Test("what is killed before a file is complete leaves nothing, if the file has no name yet")
    func unnamed() throws {
        try FileReplacement.write(to: path, by: ".new", replaces: true, unnamed: true) { file in
            unsafe try file.write("secret".utf8Span.span.bytes)
            #expect(Directory.names(in: directory.path).isEmpty)
        }
        #expect(text == "secret")
        #expect(Directory.names(in: directory.path) == ["file"])
    }

    @Test("a name that begins with a combining mark is a name")
    func combiningMark() throws {
        let marked = directory.path("\u{301}x")
        try FileReplacement.write(to: marked, by: ".new", replaces: true) { file in
            unsafe try file.write("x".utf8Span.span.bytes)
        }
        #expect(FileReplacement.directory(of: marked).utf8.elementsEqual(directory.path.utf8))
        #expect(FileReplacement.name(of: marked).utf8.elementsEqual("\u{301}x".utf8))
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
