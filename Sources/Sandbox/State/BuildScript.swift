/// Additional build output, one line each with a prefix.
///
/// `$ ` marks a command, `# ` a step, `! ` an error, `~ ` a warning, `= N` a command's end with
/// that exit code; other lines are output.
enum BuildScript {
    /// Most lines that are accepted.
    static let maximumLines = 1_000_000

    /// In how many parts a build prints its lines.
    static let portions: Int64 = 40
}

extension SandboxState {
    /// Adds the next lines of a deployment's script to its log.
    mutating func printScript(ofDeploymentAt index: Int, at time: Int64) {
        guard let script = deployments[index].script else { return }
        let done = deployments[index].printed ?? 0
        let portion = (script.count + Int(BuildScript.portions) - 1) / Int(BuildScript.portions)
        let end = min(done + max(portion, 1), script.count)
        deployments[index].printed = end
        for line in script[min(done, end)..<end] { append(scripted: line, to: index, at: time) }
    }

    private mutating func append(scripted line: String, to index: Int, at time: Int64) {
        let text = String(line.dropFirst(2))
        switch line.prefix(2) {
        case "$ ": append(text, .command, to: index, at: time)
        case "# ": append(text, .delimiter, to: index, at: time, step: text)
        case "! ": append(text, .stderr, to: index, at: time)
        case "~ ": append(text, .stderr, to: index, at: time, isWarning: true)
        case "= ": append("", .exit, to: index, at: time, statusCode: Int64(text))
        default: append(line, .stdout, to: index, at: time)
        }
    }
}
