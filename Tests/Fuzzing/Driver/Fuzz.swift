import CFuzzing
import FuzzTargets
import Glibc

/// `zg-env-fuzz TARGET [libFuzzer's arguments]`: tries a target with inputs that reach new code.
///
/// Only in the package if ZG_FUZZ is 1 in the environment, since it needs libFuzzer's runtime.
@main
struct Fuzz {
    /// Set before the driver runs; its callback has no context argument.
    nonisolated(unsafe) private static var target = FuzzTarget.vault
    nonisolated(unsafe) private static let scratch = FuzzScratch()

    static func main() {
        guard CommandLine.arguments.count > 1,
            let target = FuzzTarget(rawValue: CommandLine.arguments[1])
        else {
            let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: "|")
            print("usage: zg-env-fuzz \(names) [arguments of libFuzzer]")
            exit(2)
        }
        unsafe Self.target = target
        let rest = [CommandLine.arguments[0]] + CommandLine.arguments.dropFirst(2)
        var count = Int32(rest.count)
        var arguments = unsafe rest.map { unsafe strdup($0) } + [nil]
        let status = unsafe arguments.withUnsafeMutableBufferPointer { buffer -> Int32 in
            guard var base = buffer.baseAddress else { return 2 }
            return unsafe LLVMFuzzerRunDriver(&count, &base) { bytes, count in
                let input = unsafe [UInt8](UnsafeBufferPointer(start: bytes, count: count))
                do {
                    try unsafe Fuzz.target.exercise(input, Fuzz.scratch)
                } catch {
                    fatalError("\(error)")
                }
                return 0
            }
        }
        exit(status)
    }
}
