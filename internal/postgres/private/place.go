package private

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// unreachableRoot is where clusters go whose data directory the server's user cannot reach, such as one in root's home. It does
// not depend on the environment, so that the next start finds it, whoever starts it.
const unreachableRoot = "/var/lib/tarsy"

// maxSocketPath is the shortest limit among the systems we run on (macOS: 104 bytes with the final zero).
const maxSocketPath = 103

// place is the locations of the parts of one data directory's server.
type place struct { //nolint:recvcheck // a value, but for the two methods that settle where it is
	dir     string // tarsy's data directory: lock, record, password, log
	root    string // parent of the cluster and, if the path is short enough, of the socket directory
	cluster string
	account account
}

// record is what Dir/postgres.json records about the cluster's creation.
type record struct {
	// Root is empty if the cluster is in the data directory itself, so that the directory can be moved.
	Root   string `json:"root,omitempty"`
	Locale string `json:"locale"`
}

func (p place) recordPath() string   { return filepath.Join(p.dir, "postgres.json") }
func (p place) passwordPath() string { return filepath.Join(p.dir, "postgres.password") }
func (p place) logPath() string      { return filepath.Join(p.dir, "postgres.log") }

// exists reports whether there is a complete cluster: it gets its name only when initdb is done.
func (p place) exists() bool {
	_, err := os.Stat(p.cluster)
	return err == nil
}

// find returns where the cluster of a data directory is, and whether it exists. It changes nothing.
func find(dir string) (place, bool, error) {
	p := place{dir: dir}
	known, err := p.readRecord()
	if err != nil {
		return p, false, err
	}
	p.setRoot(dir)
	if known.Root != "" {
		p.setRoot(known.Root)
	}
	return p, p.exists(), nil
}

// Existing returns the cluster of a data directory and its major version; 0 if there is none that can be read.
func Existing(dir string) (cluster string, major int) {
	p, found, err := find(dir)
	if err != nil || !found {
		return p.cluster, 0
	}
	if major, err = p.major(); err != nil {
		return p.cluster, 0
	}
	return p.cluster, major
}

// locate finds the cluster of a data directory, or decides where to create it. The caller holds the directory.
func locate(ctx context.Context, dir string, progress func(string)) (place, error) {
	p, found, err := find(dir)
	if err != nil {
		return p, err
	}
	if found, err = p.settle(ctx, progress, found); err != nil {
		return p, err
	}
	if found {
		p.account, err = ownerAccount(p.cluster)
		return p, err
	}
	if p.account, err = currentAccount(); err != nil {
		return p, err
	}
	p.setRoot(dir)
	if p.account.canReach(dir) {
		return p, nil
	}
	sum := sha256.Sum256([]byte(dir))
	p.setRoot(filepath.Join(unreachableRoot, hex.EncodeToString(sum[:8])))
	return p, p.setAside(progress)
}

func (p *place) setRoot(root string) {
	p.root = root
	p.cluster = filepath.Join(root, "postgres")
}

// setAside moves away a cluster whose data directory was deleted together with its password: nobody can use it now, and only its
// owner may decide to delete it.
func (p *place) setAside(progress func(string)) error {
	if !p.exists() {
		return nil
	}
	aside := p.root + "-old-" + strconv.FormatInt(time.Now().UnixNano(), 36)
	if err := os.Rename(p.root, aside); err != nil {
		return fmt.Errorf("set the database of an earlier data directory aside: %w", err)
	}
	progress(fmt.Sprintf("the database of an earlier %s was kept in %s; delete it if you do not need it", p.dir, aside))
	return nil
}

func (p place) readRecord() (record, error) {
	var known record
	content, err := os.ReadFile(p.recordPath())
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	if err == nil {
		err = json.Unmarshal(content, &known)
	}
	if err != nil {
		return known, fmt.Errorf("read %s, which says where the database is (restore or delete it): %w", p.recordPath(), err)
	}
	return known, nil
}

func (p place) writeRecord(locale string) error {
	known := record{Locale: locale}
	if p.root != p.dir {
		known.Root = p.root
	}
	content, err := json.MarshalIndent(known, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(p.recordPath(), append(content, '\n'))
}

func (p place) newPassword() (string, error) {
	random := make([]byte, 24)
	if _, err := rand.Read(random); err != nil {
		return "", err
	}
	password := hex.EncodeToString(random)
	return password, writeFile(p.passwordPath(), []byte(password+"\n"))
}

func (p place) readPassword() (string, error) {
	content, err := os.ReadFile(p.passwordPath())
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("the password of the database is missing (%s): restore that file, "+
			"or move %s aside to begin with an empty database", p.passwordPath(), p.cluster)
	}
	if err != nil {
		return "", fmt.Errorf("read the password of the database: %w", err)
	}
	return strings.TrimSpace(string(content)), nil
}

// socketDir creates the directory of the server's socket: beside the cluster, or a short one if that path is too long for a socket.
func (p place) socketDir() (string, error) {
	directory := filepath.Join(p.root, "socket")
	if len(filepath.Join(directory, ".s.PGSQL.65535")) > maxSocketPath {
		sum := sha256.Sum256([]byte(p.cluster))
		directory = fmt.Sprintf("/tmp/tarsy-%d-%s", p.account.uid, hex.EncodeToString(sum[:6]))
	}
	if err := os.Mkdir(directory, 0o700); err != nil {
		if !errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("create the directory of the database's socket: %w", err)
		}
	} else if err := p.account.own(directory); err != nil {
		return "", fmt.Errorf("give the directory of the database's socket to %s: %w", p.account.name, err)
	}
	// Anybody can create a directory in /tmp, and its owner could impersonate our server.
	info, err := os.Lstat(directory)
	if err != nil {
		return "", fmt.Errorf("look at the directory of the database's socket: %w", err)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || info.Mode().Perm()&0o022 != 0 || (ok && int(stat.Uid) != p.account.uid) {
		return "", fmt.Errorf("%s is not a directory that only %s may write to: remove it and start again", directory, p.account.name)
	}
	return directory, nil
}

// remove deletes everything but the lock file, the cluster first: without its record and password it would be useless.
func (p place) remove() error {
	socket := filepath.Join(p.root, "socket")
	for _, path := range []string{p.cluster, socket, p.recordPath(), p.passwordPath(), p.logPath(), p.logPath() + ".1"} {
		if err := os.RemoveAll(path); err != nil {
			return fmt.Errorf("remove the database: %w", err)
		}
	}
	p.removeLeftovers()
	for _, kept := range p.keptClusters() {
		if err := os.RemoveAll(kept); err != nil {
			return fmt.Errorf("remove the database: %w", err)
		}
	}
	if p.root != p.dir {
		if err := os.Remove(p.root); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the database: %w", err)
		}
	}
	return nil
}

// writeFile replaces a file atomically, readable by its owner only.
func writeFile(path string, content []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }()
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
