package message

import "strings"

// GitHub returns the command by which GitHub shows an error or a warning in a pull request: docs.github.com, "Workflow commands for
// GitHub Actions". file may be empty; place is such as ",line=3,col=1", or empty.
func GitHub(severity, file, place, text string) string {
	value := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	if file != "" {
		severity += " file=" + property.Replace(file) + place
	}
	return "::" + severity + "::" + value.Replace(text)
}
