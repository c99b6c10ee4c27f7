package config

import (
	"net"
	"strings"
)

// IsLoopbackHost reports whether host is "localhost" or a loopback address. It
// doesn't resolve names.
func IsLoopbackHost(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
