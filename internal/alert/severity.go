package alert

import (
	"strings"
	"unicode"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/plaintext"
)

// severityWords maps senders' words, reduced to letters and digits.
var severityWords = func() map[string]tarsy.Severity {
	words := map[string]tarsy.Severity{}

	for severity, list := range map[tarsy.Severity]string{
		tarsy.SeverityCritical: "critical crit page fatal emergency emerg panic disaster blocker highest p0 p1 sev0 sev1 s1 priority1 severity1",
		tarsy.SeverityHigh:     "high error err major urgent p2 sev2 s2 priority2 severity2",
		tarsy.SeverityWarning:  "warning warn medium minor moderate average p3 sev3 s3 priority3 severity3",
		tarsy.SeverityInfo: "info information informational none low lowest notice debug trivial ok p4 p5 sev4 sev5 s4 s5 priority4 priority5 " +
			"severity4 severity5",
	} {
		for word := range strings.FieldsSeq(list) {
			words[word] = severity
		}
	}

	return words
}()

// ParseSeverity returns the severity of a sender's word, such as page, SEV-1, "P2 - Major" or warn, or SeverityUnknown for an
// unknown word. Bare numbers are unknown: 1 is the highest severity for some senders and the lowest for others.
func ParseSeverity(word string) tarsy.Severity {
	const longest = 64

	word = strings.ToLower(plaintext.Cut(strings.TrimSpace(word), longest))
	parts := strings.FieldsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })

	if severity, ok := severityWords[strings.Join(parts, "")]; ok {
		return severity
	}

	for i, part := range parts {
		if severity, ok := severityWords[part]; ok {
			return severity
		}

		if i+1 < len(parts) {
			if severity, ok := severityWords[part+parts[i+1]]; ok {
				return severity
			}
		}
	}

	return tarsy.SeverityUnknown
}
