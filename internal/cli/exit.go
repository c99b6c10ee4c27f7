package cli

import (
	"fmt"
)

// Exit codes. A usage error is 64 (EX_USAGE of sysexits), because 2 means that no name is
// available.
const (
	ExitOK            = 0
	ExitError         = 1
	ExitNoneAvailable = 2
	ExitUsage         = 64
	ExitInterrupted   = 130
)

// UsageError is a mistake on the command line that the parser can't detect.
type UsageError string

func (e UsageError) Error() string { return string(e) }

// ExitCode sets the exit code of an error that is already printed.
type ExitCode int

func (c ExitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }
