import Glibc
import SystemFiles
import TestSupport
import Testing

@Suite("Listing a directory")
struct DirectoryTests {
    /// More than one read of the kernel's entries, with names of each length that a file can have.
    @Test("every name is listed, whatever its length")
    func names() throws {
        let directory = try TemporaryDirectory()
        let expected = (1...255).flatMap { length in
            ["a", "\u{e9}"].compactMap { letter in
                let name = String(repeating: letter, count: length / letter.utf8.count)
                return name.utf8.count == length ? name : nil
            }
        }
        for name in expected {
            let file = try OpenFile(directory.path(name), O_WRONLY | O_CREAT | O_EXCL)
            _ = consume file
        }
        let opened = try OpenFile(directory.path, O_RDONLY | O_DIRECTORY)
        let (names, error) = Directory.names(in: opened)
        #expect(error == nil)
        #expect(Set(names) == Set(expected.map { Array($0.utf8) }))
        #expect(names.count == expected.count)
    }

    @Test("what cannot be read is an error")
    func unreadable() throws {
        let directory = try TemporaryDirectory()
        let file = try OpenFile(directory.path("file"), O_WRONLY | O_CREAT | O_EXCL)
        #expect(Directory.names(in: file).error == SystemError(ENOTDIR))
    }
}
