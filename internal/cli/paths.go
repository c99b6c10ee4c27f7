package cli

// SandboxData is the default data folder of the sandbox.
const SandboxData = ".dotkontor/sandbox"

// SandboxConfigFile is the sandbox's configuration file in its data folder.
const SandboxConfigFile = "serve.toml"

// SecretVariable is the environment variable with an agent's secret.
const SecretVariable = "DOTKONTOR_ACP_SECRET" //nolint:gosec // a name
