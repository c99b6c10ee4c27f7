package cli

// SandboxData is where the sandbox keeps its things unless told otherwise.
const SandboxData = ".dotkontor/sandbox"

// SandboxConfigFile is the sandbox's configuration file in its data folder.
const SandboxConfigFile = "serve.toml"

// SecretVariable holds an agent's secret, for people with a shell.
const SecretVariable = "DOTKONTOR_ACP_SECRET" //nolint:gosec // a name
