package cli

// Status is what a check comes to.
type Status string

const (
	StatusOK   Status = "ok"
	StatusWarn Status = "WARN"
	StatusFail Status = "FAIL"
)
