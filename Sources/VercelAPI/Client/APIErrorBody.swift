/// The body of a response other than 2xx, or the error of one item of a batch.
struct APIErrorBody: Decodable {
    var code: String?
    var message: String?
    var invalidToken = false
    var missingToken = false
    var saml = false
    var limited = false
    var key: String?
    var targets: [String] = []
    var gitBranch: String?
    var resetMilliseconds: Int64?
    /// The items of a batch of which all were rejected.
    var failed: [APIErrorBody] = []

    /// Creates the error of an empty body.
    init() {}

    /// Decodes `{"error":{…}}`, the same with `err`, a flat `{"code","message"}`, or an error that
    /// is just a string.
    init(from decoder: any Decoder) throws {
        let outer = try decoder.object()
        failed = outer.list("failed") ?? []
        for name: JSONKey in ["error", "err"] where outer.contains(name) {
            if let inner = outer.object(name) {
                read(inner)
                if code == nil { code = outer.text("code") }
                if message == nil { message = outer.text("message") }
                return
            }
            code = outer.text(name)
            message = outer.text("message")
            return
        }
        read(outer)
    }

    private mutating func read(_ object: JSONObject) {
        code = object.text("code")
        message = object.text("message")
        invalidToken = object.bool("invalidToken") ?? false
        missingToken = object.bool("missingToken") ?? false
        saml = object.bool("saml") ?? false
        limited = object.bool("limited") ?? false
        key = object.text("envVarKey") ?? object.text("key")
        targets = object.texts("target") ?? []
        gitBranch = object.text("gitBranch")
        if let limit = object.object("limit") {
            resetMilliseconds = limit.number("resetMs")
            if resetMilliseconds == nil, let seconds = limit.number("reset"),
                (0..<(1 << 40)).contains(seconds)
            {
                resetMilliseconds = seconds * 1000
            }
        }
    }
}
