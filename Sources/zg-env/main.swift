internal import Glibc
internal import ZGEnvCommands

exit(Program.main())
