import Glibc
import SystemFiles
import TestSupport
import Testing

/// A private directory of temporary files.
struct PrivateDirectoryTests {
    @Test func `a private directory is for its owner, and goes with its content`() throws {
        let parent = try TemporaryDirectory()
        let kept = try parent.write("kept", to: "kept")
        let directory = try PrivateDirectory(in: parent.path, prefix: "some-")
        #expect(directory.path.hasPrefix("\(parent.path)/some-"))
        var facts = stat()
        #expect(unsafe stat(directory.path, &facts) == 0)
        #expect(facts.st_mode & 0o777 == 0o700)
        for name in ["a", "a/b", "a/b/c"] { unsafe mkdir("\(directory.path)/\(name)", 0o700) }
        for (target, name) in [(parent.path, "a/up"), (kept, "a/b/link"), ("nowhere", "gone")] {
            #expect(unsafe symlink(target, "\(directory.path)/\(name)") == 0)
        }
        #expect(unsafe chmod("\(directory.path)/a/b", 0o500) == 0)
        try directory.remove()
        #expect(unsafe access(directory.path, F_OK) != 0)
        #expect(try parent.read("kept") == Array("kept".utf8))
        // Removing it again is no error.
        try directory.remove()
        #expect(throws: SystemError(ENOENT)) {
            try PrivateDirectory(in: "\(parent.path)/nowhere", prefix: "x")
        }
    }
}
