package ui

import "strings"

// browserName returns the common name of a browser and its system, such as "Firefox,
// Windows". Browsers name each other in their headers, so the order of the table
// matters. Nothing of the header itself is returned: an unknown browser has no name.
// Versions are left out: they change without the device changing.
func browserName(userAgent string) string {
	name, system := matchUserAgent(userAgent, browsers), matchUserAgent(userAgent, systems)
	if name != "" && system != "" {
		return name + ", " + system
	}
	return name + system
}

type uaPattern struct{ substring, name string }

var browsers = []uaPattern{
	{"Edg/", "Edge"},
	{"EdgA/", "Edge"},
	{"OPR/", "Opera"},
	{"Vivaldi/", "Vivaldi"},
	{"SamsungBrowser/", "Samsung Internet"},
	{"Firefox/", "Firefox"},
	{"FxiOS/", "Firefox"},
	{"CriOS/", "Chrome"},
	{"HeadlessChrome/", "Chrome"},
	{"Chrome/", "Chrome"},
	{"Safari/", "Safari"},
	{"curl/", "curl"},
	{"Wget/", "Wget"},
	{"python-requests/", "Python"},
	{"Go-http-client/", "Go"},
}

var systems = []uaPattern{
	{"Windows", "Windows"},
	{"iPhone", "iPhone"},
	{"iPad", "iPad"},
	{"Android", "Android"},
	{"CrOS", "ChromeOS"},
	{"Mac OS X", "macOS"},
	{"Linux", "Linux"},
}

func matchUserAgent(text string, patterns []uaPattern) string {
	for _, m := range patterns {
		if strings.Contains(text, m.substring) {
			return m.name
		}
	}
	return ""
}
