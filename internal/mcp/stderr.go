package mcp

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"tarsy.dev/tarsy/internal/plaintext"
)

const (
	// keptStderrBytes is how much is kept of the beginning of a server's output, and as much of its end.
	keptStderrBytes = 8 << 10
	// maxErrorBytes and maxContextBytes limit what a message quotes: lines with an error, and the lines around them.
	maxErrorBytes   = 700
	maxContextBytes = 500
	// maxErrorLineBytes keeps one long line from displacing the others.
	maxErrorLineBytes = 300
)

// outputLog keeps the beginning and the end of a process's output. A program that cannot start often prints the reason first and pages
// of help after it; one that runs for days prints the reason last.
type outputLog struct {
	mu         sync.Mutex
	head, tail []byte
	// written is the total number of bytes.
	written int
}

func (l *outputLog) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.written += len(data)
	rest := data
	if room := keptStderrBytes - len(l.head); room > 0 {
		room = min(room, len(rest))
		l.head, rest = append(l.head, rest[:room]...), rest[room:]
	}
	l.tail = append(l.tail, rest...)
	if excess := len(l.tail) - keptStderrBytes; excess > 0 {
		l.tail = append(l.tail[:0], l.tail[excess:]...)
	}

	return len(data), nil
}

// String returns only whole lines if something is omitted: half of a secret is not recognised as one.
func (l *outputLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	head, tail := string(l.head), string(l.tail)
	left := l.written - len(head) - len(tail)
	if left == 0 {
		return head + tail
	}
	first, last := strings.LastIndexByte(head, '\n')+1, strings.IndexByte(tail, '\n')+1
	if last == 0 {
		last = len(tail)
	}
	left += len(head) - first + last

	return fmt.Sprintf("%s[… %d bytes left out …]\n%s", head[:first], left, tail[last:])
}

var (
	// errorSign matches lines that explain why a program failed. klog marks its errors with a letter and the date.
	errorSign = regexp.MustCompile(`(?i)(error|exception|fatal|panic|traceback)\b|^[EF]\d{4} |` +
		`\b(failed|failure|cannot|can't|could not|unable|denied|refused|invalid|missing|required|no such|not found|not set|` +
		`unknown|unauthorized|forbidden|timed out|permission)\b`)
	warnSign = regexp.MustCompile(`(?i)\bwarn(ing)?\b`)
	// flagHelp matches the line of a flag in a usage text, whose description may name errors.
	flagHelp = regexp.MustCompile(`^\s*-{1,2}[A-Za-z]`)
	// colour matches a terminal's escape sequence.
	colour = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`)
)

func isErrorLine(line string) bool {
	sign := errorSign.FindStringIndex(line)
	if sign == nil || flagHelp.MatchString(line) {
		return false
	}
	warn := warnSign.FindStringIndex(line)

	return warn == nil || sign[0] < warn[0]
}

// stderrExcerpt returns the part of a server's output that a message quotes: lines with an error first, then the beginning and the end
// of the rest.
func stderrExcerpt(text string) string {
	var errors, others []string
	size := 0
	for line := range strings.Lines(colour.ReplaceAllString(text, "")) {
		line = strings.TrimRight(line, " \t\r\n")
		if strings.TrimSpace(line) == "" {
			continue
		}
		shown := line
		if len(shown) > maxErrorLineBytes {
			shown = plaintext.Cut(shown, maxErrorLineBytes) + "…"
		}
		switch {
		case !isErrorLine(line) || size+len(shown) > maxErrorBytes:
			others = append(others, line)
		case !slices.Contains(errors, shown):
			errors = append(errors, shown)
			size += len(shown) + 1
		}
	}
	rest := strings.Join(others, "\n")
	if len(rest) > maxContextBytes {
		rest = plaintext.CutMiddle(rest, maxContextBytes, "\n[…]\n")
	}

	return strings.TrimSpace(strings.Join(append(errors, rest), "\n"))
}
