internal import GroupPlaces
internal import Groups
internal import SharedProjects

extension SharingError: CommandErrorConvertible {
    var commandError: CommandError {
        let code: ExitCode =
            switch self.code {
            case .notAllowed: .unauthorized
            case .noKeys, .contested, .forked: .conflict
            case .otherHistory: .damaged
            case .tooLarge: .usage
            case .notFound: .notFound
            }
        return CommandError(code, reason)
    }
}

extension PlaceError: CommandErrorConvertible {
    var commandError: CommandError {
        let code: ExitCode =
            switch self.code {
            case .unreachable, .timeout: .unavailable
            case .authentication: .unauthorized
            case .invalidAddress, .insecureAddress: .usage
            case .refused, .lostRace, .busy: .conflict
            case .damaged: .damaged
            case .noGit, .tooLarge, .noSpace, .notExclusive, .localCopy: .failed
            }
        return CommandError(code, reason)
    }
}

extension EntryDraftError: CommandErrorConvertible {
    var commandError: CommandError { CommandError(.conflict, CommandError.sentence(reason)) }
}

extension GroupError: CommandErrorConvertible {
    var commandError: CommandError { CommandError(.damaged, CommandError.sentence(reason)) }
}
