// Times the .env parser in this process, without starting a program, reading the file or using the
// entries:
//
//   zg-env-bench-reader FILE RUNS
//
// Prints the file's size in bytes, then the seconds of each run on its own line.

import DotEnv
import Glibc

func failed(_ reason: String) -> Never {
    print("zg-env-bench-reader: \(reason)")
    exit(1)
}

let arguments = CommandLine.arguments
guard arguments.count == 3, let runs = Int(arguments[2]), runs > 0,
    let file = unsafe fopen(arguments[1], "r")
else { failed("needs a file and a number of runs") }

var text: [UInt8] = []
var block = [UInt8](repeating: 0, count: 1 << 20)
while true {
    let count = unsafe fread(&block, 1, block.count, file)
    if count == 0 { break }
    text += block[..<count]
}
print(text.count)

for _ in 0..<runs {
    let clock = ContinuousClock()
    let start = clock.now
    let bytes = text.span
    guard let read = unsafe try? DotEnvReader.read(bytes.bytes), !read.entries.isEmpty else {
        failed("the file was not read")
    }
    let (seconds, attoseconds) = (clock.now - start).components
    print(Double(seconds) + Double(attoseconds) / 1e18)
}
