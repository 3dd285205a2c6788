internal import JSON

/// The user.
enum UserRoutes {
    static let routes: [Route] = [
        Route("GET", "user") { (_: Call, state: inout SandboxState) throws(APIError) in
            .json(["user": state.user.json])
        }
    ]
}
