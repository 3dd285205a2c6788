import Testing

@testable import EnvOperations

/// Names of variables that make programs load code.
@Suite("Names that programs act on")
struct CodeLoadingNameTests {
    @Test(
        "SEC-F16: names that run code, redirect requests, or change certificates or settings warn",
        arguments: [
            (
                "loads-code",
                [
                    "RIPGREP_CONFIG_PATH", "VIMINIT", "EXINIT", "HGRCPATH", "PSQLRC",
                    "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "KUBECONFIG",
                    "ANSIBLE_CONFIG",
                    "TF_CLI_CONFIG_FILE", "YARN_YARN_PATH", "YARN_RC_FILENAME", "ERL_ZFLAGS",
                    "GRADLE_OPTS", "SBT_OPTS", "BUNDLE_GEMFILE", "PYTEST_PLUGINS", "PYTEST_ADDOPTS",
                    "PYTHONWARNINGS", "JULIA_LOAD_PATH", "GTK_MODULES", "QT_PLUGIN_PATH", "CC",
                    "CXX",
                    "RUSTC", "npm_config_script_shell", "NPM_CONFIG_NODE_OPTIONS",
                    "npm_Config_shell",
                    "Npm_Config_shell", "nPM_cOnFiG_", "LD_PRELOAD", "DYLD_LIBRARY_PATH",
                    "BASH_FUNC_ls%%", "CORECLR_PROFILER", "GIT_SSH_COMMAND", "NODE_OPTIONS",
                    "GCONV_PATH", "VISUAL", "ZDOTDIR", "_JAVA_OPTIONS", "PATH", "ENV", "IFS", "PS4",
                    "R_PROFILE", "R_PROFILE_USER", "SHELLOPTS", "BROWSER", "CLASSPATH",
                ]
            ),
            (
                "redirects-traffic",
                [
                    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy",
                    "all_proxy", "DOCKER_HOST",
                ]
            ),
            (
                "changes-certificates",
                [
                    "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE",
                    "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "GIT_SSL_NO_VERIFY",
                    "NODE_TLS_REJECT_UNAUTHORIZED",
                ]
            ),
            ("changes-settings", ["HOME", "XDG_CONFIG_HOME"]),
        ])
    func warnings(code: String, names: [String]) {
        for name in names {
            let warning = CodeLoadingName.warning(about: name)
            #expect(warning?.code == code, "\(name)")
            #expect(warning?.message.hasPrefix("\(name) ") == true, "\(name)")
        }
    }

    @Test(
        "SEC-F16: ordinary names do not warn",
        arguments: [
            "", "A", "DATABASE_URL", "API_KEY", "PORT", "HOST", "NODE_ENV", "DOCKER_IMAGE", "CI",
            "CD", "SSL_CERT", "HTTP_PORT", "HTTPS_PROXY_URL", "GITHUB_TOKEN", "npm_token",
            "NPM_TOKEN", "NPM_CONFIG", "NPMXCONFIG_A", "\u{41E}ME", "AWS_REGION", "KUBE_CONFIG",
            "VERCEL_URL", "RUST_LOG", "HOMEPAGE", "JULIA_PATH", "PSQL_URL", "ZIP", "zdotdir",
            "NPM\u{1F}CONFIG_X", "@PM_CONFIG_X",
        ])
    func ordinary(name: String) {
        #expect(CodeLoadingName.warning(about: name) == nil)
    }
}
