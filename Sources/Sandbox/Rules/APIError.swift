internal import JSON

/// An error response of the API.
struct APIError: Error, Sendable {
    var status: Int
    var code: String
    var message: String
    /// Additional members of `error`.
    var details: [String: JSONValue] = [:]
    /// Members next to `error`.
    var besides: [String: JSONValue] = [:]
    var headers: [(name: String, value: String)] = []

    /// The `error` object.
    var json: JSONValue {
        .members(details.merging(["code": .string(code), "message": .string(message)]) { $1 })
    }

    /// The whole response.
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

    /// The response for a fault that cannot be carried out; retries do not help.
    var impossible: APIError {
        APIError(
            status: 501, code: "sandbox_fault",
            message: "The sandbox cannot simulate the fault: \(message)")
    }

    /// The error of one item that a fault refuses.
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
