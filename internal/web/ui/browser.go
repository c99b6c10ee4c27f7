package ui

import "strings"

// browserName returns the common name of a browser and its system, such as "Firefox,
// Windows". Browsers name each other in their headers, so the order of the table
// matters. An unknown browser is the first word of its header. Versions are left out:
// they change without the device changing.
func browserName(userAgent string) string {
	name := matchUserAgent(userAgent, browsers)
	if name == "" {
		name, _, _ = strings.Cut(userAgent, "/")
		name = strings.ToValidUTF8(name[:min(len(name), maxBrowserName)], "")
	}
	if system := matchUserAgent(userAgent, systems); system != "" {
		return name + ", " + system
	}
	return name
}

const maxBrowserName = 40

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
