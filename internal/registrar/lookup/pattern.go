package lookup

import (
	"regexp"
	"sync"
)

// LazyPattern returns a function that compiles expression at its first call. The patterns
// of all sources take 6 MB and 60 ms to compile, which most processes never need.
func LazyPattern(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
