/// Files with the shapes of those that public projects ship: their comments, sections, quotes, empty
/// values, references and line ends. The texts and all values are made up.
///
/// The projects, in order: laravel/laravel, t3-oss/create-t3-app, supabase/supabase (docker),
/// calcom/cal.com, mastodon/mastodon, docker-mailserver/docker-mailserver, immich-app/immich,
/// getsentry/self-hosted, gladly-team/next-firebase-auth, strapi/strapi.
enum PublicFiles {
    static let texts: [(name: String, text: String)] = [
        ("framework", framework), ("starter", starter), ("backend", backend),
        ("calendar", calendar), ("social", social), ("mail", mail), ("photos", photos),
        ("errors", errors), ("service-account", serviceAccount), ("windows", windows),
    ]

    /// Groups without comments, empty values, `null`, and references to other names.
    private static let framework = #"""
        APP_NAME=Shop
        APP_ENV=local
        APP_KEY=
        APP_DEBUG=true
        APP_URL=http://localhost

        LOG_CHANNEL=stack
        LOG_LEVEL=debug

        DB_CONNECTION=sqlite
        # DB_HOST=127.0.0.1
        # DB_PASSWORD=

        SESSION_DOMAIN=null
        MAIL_FROM_ADDRESS="hello@example.com"
        MAIL_FROM_NAME="${APP_NAME}"

        VITE_APP_NAME="${APP_NAME}"

        """#

    /// Prose around a few quoted values.
    private static let starter = #"""
        # Everything here is read while the server starts; see src/env.js for the checks.
        # Keep it up to date when a name is added.

        # Auth
        # A secret comes from: npx auth secret
        AUTH_SECRET=""
        AUTH_DISCORD_ID=""
        AUTH_DISCORD_SECRET=""

        # Database
        DATABASE_URL="file:./dev.sqlite"

        """#

    /// Boxed sections, long tokens with `.`, `=` at the ends, and commented choices.
    private static let backend = #"""
        ############
        # Secrets
        # Replace all of them before you go live
        ############

        POSTGRES_PASSWORD=a-very-long-and-made-up-password
        JWT_SECRET=made-up-token-with-at-least-32-characters
        ANON_KEY=bWFkZQ.eyJyb2xlIjoibWFkZS11cCJ9.c2lnbmF0dXJlLW1hZGUtdXA=
        SECRET_KEY_BASE=TWFkZSB1cCBmb3IgdGhpcyB0ZXN0LCBvcGVucyBub3RoaW5nLg==

        ############
        # Proxy
        ############

        HTTP_PORT=8000
        SITE_URL=http://localhost:3000
        ADDITIONAL_REDIRECT_URLS=
        DISABLE_SIGNUP=false
        SMTP_SENDER_NAME=fake_sender
        MAILER_URLPATHS_INVITE="/auth/v1/verify"
        DOCKER_SOCKET_LOCATION=/var/run/docker.sock
        # SOCKET=/run/user/1000/docker.sock

        """#

    /// Numbered notes, quotes within quotes, and comments after values.
    private static let calendar = #"""
        # ********** INDEX **********
        # - LICENSE
        # - DATABASE

        # - LICENSE *************************
        #   https://example.com/license?a=b#c
        NEXT_PUBLIC_LICENSE_CONSENT=''
        LICENSE_KEY=

        # - DATABASE ************************
        DATABASE_URL="postgresql://postgres:@localhost:5450/calendar"
        DATABASE_DIRECT_URL="postgresql://postgres:@localhost:5450/calendar"

        ALLOWED_HOSTNAMES='"one.example","two.example","localhost:3000"'
        RESERVED_SUBDOMAINS='"app","auth","docs"'
        NEXT_PUBLIC_WEBAPP_URL='http://localhost:3000'
        CRON_API_KEY='0cc0e6c35519bba620c9360cfe3e68d0'
        EMAIL_FROM='notifications@example.com'
        EMAIL_FROM_NAME='Calendar "Local"'
        EMAIL_SERVER_PORT=1025 # a local catcher
        SLOT_STEP=15    # minutes
        NEXT_PUBLIC_SUPPORT_MAIL=help@example.com

        """#

    /// Comments of several lines, keys to be generated, and numbers.
    private static let social = #"""
        # This is a sample: it does not name every setting.
        #
        # Federation
        # ----------
        # Identifies the server to all others, and cannot be changed safely later.
        LOCAL_DOMAIN=example.com

        # Redis
        # -----
        REDIS_HOST=localhost
        REDIS_PORT=6379

        # Secrets
        # Make each with `bundle exec rails secret`
        SECRET_KEY_BASE=
        OTP_SECRET=

        # Web Push
        VAPID_PRIVATE_KEY=
        VAPID_PUBLIC_KEY=

        # Sending mail
        SMTP_SERVER=
        SMTP_PORT=587
        SMTP_FROM_ADDRESS=notifications@example.com
        S3_ALIAS_HOST=files.example.com
        IP_RETENTION_PERIOD=31556952

        """#

    /// Mostly empty values with their meanings in comments.
    private static let mail = #"""
        # -----------------------------------------------
        # --- General Section ---------------------------
        # -----------------------------------------------

        # empty => uses the `hostname` command
        # => Specify a fully-qualified name
        OVERRIDE_HOSTNAME=

        # error => only errors
        # **info** => the default
        LOG_LEVEL=info

        SUPERVISOR_LOGLEVEL=
        DMS_VMAIL_UID=
        ACCOUNT_PROVISIONER=
        POSTMASTER_ADDRESS=
        ENABLE_UPDATE_CHECK=1
        UPDATE_CHECK_INTERVAL=1d
        PERMIT_DOCKER=none
        TZ=
        SPAM_SUBJECT=
        POSTFIX_MESSAGE_SIZE_LIMIT=
        FETCHMAIL_POLL=300
        LDAP_BIND_DN=
        SASLAUTHD_MECH_OPTIONS=
        RELAY_PORT=25

        """#

    /// Paths and advice for Docker Compose.
    private static let photos = #"""
        # You can find documentation for all supported variables at https://example.com/docs/env

        # The place of your files
        UPLOAD_LOCATION=./library

        # Network shares are not supported for the database
        DB_DATA_LOCATION=./postgres

        # To set a timezone, remove the comment
        # TZ=Etc/UTC

        # Pin this to a version like "v1.71.0"
        IMAGE_VERSION=v2

        # Use only the characters `A-Za-z0-9`, without special characters or spaces
        DB_PASSWORD=postgres

        # The values below this line do not need to be changed
        ###################################################################################
        DB_USERNAME=postgres
        DB_DATABASE_NAME=photos

        """#

    /// Images with tags and digests, durations, and a name that another one has.
    private static let errors = #"""
        COMPOSE_PROJECT_NAME=errors-self-hosted
        # Set to "errors-only" for a smaller installation
        COMPOSE_PROFILES=feature-complete
        EVENT_RETENTION_DAYS=90
        # A port, or an address and a port like 127.0.0.1:9000
        BIND=9000
        # MAIL_HOST=example.com
        IMAGE=ghcr.io/example/errors:nightly
        RELAY_IMAGE=ghcr.io/example/relay@sha256:0123456789abcdef0123456789abcdef
        HEALTHCHECK_INTERVAL=30s
        HEALTHCHECK_RETRIES=10
        HEALTHCHECK_FILE_INTERVAL=60s
        POSTGRES_MAX_CONNECTIONS=100
        BIND=127.0.0.1:9000

        """#

    /// A private key in one line, JSON, and a key in several lines.
    private static let serviceAccount = #"""
        # Public
        NEXT_PUBLIC_FIREBASE_API_KEY=AIza-made-up-for-a-test
        NEXT_PUBLIC_FIREBASE_DATABASE_URL="https://demo.example.com"

        # Private: keep the quotes, the key has line breaks
        FIREBASE_CLIENT_EMAIL=admin@demo.iam.example.com
        FIREBASE_PRIVATE_KEY="-----BEGIN MADE UP KEY-----\nTUFERS1VUA==\nVEVTVA==\n-----END MADE UP KEY-----\n"
        COOKIE_SECRET_CURRENT='a b#c$d'
        SERVICE_ACCOUNT='{"type":"service_account","note":"made up","list":[1,2]}'
        TLS_CERTIFICATE="-----BEGIN MADE UP CERTIFICATE-----
        TUFERS1VUA==
        -----END MADE UP CERTIFICATE-----"
        COOKIE_SECURE=false

        """#

    /// A byte order mark, CR LF, `export`, lists, spaces, and no line end at the end.
    private static let windows =
        "\u{FEFF}"
        + [
            "# Server", "HOST=0.0.0.0", "PORT=1337", "", "# Secrets",
            "APP_KEYS=\"toBeModified1,toBeModified2\"", "API_TOKEN_SALT=tobemodified",
            "export ADMIN_JWT_SECRET=tobemodified", "GREETING=\"Grüezi, 世界\"",
            "DATABASE_FILENAME=.tmp/data.db", "DATABASE_SSL=false",
        ].joined(separator: "\r\n")
}
