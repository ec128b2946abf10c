package private

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// lock reserves a data directory for one process. The kernel releases it however that process dies; the pid in the file is only
// for the error message.
type lock struct {
	file *os.File
}

// errHeld means that another process holds the data directory.
var errHeld = errors.New("is in use by another tarsy")

func acquire(dir string) (*lock, error) {
	path := filepath.Join(dir, "postgres.lock")
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock file of the data directory: %w", err)
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		holder := readHolder(file)
		_ = file.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("the data directory %s %w (%s): stop that one or choose another data directory",
				dir, errHeld, holder)
		}
		return nil, fmt.Errorf("lock the data directory %s: %w", dir, err)
	}
	held := &lock{file: file}
	if err := held.sign(); err != nil {
		_ = held.release()
		return nil, fmt.Errorf("write the lock file of the data directory: %w", err)
	}
	return held, nil
}

func (l *lock) sign() error {
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	_, err := l.file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

func readHolder(file *os.File) string {
	content, err := io.ReadAll(io.LimitReader(file, 32))
	pid := strings.TrimSpace(string(content))
	if err != nil || pid == "" {
		return "its pid is not known yet"
	}
	return "pid " + pid
}

// release keeps the file: deleting it would let two processes hold locks on two files of the same name. It unlocks before it
// closes, because a child process that is being started has a copy of the file until it executes its program, and closing alone
// would leave the lock with that copy.
func (l *lock) release() error {
	err := unix.Flock(int(l.file.Fd()), unix.LOCK_UN)
	if closeErr := l.file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("release the data directory: %w", err)
	}
	return nil
}
