internal import FoundationEssentials
internal import SystemFiles

/// A refusal that repeats the stored value of any variable.
struct ValueEcho: Sendable, Equatable {
    /// The encoding of the value.
    enum Form: String, Sendable {
        case raw, base64, percent, hex, upper
    }

    /// Where the value appears.
    enum Place: String, Sendable {
        case message, code
        /// In the message about the last item of a batch.
        case failed
    }

    let key: String
    let form: Form
    let place: Place
    let status: Int
    let code: String

    /// Parses `KEY[,as=FORM][,in=PLACE][,status=N][,code=CODE]`.
    init?(_ text: String) {
        guard let arguments = Arguments(text, names: ["as", "in", "status", "code"]),
            !arguments.first.isEmpty,
            let form = Form(rawValue: arguments.named["as"] ?? "raw"),
            let place = Place(rawValue: arguments.named["in"] ?? "message"),
            let status = Int(arguments.named["status"] ?? "400"), (400...599).contains(status)
        else { return nil }
        key = arguments.first
        self.form = form
        self.place = place
        self.status = status
        code = arguments.named["code"] ?? "bad_request"
    }

    /// Returns the refusal, with a value of the project if it has the key, or else of any other.
    func error(in state: SandboxState, project: String?) throws(APIError) -> APIError {
        let found = state.variables.filter { $0.key == key }
        let owner = state.projects.first { $0.id == project || $0.name == project }?.id
        guard let record = found.first(where: { $0.projectId == owner }) ?? found.first else {
            throw .notFound("Variable \(key)")
        }
        let shown = written(record.value)
        return APIError(
            status: status, code: place == .code ? shown : code,
            message: place == .code
                ? "The variable cannot be combined with \(key)."
                : "The variable cannot be combined with \(key) (value: \(shown)).")
    }

    private func written(_ value: String) -> String {
        switch form {
        case .raw: value
        case .base64: Data(value.utf8).base64EncodedString()
        case .percent:
            value.utf8.map { byte in
                Self.unreserved.contains(byte)
                    ? String(Unicode.Scalar(byte)) : "%" + Hexadecimal.text(of: [byte]).uppercased()
            }.joined()
        case .hex: Hexadecimal.text(of: value.utf8)
        case .upper: value.uppercased()
        }
    }

    /// The characters that RFC 3986 leaves unencoded.
    private static let unreserved = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
}
