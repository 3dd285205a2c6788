internal import Glibc
internal import Postal

exit(PostalProgram.main())
