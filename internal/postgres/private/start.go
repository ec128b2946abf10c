package private

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// answerWithin is how long a server that reports itself ready may fail to answer before we ask a person to look at it.
const answerWithin = 10 * time.Second

// maxLog is the size above which a start begins a new log file, keeping one old one.
const maxLog = 10 << 20

// adopt returns the server that a killed tarsy left running, or nil if there is none.
func (s *Server) adopt(ctx context.Context) (*process, error) {
	var adopted *process
	notice, timer := newSlowNotice(s.cfg.Progress), newStopTimer()
	err := await(ctx, func() (bool, error) {
		found, ok := findProcess(s.place.cluster)
		if !ok {
			return true, nil
		}
		if found.status == "stopping" {
			timer.escalate(found)
		}
		if found.status != "ready" {
			notice.report(fmt.Sprintf("waiting for the PostgreSQL server (pid %d), which is %s…", found.pid, found.status))
			return false, nil
		}
		err := s.answers(ctx, found)
		if err == nil {
			adopted = found
			return true, nil
		}
		if refused := new(pgconn.PgError); errors.As(err, &refused) && strings.HasPrefix(refused.Code, "28") {
			return false, fmt.Errorf("the PostgreSQL server (pid %d) in %s does not accept the password in %s: restore that file",
				found.pid, s.place.cluster, s.place.passwordPath())
		}
		if time.Since(notice.since) > answerWithin {
			return false, fmt.Errorf("a PostgreSQL server (pid %d) runs in %s and does not answer on its socket in %s; "+
				"stop it (kill -INT %d) and start again: %w", found.pid, s.place.cluster, found.socketDir, found.pid, err)
		}
		return false, nil
	})
	if err != nil {
		return nil, err
	}
	return adopted, nil
}

// answers connects and verifies that the server is that of our cluster.
func (s *Server) answers(ctx context.Context, candidate *process) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	asked := &Server{cfg: s.cfg, place: s.place, password: s.password, process: candidate}
	connection, err := pgx.Connect(ctx, asked.url("postgres"))
	if err != nil {
		return err
	}
	defer func() { _ = connection.Close(context.WithoutCancel(ctx)) }()
	var directory string
	if err := connection.QueryRow(ctx, `SELECT current_setting('data_directory')`).Scan(&directory); err != nil {
		return err
	}
	if directory != s.place.cluster {
		return fmt.Errorf("the server on that socket serves %s", directory)
	}
	return nil
}

// errStillInUse means that processes of a killed server have not ended yet.
var errStillInUse = errors.New("processes of the previous server are still exiting")

// start runs the server and returns when it accepts connections. The processes of a killed server take a moment to notice, and
// PostgreSQL refuses to start until they have exited: start waits for them, and kills them if they take long.
func (s *Server) start(ctx context.Context) (*process, error) {
	const again = 100 * time.Millisecond
	left := newOrphans(s.place.cluster, s.cfg.Progress)
	for {
		started, err := s.startOnce(ctx)
		if !errors.Is(err, errStillInUse) {
			return started, err
		}
		if late := left.killIfLate(); late != nil {
			return nil, fmt.Errorf("%w: %w", late, err)
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(again):
		}
	}
}

func (s *Server) startOnce(ctx context.Context) (*process, error) {
	binaries, err := s.binariesFor()
	if err != nil {
		return nil, err
	}
	if err := disownPID(s.place.cluster); err != nil {
		return nil, err
	}
	command, err := s.command(ctx, binaries)
	if err != nil {
		return nil, err
	}
	log, begin, err := s.openLog()
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start %s as %s: %w", command.Path, s.place.account.name, err)
	}
	started := &process{pid: command.Process.Pid, cluster: s.place.cluster, child: true}
	// From here on we wait for the pid with wait4, which needs no goroutine, so Detach leaves none behind.
	if err := command.Process.Release(); err != nil {
		return nil, fmt.Errorf("start %s: %w", command.Path, err)
	}
	if err := s.awaitReady(ctx, started, begin); err != nil {
		_ = started.abandon(ctx)
		return nil, err
	}
	return started, nil
}

func (s *Server) command(ctx context.Context, binaries Binaries) (*exec.Cmd, error) {
	socketDir, err := s.place.socketDir()
	if err != nil {
		return nil, err
	}
	arguments, err := flags(s.settings(ctx, binaries, socketDir))
	if err != nil {
		return nil, err
	}
	// Not bound to ctx: the server outlives Open and is stopped by Stop.
	command := exec.Command(binaries.program("postgres"), append([]string{"-D", s.place.cluster}, arguments...)...) //nolint:noctx // see above
	command.Env, command.Dir, command.SysProcAttr = environment(), s.place.cluster, s.place.account.attributes()
	return command, nil
}

func (s *Server) awaitReady(ctx context.Context, started *process, logBegin int64) error {
	notice := newSlowNotice(s.cfg.Progress)
	err := await(ctx, func() (bool, error) {
		if started.ended() {
			tail := s.logTail(logBegin)
			err := fmt.Errorf("PostgreSQL did not start; the end of its log %s:\n%s", s.place.logPath(), tail)
			if strings.Contains(tail, "pre-existing shared memory block") {
				err = fmt.Errorf("%w: %w", errStillInUse, err)
			}
			return false, err
		}
		notice.report("waiting for PostgreSQL to start (it may be recovering from an unclean stop)…")
		current, ok := readProcess(s.place.cluster)
		if !ok || current.pid != started.pid || current.status != "ready" {
			return false, nil
		}
		started.socketDir, started.port = current.socketDir, current.port
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("start the private PostgreSQL server: %w", err)
	}
	return nil
}

// openLog opens the server's log for appending and returns the offset at which this start's part begins.
func (s *Server) openLog() (*os.File, int64, error) {
	path := s.place.logPath()
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, 0, fmt.Errorf("begin a new log of the database: %w", err)
		}
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, 0, fmt.Errorf("open the log of the database: %w", err)
	}
	begin, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		_ = file.Close()
		return nil, 0, fmt.Errorf("open the log of the database: %w", err)
	}
	return file, begin, nil
}

func (s *Server) logTail(begin int64) string {
	file, err := os.Open(s.place.logPath())
	if err != nil {
		return err.Error()
	}
	defer func() { _ = file.Close() }()
	const window = 64 << 10
	if info, err := file.Stat(); err == nil && info.Size()-begin > window {
		begin = info.Size() - window
	}
	content, err := io.ReadAll(io.NewSectionReader(file, begin, window))
	if err != nil {
		return err.Error()
	}
	return lastLines(string(content))
}

// lastLines limits an error message to one screen.
func lastLines(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if keep := 15; len(lines) > keep {
		lines = lines[len(lines)-keep:]
	}
	return "  " + strings.Join(lines, "\n  ")
}
