import CTestSupport
import Glibc

/// A terminal that a test types into and reads from.
///
/// Keeps the child's side open too, so that the terminal outlives every program that closes it.
package final class PseudoTerminal: Sendable {
    /// The test's side.
    let controller: Int32
    /// The child's side.
    package let device: Int32
    /// The path of the child's side.
    let devicePath: String

    /// Makes a terminal of the given size.
    init(columns: Int, rows: Int) throws {
        var ends: [Int32] = [-1, -1]
        var name = [CChar](repeating: 0, count: 128)
        let status = unsafe zg_open_terminal(
            &ends, &name, Int32(name.count), Int32(columns), Int32(rows))
        guard status == 0 else { throw SystemCallError("open a pseudo-terminal") }
        controller = ends[0]
        device = ends[1]
        let bytes = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        devicePath = String(decoding: bytes, as: UTF8.self)
    }

    deinit {
        close(controller)
        close(device)
    }

    /// Changes the size; the kernel tells the programs in the foreground.
    package func resize(_ columns: Int, _ rows: Int) {
        zg_resize_terminal(controller, Int32(columns), Int32(rows))
    }

    /// Whether the terminal echoes input.
    package var isEchoOn: Bool {
        var attributes = termios()
        guard unsafe tcgetattr(device, &attributes) == 0 else { return false }
        return attributes.c_lflag & tcflag_t(ECHO) != 0
    }
}
