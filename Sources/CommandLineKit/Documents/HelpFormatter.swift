/// Help texts.
package struct HelpFormatter: Sendable {
    static func usageLine(_ command: CommandSpec, of program: ProgramSpec) -> String {
        let options = command.options.contains { !$0.isHidden } ? ["[options]"] : []
        let words = [program.name] + command.path + options + command.arguments.map(\.usage)
        return words.joined(separator: " ")
    }
}
