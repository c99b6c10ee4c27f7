package cli

// Status is the result of a check.
type Status string

const (
	StatusOK   Status = "ok"
	StatusWarn Status = "WARN"
	StatusFail Status = "FAIL"
)
