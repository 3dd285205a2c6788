import Glibc
import SystemFiles
import TestSupport
import Testing

@Suite("File locks")
struct FileLockTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.path("lock") }

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test("one of two holds the lock, and the other gets it when the first ends")
    func whole() throws {
        var first: FileLock? = try FileLock(path)
        #expect(try first?.tryLock() == true)
        first?.writeHolder()
        let second = try FileLock(path)
        #expect(try !second.tryLock())
        #expect(second.holder == getpid())
        // Each wait gives the other one a chance.
        var waits = 0
        let isTaken = try second.lock(within: .seconds(60), pauses: 1...4) { pause in
            waits += 1
            #expect(pause <= 4)
            if waits == 3 { first = nil }
        }
        #expect(isTaken && waits == 3)
    }

    @Test("a lock that is not released in time is not acquired")
    func late() throws {
        let first = try FileLock(path)
        #expect(try first.tryLock())
        #expect(try !FileLock(path).lock(within: .zero, pauses: 1...1))
        #expect(try FileLock(path).holder == nil)
        withExtendedLifetime(first) {}
    }

    @Test(
        "each byte is a lock of its own, which may be given back while the file is open elsewhere")
    func bytes() throws {
        let one = try FileLock(path, byte: 1)
        #expect(try one.tryLock())
        #expect(try FileLock(path, byte: 2).tryLock())
        #expect(try !FileLock(path, byte: 1).tryLock())
        let copy = try one.file.duplicate(notBelow: 10)
        one.unlock()
        #expect(try FileLock(path, byte: 1).tryLock())
        #expect(copy.descriptor >= 10)
    }
}
