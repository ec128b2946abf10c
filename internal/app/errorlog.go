package app

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"tarsy.dev/tarsy/internal/plaintext"
)

const (
	// maxErrors is how many log lines of level error are kept in memory, and maxErrorBytes how much of each.
	maxErrors     = 200
	maxErrorBytes = 16 << 10
)

// errorLog keeps the latest log lines of level error, unmasked: the reader must mask them. It is safe for concurrent use.
type errorLog struct {
	mu    sync.Mutex
	lines []loggedLine
}

type loggedLine struct {
	at   time.Time
	text string
}

func (l *errorLog) add(line loggedLine) {
	l.mu.Lock()
	defer l.mu.Unlock()

	if len(l.lines) == maxErrors {
		l.lines = append(l.lines[:0], l.lines[1:]...)
	}

	l.lines = append(l.lines, line)
}

// all returns the lines, the oldest first.
func (l *errorLog) all() []loggedLine {
	l.mu.Lock()
	defer l.mu.Unlock()

	return append([]loggedLine{}, l.lines...)
}

// errorHandler forwards lines and keeps those of level error.
type errorHandler struct {
	slog.Handler

	log *errorLog
	// prefix contains the logger's attributes.
	prefix string
}

// Enabled implements slog.Handler.
func (h errorHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelError || h.Handler.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (h errorHandler) Handle(ctx context.Context, record slog.Record) error {
	if record.Level >= slog.LevelError {
		text := strings.Builder{}
		text.WriteString(record.Message + h.prefix)
		record.Attrs(func(attr slog.Attr) bool {
			text.WriteString(attrText(attr))

			return true
		})
		h.log.add(loggedLine{at: record.Time, text: cutAtSpace(plaintext.Clean(text.String()))})
	}

	if !h.Handler.Enabled(ctx, record.Level) {
		return nil
	}

	return h.Handler.Handle(ctx, record)
}

// attrText formats an attribute on its own line, without quotes or escapes, because masking looks at plain text. A value of several lines,
// such as a table, starts on its own line.
func attrText(attr slog.Attr) string {
	text := attr.Value.Resolve().String()
	if strings.Contains(text, "\n") {
		return "\n" + attr.Key + ":\n" + text
	}

	return "\n" + attr.Key + ": " + text
}

// cutAtSpace cuts a long text between words: half a secret might not be recognized.
func cutAtSpace(text string) string {
	if len(text) <= maxErrorBytes {
		return text
	}

	text = plaintext.Cut(text, maxErrorBytes)

	return text[:max(strings.LastIndexAny(text, " \n"), 0)] + " …"
}

// WithAttrs implements slog.Handler.
func (h errorHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, attr := range attrs {
		h.prefix += attrText(attr)
	}

	h.Handler = h.Handler.WithAttrs(attrs)

	return h
}

// WithGroup implements slog.Handler.
func (h errorHandler) WithGroup(name string) slog.Handler {
	h.Handler = h.Handler.WithGroup(name)

	return h
}
