internal import Glibc

// Before the first thread starts, so that all threads inherit the mask.
blockEndSignals()
exit(SandboxProgram(arguments: Array(CommandLine.arguments.dropFirst())).run())
