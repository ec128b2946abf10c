package private

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// How often to check a process that starts or stops, and when to begin reporting it.
const (
	lookEvery   = 5 * time.Millisecond
	noticeAfter = 2 * time.Second

	abandonWithin = 30 * time.Second

	// escalateAfter is how long a server may take to stop before it is forced to.
	escalateAfter = 20 * time.Second
)

// process is a postmaster as its postmaster.pid describes it.
type process struct {
	pid       int
	cluster   string
	socketDir string
	port      int
	status    string        // "starting", "ready", "stopping"
	child     bool          // started by this process, which has to reap it
	patience  time.Duration // how long it may take to stop before it is forced to; escalateAfter if zero
}

// findProcess returns the process in postmaster.pid, if it is alive and really the server of this cluster: after a crash the pid
// may be that of another process.
func findProcess(cluster string) (*process, bool) {
	found, ok := readProcess(cluster)
	return found, ok && found.alive() && found.serves()
}

// readProcess reads postmaster.pid, which has a line each for pid, data directory, start time, port, socket directory, address,
// shared memory and status. The later ones appear while the server starts.
func readProcess(cluster string) (*process, bool) {
	content, err := os.ReadFile(pidFile(cluster))
	if err != nil {
		return nil, false
	}
	lines := strings.Split(string(content), "\n")
	line := func(number int) string {
		if number > len(lines) {
			return ""
		}
		return strings.TrimSpace(lines[number-1])
	}
	pid, err := strconv.Atoi(line(1))
	if err != nil || pid <= 0 {
		return nil, false
	}
	port, _ := strconv.Atoi(line(4)) // missing while the server starts
	return &process{pid: pid, cluster: cluster, socketDir: line(5), port: port, status: line(8)}, true
}

func pidFile(cluster string) string { return filepath.Join(cluster, "postmaster.pid") }

func (p *process) alive() bool {
	err := syscall.Kill(p.pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// serves reports whether the process is the postmaster of the cluster: a program called postgres, of the user who owns the
// cluster, that works in the cluster's directory. A pid file outlives a crash, and its pid may be that of any process by now.
// Where processes cannot be inspected, the pid file is trusted, except for a process of another user.
func (p *process) serves() bool {
	if errors.Is(syscall.Kill(p.pid, 0), syscall.EPERM) {
		return false // PostgreSQL runs as the owner of its files, and so do we, or we are root
	}
	if runtime.GOOS != "linux" {
		return true
	}
	if owner, err := ownerAccount(p.cluster); err == nil {
		if uid, known := p.uid(); known && uid != owner.uid {
			return false
		}
	}
	name, err := os.ReadFile(p.proc("comm"))
	if err != nil || !strings.Contains(string(name), "postgres") && !strings.Contains(string(name), "postmaster") {
		return false
	}
	directory, err := os.Readlink(p.proc("cwd"))
	if err != nil {
		return errors.Is(err, os.ErrPermission)
	}
	return directory == p.cluster
}

func (p *process) proc(file string) string { return filepath.Join("/proc", strconv.Itoa(p.pid), file) }

// uid returns the effective user of the process.
func (p *process) uid() (int, bool) {
	content, err := os.ReadFile(p.proc("status"))
	if err != nil {
		return 0, false
	}
	_, rest, found := strings.Cut(string(content), "\nUid:")
	fields := strings.Fields(rest)
	if !found || len(fields) < 2 {
		return 0, false
	}
	uid, err := strconv.Atoi(fields[1]) // real, effective, saved, file system
	return uid, err == nil
}

// disownPID helps PostgreSQL to see that a pid file is stale when its pid now belongs to another process. (In a container, pids
// repeat.) The file is not removed, because the server also takes from it the shared memory to check; instead it gets our own
// pid, which the server ignores because it is its parent's.
func disownPID(cluster string) error {
	found, ok := readProcess(cluster)
	if !ok || !found.alive() || found.serves() {
		return nil
	}
	content, err := os.ReadFile(pidFile(cluster))
	if err != nil {
		return fmt.Errorf("read a stale postmaster.pid: %w", err)
	}
	_, rest, _ := strings.Cut(string(content), "\n")
	// The directory is not ours when we are root: do not follow a link out of it.
	file, err := os.OpenFile(pidFile(cluster), os.O_WRONLY|os.O_TRUNC|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return fmt.Errorf("correct a stale postmaster.pid: %w", err)
	}
	_, err = file.WriteString(strconv.Itoa(os.Getpid()) + "\n" + rest)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("correct a stale postmaster.pid: %w", err)
	}
	return nil
}

// ended reports whether the process is gone. A stopping server removes its pid file at the very end, which also shows the end of
// one that nobody reaps.
func (p *process) ended() bool {
	if p.child {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(p.pid, &status, syscall.WNOHANG, nil)
		return pid == p.pid || errors.Is(err, syscall.ECHILD)
	}
	current, ok := readProcess(p.cluster)
	return !ok || current.pid != p.pid || !p.alive()
}

// stop requests a fast shutdown (open transactions are rolled back, everything is written to disk) and waits until it is done.
func (p *process) stop(ctx context.Context, progress func(string)) error {
	if p.ended() {
		return nil
	}
	if err := syscall.Kill(p.pid, syscall.SIGINT); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop the private PostgreSQL server (pid %d): %w", p.pid, err)
	}
	notice, timer := newSlowNotice(progress), newStopTimer()
	err := await(ctx, func() (bool, error) {
		notice.report("waiting for PostgreSQL to write everything to disk…")
		timer.escalate(p)
		return p.ended(), nil
	})
	if err != nil {
		return fmt.Errorf("the private PostgreSQL server (pid %d) has not stopped yet and is still shutting down: %w", p.pid, err)
	}
	return nil
}

// abandon stops a server that turned out to be unusable, even if ctx has ended.
func (p *process) abandon(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonWithin)
	defer cancel()
	return p.stop(ctx, func(string) {})
}

// await polls until done returns true or an error, or ctx ends.
func await(ctx context.Context, done func() (bool, error)) error {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		if finished, err := done(); finished || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
	}
}

// stopTimer forces a server to stop that takes too long: one hanging process would keep it, and the next start, waiting forever.
// Nothing that was committed is lost; the next start recovers it.
type stopTimer struct {
	since     time.Time
	escalated bool
}

func newStopTimer() *stopTimer { return &stopTimer{since: time.Now()} }

func (h *stopTimer) escalate(p *process) {
	if !h.escalated && time.Since(h.since) >= cmp.Or(p.patience, escalateAfter) {
		h.escalated = true
		_ = syscall.Kill(p.pid, syscall.SIGQUIT) // it may have just ended
	}
}

// slowNotice reports once that an operation takes long.
type slowNotice struct {
	progress func(string)
	since    time.Time
	reported bool
}

func newSlowNotice(progress func(string)) *slowNotice {
	return &slowNotice{progress: progress, since: time.Now()}
}

func (t *slowNotice) report(text string) {
	if !t.reported && time.Since(t.since) >= noticeAfter {
		t.reported = true
		t.progress(text)
	}
}
