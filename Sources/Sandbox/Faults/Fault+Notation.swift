extension Fault.Kind {
    /// Parses a kind such as `429:5` or `silent-batch:one,status=200`.
    init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let argument = parts.count > 1 ? String(parts[1]) : nil
        let kind: Self? =
            switch (String(parts[0]), argument) {
            case ("429", nil): .rateLimited(seconds: nil)
            case ("429", let seconds?):
                Int(seconds).flatMap {
                    (0...86400).contains($0) ? .rateLimited(seconds: $0) : nil
                }
            case ("slow", let seconds?): Seconds.value(of: seconds).map(Self.slow)
            case ("redirect", let address?): address.contains(" ") ? nil : .redirect(address)
            case ("says", let argument?): Self.saying(argument)
            case ("escapes", nil): .escapes(.texts)
            case ("escapes", "all"?): .escapes(.all)
            case ("escapes", let status?):
                Int(status).flatMap {
                    (400...599).contains($0) ? .escapes(.status($0)) : nil
                }
            case ("reset", nil): .reset
            case ("lost-answer", nil): .lostAnswer
            case ("truncate", nil): .truncate
            case ("drip", nil): .drip
            case ("challenge", nil): .challenge(.any)
            case ("challenge", let code?): Fault.Challenge(rawValue: code).map(Self.challenge)
            case ("saml", nil): .singleSignOn
            case ("html", nil): .html
            case ("ongoing", nil): .ongoing(Self.usualOngoing)
            case ("ongoing", let words?):
                PercentCoding.decoded(words[...], form: false).flatMap {
                    $0.isEmpty ? nil : .ongoing($0)
                }
            case ("silent-batch", let argument): SilentBatch(argument ?? "").map(Self.silentBatch)
            case ("echoes-value", let argument?): ValueEcho(argument).map(Self.echoesValue)
            case ("before", let act?): Act(act).map { .act($0, .before) }
            case ("then", let act?): Act(act).map { .act($0, .then) }
            case (let name, nil):
                if let effect = Fault.Effect(rawValue: name) {
                    .effect(effect)
                } else {
                    Int(name).flatMap { (200...599).contains($0) ? .status($0) : nil }
                }
            default: nil
            }
        guard let kind else { return nil }
        self = kind
    }

    private static func saying(_ argument: String) -> Self? {
        let words = argument.split(separator: ":", maxSplits: 1)
        guard words.count == 2, let status = Int(words[0]), (400...599).contains(status)
        else { return nil }
        return .says(status: status, message: String(words[1]))
    }

    /// The sentence in Vercel's API description.
    private static let usualOngoing =
        "The environment variable couldn't be created because an ongoing update env update is "
        + "already happening"
}
