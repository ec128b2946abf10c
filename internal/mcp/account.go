package mcp

import (
	"errors"
	"fmt"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

var (
	errNoSwitch = errors.New("TARSy may not start programs as another user: " +
		"run it as root or with the capabilities CAP_SETUID, CAP_SETGID and CAP_KILL, or remove the setting")
	errNotID   = errors.New("is not the number of a user or group")
	errNotHere = errors.New("does not exist on this machine")
	errNoGroup = errors.New("does not exist as an account, so its group has to be given")
)

// account is the operating system user that a stdio server runs as.
type account struct {
	name, home string
	credential syscall.Credential
}

// CheckUser returns why a stdio server cannot run as this user on this machine, and nil if it can.
func CheckUser(text string) error {
	if _, err := findAccount(text); err != nil {
		return err
	}
	if !maySwitchUser() {
		return errNoSwitch
	}

	return nil
}

// findAccount parses "user" or "user:group", each a name or a number. The process gets all groups of the user, or only the given one. A
// number need not belong to an account if a group is given.
func findAccount(text string) (account, error) {
	name, group, withGroup := strings.Cut(text, ":")
	found, err := lookUpUser(name)
	if err != nil {
		return account{}, err
	}
	var numbers []string
	switch {
	case withGroup:
		number, err := lookUpGroup(group)
		if err != nil {
			return account{}, err
		}
		found.Gid = number
	case found.Gid == "":
		return account{}, fmt.Errorf("user %s %w: %s:<group>", name, errNoGroup, name)
	default:
		if numbers, err = found.GroupIds(); err != nil {
			return account{}, fmt.Errorf("find the groups of user %s: %w", name, err)
		}
	}
	ids, err := parseIDs(append([]string{found.Uid, found.Gid}, numbers...))
	if err != nil {
		return account{}, fmt.Errorf("user %s: %w", text, err)
	}

	return account{
		name: found.Username, home: found.HomeDir,
		// An empty list drops all groups.
		credential: syscall.Credential{Uid: ids[0], Gid: ids[1], Groups: ids[2:]},
	}, nil
}

// lookUpUser finds a user by name or number. A number without an account has no group.
func lookUpUser(name string) (*user.User, error) {
	found, err := user.Lookup(name)
	if err == nil {
		return found, nil
	}
	if !isID(name) {
		if _, unknown := errors.AsType[user.UnknownUserError](err); unknown {
			return nil, fmt.Errorf("user %q %w", name, errNotHere)
		}

		return nil, fmt.Errorf("look up user %q: %w", name, err)
	}
	if found, err = user.LookupId(name); err == nil {
		return found, nil
	}

	return &user.User{Uid: name, Username: name, HomeDir: "/"}, nil
}

func lookUpGroup(name string) (string, error) {
	if found, err := user.LookupGroup(name); err == nil {
		return found.Gid, nil
	}
	if !isID(name) {
		return "", fmt.Errorf("group %q %w", name, errNotHere)
	}

	return name, nil
}

func isID(text string) bool {
	_, err := parseIDs([]string{text})

	return err == nil
}

func parseIDs(texts []string) ([]uint32, error) {
	ids := make([]uint32, len(texts))
	for i, text := range texts {
		// The largest number means "no change" to the system.
		id, err := strconv.ParseUint(text, 10, 32)
		if err != nil || id == 1<<32-1 {
			return nil, fmt.Errorf("%q %w", text, errNotID)
		}
		ids[i] = uint32(id)
	}

	return ids, nil
}

// apply makes cmd run as the account. It starts in the root directory: the current one may not be accessible to that user, and a
// process in it could still read it.
func (a account) apply(cmd *exec.Cmd) error {
	if cmd.Err != nil {
		return cmd.Err
	}
	path, err := filepath.Abs(cmd.Path)
	if err != nil {
		return fmt.Errorf("find %s: %w", cmd.Path, err)
	}
	cmd.Path, cmd.Dir = path, "/"
	cmd.SysProcAttr.Credential = &a.credential

	return nil
}

// environment replaces the variables of this process that belong to its own user.
func (a account) environment(own []string) []string {
	own = slices.DeleteFunc(slices.Clone(own), func(entry string) bool { return strings.HasPrefix(entry, "XDG_") })

	return append(own, "HOME="+a.home, "USER="+a.name, "LOGNAME="+a.name, "PWD=/")
}
