internal import Glibc

// Before the first thread starts, so that every thread leaves these signals to `waitForEnd`.
blockEndSignals()
exit(SandboxProgram(arguments: Array(CommandLine.arguments.dropFirst())).run())
