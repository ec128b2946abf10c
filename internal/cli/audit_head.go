package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"tarsy.dev/tarsy/internal/audit"
	"tarsy.dev/tarsy/internal/cli/terminal"
)

// seenHead is the last row of an audit log at the time of a verification.
type seenHead struct {
	Rows int64     `json:"rows"`
	Head string    `json:"head"`
	At   time.Time `json:"at"`
}

// time returns when the head was seen, formatted for people.
func (h seenHead) time() string { return h.At.UTC().Format(time.RFC3339) }

// missing returns an error that explains what happened to a log without this row, given how many rows the log has now.
func (h seenHead) missing(rows int64) error {
	what := fmt.Sprintf("row %d has a different hash, so the log was rewritten", h.Rows)
	if rows < h.Rows {
		what = fmt.Sprintf("the log now ends with row %d, so it was truncated or rewritten", rows)
	}

	return fmt.Errorf("%w: a verification on %s saw row %d with the hash %s; %s. %s", errHeadChanged, h.time(), h.Rows, h.Head, what, acceptAdvice)
}

const acceptAdvice = "If this is expected, such as after a restore from a backup, accept the log as it is now with --forget-head"

var (
	errHeadChanged = errors.New("the audit log no longer contains the row that ended it when it was last verified")
	errHeadsFile   = errors.New("cannot read which rows of the audit log were seen before")
	errNotHeads    = errors.New("it does not contain heads of audit logs")
	errNoStateHome = errors.New("there is no directory to keep it in; set HOME or XDG_STATE_HOME")
)

// headsFile stores the heads of verified logs, one per server. Several commands can use it concurrently.
type headsFile struct{ path string }

// seenHeads is the content of the file.
type seenHeads struct {
	// Heads maps the address of a server to its head.
	Heads map[string]seenHead `json:"heads"`
}

func (h seenHeads) valid() bool {
	for _, head := range h.Heads {
		if head.Rows <= 0 || len(head.Head) != len(audit.FirstHash()) {
			return false
		}
	}

	return h.Heads != nil
}

// rememberedHeads returns the file in the user's state directory. Its path is empty if there is no such directory.
func rememberedHeads(t *tool) headsFile {
	base, ok := t.variable("XDG_STATE_HOME")
	if !ok || !filepath.IsAbs(base) {
		home, ok := t.variable("HOME")
		if !ok {
			return headsFile{}
		}

		base = filepath.Join(home, ".local", "state")
	}

	return headsFile{filepath.Join(base, "tarsy", "audit-heads.json")}
}

// headKey normalizes the address of a server, so that different spellings of it share one entry.
func headKey(server string) string {
	address, err := url.Parse(server)
	if err != nil {
		return server
	}

	return strings.ToLower(address.Scheme+"://"+address.Host) + strings.TrimRight(address.Path, "/")
}

func (f headsFile) read() (seenHeads, error) {
	var found seenHeads

	if f.path == "" {
		return seenHeads{}, nil
	}

	text, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return seenHeads{}, nil
	}

	if err == nil {
		err = json.Unmarshal(text, &found)
	}

	if err == nil && !found.valid() {
		err = errNotHeads
	}

	if err != nil {
		return seenHeads{}, fmt.Errorf("%w, in %s: %w. Fix or remove the file, or start it again with --forget-head", errHeadsFile, terminal.Line(f.path), err)
	}

	return found, nil
}

// last returns the last seen head of a server's log. Its hash is empty if there is none.
func (f headsFile) last(server string) (seenHead, error) {
	found, err := f.read()

	return found.Heads[headKey(server)], err
}

// remember stores the head of a server's log. With forget it replaces what is stored; otherwise a stored head with more rows is kept,
// because another verification may have finished in the meantime.
func (f headsFile) remember(server string, head seenHead, forget bool) error {
	if f.path == "" {
		return errNoStateHome
	}

	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return fmt.Errorf("make the directory: %w", err)
	}

	unlock, err := f.lock()
	if err != nil {
		return err
	}
	defer unlock()

	found, err := f.read()
	if err != nil && !forget {
		return err
	}

	if found.Heads == nil {
		found.Heads = map[string]seenHead{}
	}

	key := headKey(server)

	switch {
	case !forget && found.Heads[key].Rows > head.Rows:
		return nil
	case head.Rows == 0:
		// Every log extends the empty one, so there is nothing to remember.
		delete(found.Heads, key)
	default:
		found.Heads[key] = head
	}

	return replaceFile(f.path, func(out io.Writer) error {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")

		return encoder.Encode(found)
	})
}

// lock waits until no other command is changing the file. It locks a separate file, which is never replaced, because the file itself is.
func (f headsFile) lock() (unlock func(), err error) {
	file, err := os.OpenFile(f.path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock: %w", err)
	}

	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX); err != nil {
		_ = file.Close()

		return nil, fmt.Errorf("lock the file: %w", err)
	}

	return func() {
		// Unlock before closing: a process that is being started may hold a copy of the descriptor.
		_ = unix.Flock(int(file.Fd()), unix.LOCK_UN)
		_ = file.Close()
	}, nil
}
