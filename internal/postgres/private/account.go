package private

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// account is the operating system user that the server runs as. PostgreSQL refuses to run as root, so a tarsy that runs as root
// uses another one.
type account struct {
	name     string
	uid, gid int
	// switched means that the account is not that of this process.
	switched bool
}

// currentAccount returns the account for a server that has no files yet.
func currentAccount() (account, error) {
	if euid := os.Geteuid(); euid != 0 {
		return account{name: "uid " + strconv.Itoa(euid), uid: euid, gid: os.Getegid()}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		found, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.Atoi(found.Uid)
		gid, gidErr := strconv.Atoi(found.Gid)
		if uidErr == nil && gidErr == nil && uid != 0 {
			return account{name: name, uid: uid, gid: gid, switched: true}, nil
		}
	}
	return account{}, fmt.Errorf("PostgreSQL does not run as root, and there is no user postgres or nobody to run it under: " +
		"create one (useradd --system postgres) or start tarsy as an ordinary user")
}

// ownerAccount returns the account for a server whose files exist: it must run as their owner.
func ownerAccount(cluster string) (account, error) {
	info, err := os.Stat(cluster)
	if err != nil {
		return account{}, fmt.Errorf("look at the database cluster: %w", err)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return currentAccount()
	}
	owner := account{name: "uid " + strconv.Itoa(int(stat.Uid)), uid: int(stat.Uid), gid: int(stat.Gid)}
	switch euid := os.Geteuid(); {
	case owner.uid == euid && euid != 0:
		return owner, nil
	case euid == 0 && owner.uid != 0:
		owner.switched = true
		return owner, nil
	case euid == 0:
		return account{}, fmt.Errorf("the database cluster %s belongs to root, and PostgreSQL does not run as root: "+
			"give it to another user (chown -R postgres %s) and start again", cluster, cluster)
	default:
		return account{}, fmt.Errorf("the database cluster %s belongs to uid %d and tarsy runs as uid %d: "+
			"start tarsy as that user or choose another data directory", cluster, owner.uid, euid)
	}
}

// attributes are those of a process that runs as the account, in its own process group: Ctrl-C in a terminal goes to the
// foreground group and would stop the server before tarsy.
func (a account) attributes() *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{Setpgid: true}
	if a.switched {
		attributes.Credential = &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
	}
	return attributes
}

// own gives a file to the account, if that is not the one of this process.
func (a account) own(path string) error {
	if !a.switched {
		return nil
	}
	return os.Lchown(path, a.uid, a.gid)
}

// canReach reports whether the account can enter every directory down to path. It reads only the permission bits, not access lists.
func (a account) canReach(path string) bool {
	if !a.switched {
		return true
	}
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	for directory := resolved; ; directory = filepath.Dir(directory) {
		info, err := os.Stat(directory)
		if err != nil {
			return false
		}
		if info.IsDir() && !a.mayEnter(info) {
			return false
		}
		if directory == filepath.Dir(directory) {
			return true
		}
	}
}

func (a account) mayEnter(info os.FileInfo) bool {
	bit := os.FileMode(0o001)
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		switch {
		case int(stat.Uid) == a.uid:
			bit = 0o100
		case int(stat.Gid) == a.gid:
			bit = 0o010
		}
	}
	return info.Mode().Perm()&bit != 0
}
