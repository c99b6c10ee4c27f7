package page

import "strings"

// nameOf is what people call a browser and its system, such as "Firefox, Windows".
// Browsers name each other in their headers, so the order of the table counts. A
// browser that we do not know is the first word of its own name. Versions are
// left out: they change without the device changing.
func nameOf(userAgent string) string {
	name := first(userAgent, browsers)
	if name == "" {
		name, _, _ = strings.Cut(userAgent, "/")
		name = strings.ToValidUTF8(name[:min(len(name), longestName)], "")
	}
	if system := first(userAgent, systems); system != "" {
		return name + ", " + system
	}
	return name
}

const longestName = 40

type mark struct{ holds, means string }

var browsers = []mark{
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

var systems = []mark{
	{"Windows", "Windows"},
	{"iPhone", "iPhone"},
	{"iPad", "iPad"},
	{"Android", "Android"},
	{"CrOS", "ChromeOS"},
	{"Mac OS X", "macOS"},
	{"Linux", "Linux"},
}

func first(text string, marks []mark) string {
	for _, m := range marks {
		if strings.Contains(text, m.holds) {
			return m.means
		}
	}
	return ""
}
