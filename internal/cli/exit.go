package cli

import (
	"fmt"
)

// Exit codes. A wrong command line has sysexits' EX_USAGE, because 2 is what
// scripts read as "nothing is free".
const (
	ExitOK            = 0
	ExitError         = 1
	ExitNoneAvailable = 2
	ExitUsage         = 64
	ExitInterrupted   = 130
)

// UsageError is a mistake on the command line that only the command itself can
// see.
type UsageError string

func (e UsageError) Error() string { return string(e) }

// ExitCode is an error that has already been explained, and only sets the code.
type ExitCode int

func (c ExitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }
