internal import CommandLineKit
internal import DotEnv
internal import Glibc
internal import Vault
internal import VercelAPI

// A token whose scope is one project can use that project and nothing else: it cannot read its
// user. Its account therefore has the project's id in the place of the user's.

extension Account {
    private static let mark = "project:"

    /// The stored form of the project of a token, in place of a user's id.
    static func userID(ofProject id: String) -> String { mark + id }

    /// Vercel's id of the only project that the token is for; nil for other tokens.
    var onlyProjectID: String? {
        userID.hasPrefix(Self.mark) ? String(userID.dropFirst(Self.mark.count)) : nil
    }

    /// Vercel's id of the token's user; nil for a token of one project.
    var knownUserID: String? { onlyProjectID == nil ? userID : nil }

    /// Returns whether the token is for the linked project only, or for its user.
    func owns(_ binding: VaultProject.Binding) -> Bool {
        onlyProjectID.map { $0 == binding.projectID } ?? (userID == binding.accountID)
    }

    /// The refusal of a token of one project elsewhere.
    ///
    /// - Parameter place: What it was to be used for, such as "the project api".
    func refusal(of place: String) -> CommandError {
        CommandError(
            .unauthorized,
            "The token for \(name) is only for the Vercel project \(username), not for \(place).",
            hint: "Use another account with --account NAME, or log in with: zg-env login")
    }
}

extension VercelSession.Access {
    /// Returns Vercel's id of the token's user, or of a project's owner if the token cannot read
    /// its user.
    func userID(orOwnerOf platform: Project) throws -> String {
        let owner = platform.accountId ?? ""
        if let account { return account.knownUserID ?? owner }
        do throws(VercelAPIError) {
            return try client.user().id
        } catch {
            guard error.isDenial else { throw error }
            return owner
        }
    }

    /// Returns what a refusal means if the token is, or may be, for another project only; nil for
    /// other tokens and failures.
    ///
    /// - Parameters:
    ///   - project: The name of the project that was asked about.
    ///   - id: Its id; nil if only its name is known.
    func refusal(
        _ error: VercelAPIError, of project: String, id: String? = nil
    ) -> CommandError? {
        guard error.isDenial else { return nil }
        if let account {
            // For its own project the denial means what it says.
            guard let only = account.onlyProjectID, error.code != .tokenInvalid,
                id.map({ $0 != only }) ?? (project != account.username)
            else { return nil }
            return account.refusal(of: "the project \(project)")
        }
        guard error.code != .tokenInvalid else { return nil }
        do throws(VercelAPIError) {
            // Every other valid token can read its user.
            _ = try client.failFast().user()
            return nil
        } catch {
            guard error.isDenial else { return nil }
            return CommandError(
                .unauthorized,
                "VERCEL_TOKEN gives no access to the project \(project): its scope is another project, or it is invalid, revoked or expired.",
                hint: "Use a token whose scope includes \(project).")
        }
    }
}

/// What a token belongs to: a user, or one project.
enum TokenOwner {
    case user(User)
    case project(Project)

    /// Asks Vercel. After a refusal of the user and of the teams, tries the project of `-p` or of
    /// the directory's link, or else the only one that the token lists.
    ///
    /// - Throws: The refusal of the user, if the token cannot read a project either.
    init(of client: VercelClient, _ workspace: Workspace) throws {
        do throws(VercelAPIError) {
            self = .user(try client.user())
        } catch {
            guard error.isDenial, try !Self.readsTeams(client),
                let project = try Self.project(of: client, workspace)
            else { throw error }
            self = .project(project)
        }
    }

    private static func readsTeams(_ client: VercelClient) throws -> Bool {
        do throws(VercelAPIError) {
            _ = try client.teams()
            return true
        } catch {
            guard error.isDenial else { throw error }
            return false
        }
    }

    private static func project(of client: VercelClient, _ workspace: Workspace) throws -> Project?
    {
        func project(_ name: String) throws -> Project? {
            do throws(VercelAPIError) {
                return try client.project(name)
            } catch {
                guard error.isDenial else { throw error }
                return nil
            }
        }
        if let name = workspace.options.project {
            let known = try? workspace.session.index(.listing).project(named: name)
            return try project(known?.binding?.projectID ?? name)
        }
        let link = try? LinkFile.nearest(
            to: workspace.context.workingDirectory, user: geteuid(), warn: { _ in })
        if case .platform(let id, _)? = link?.target, let linked = try project(id) {
            return linked
        }
        do throws(VercelAPIError) {
            let projects = try client.projects()
            return projects.count == 1 ? projects[0] : nil
        } catch {
            guard error.isDenial else { throw error }
            return nil
        }
    }
}
