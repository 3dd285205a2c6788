internal import JSON

/// An answer of the API that says no.
struct APIError: Error, Sendable {
    var status: Int
    var code: String
    var message: String
    /// More members of `error`.
    var details: [String: JSONValue] = [:]
    /// Members beside `error`.
    var besides: [String: JSONValue] = [:]
    var headers: [(name: String, value: String)] = []

    /// The `error` object.
    var json: JSONValue {
        .members(details.merging(["code": .string(code), "message": .string(message)]) { $1 })
    }

    /// The whole answer.
    var answer: HTTPAnswer {
        .json(
            .members(besides.merging(["error": json]) { $1 }), status: status, headers: headers)
    }

    static func badRequest(_ message: String) -> APIError {
        APIError(status: 400, code: "bad_request", message: message)
    }

    static func notFound(_ what: String) -> APIError {
        APIError(status: 404, code: "not_found", message: "\(what) not found.")
    }

    static func forbidden(_ message: String, _ details: [String: JSONValue] = [:]) -> APIError {
        APIError(status: 403, code: "forbidden", message: message, details: details)
    }

    /// What is answered where a fault cannot be carried out; no retry helps.
    var impossible: APIError {
        APIError(
            status: 501, code: "sandbox_fault",
            message: "The sandbox cannot do what it was told: \(message)")
    }

    /// What a fault refuses one item with.
    static var unknownError: APIError {
        EnvironmentRules.complaint("UNKNOWN_ERROR", "The variable could not be stored.")
    }

    static var tooLarge: APIError {
        APIError(
            status: 413, code: "request_entity_too_large",
            message: "The body is larger than 10 MiB.")
    }

    static func conflict(_ message: String) -> APIError {
        APIError(status: 409, code: "conflict", message: message)
    }
}
