package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/mcp"
)

// nobody is the id of a user and a group without privileges.
const nobody = 65534

// reachable returns this test binary under a path that every user can access, and a directory next to it.
func reachable(t *testing.T) (binary, dir string) {
	t.Helper()
	own, err := os.Executable()
	require.NoError(t, err)
	dir, err = os.MkdirTemp("", "tarsy-mcp-") // other users could not access a directory below the test's
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755))
	binary = filepath.Join(dir, "mcp.test")
	if os.Link(own, binary) != nil {
		data, err := os.ReadFile(own)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(binary, data, 0o700))
	}
	require.NoError(t, os.Chmod(binary, 0o755))

	return binary, dir
}

// playLinux plays the roles of the tests in this file.
func playLinux(role string) (int, bool) {
	switch role {
	case "guard":
		return guard(), true
	case "spy":
		// It has to be killed.
		signal.Ignore(syscall.SIGTERM)
		server := newServer()
		addTool(server, "spy", true, spyTool)
		addTool(server, "account", true, accountTool)
		_ = server.Run(context.Background(), &mcpsdk.StdioTransport{})
		select {}
	default:
		return 0, false
	}
}

// guard is a process with secrets that starts a stdio server, as tarsy does. It prints what that server could read of it.
func guard() int {
	if os.Getenv("PROTECTED") == "yes" {
		if err := mcp.ProtectProcess(); err != nil {
			return failed(err)
		}
	}
	binary, err := os.Executable()
	if err != nil {
		return failed(err)
	}
	factory := mcp.New(mcp.Config{Limits: mcp.Limits{BackoffMax: -1, Exit: 100 * time.Millisecond}, Servers: map[string]mcp.ServerConfig{"spy": {Transport: mcp.Transport{
		Type: mcp.TransportStdio, Command: binary, Env: map[string]string{roleVariable: "spy"},
	}}}})
	tools, err := factory.Open(context.Background(), executionID, []tarsy.MCPServerSelection{{Name: "spy"}}, nil)
	if err != nil {
		return failed(err)
	}
	result, err := tools.Call(context.Background(), agent.Call{ID: "1", Name: "spy__spy", Server: "spy", Tool: "spy", Arguments: `{"n":1}`})
	if err = errors.Join(err, tools.Close()); err != nil {
		return failed(err)
	}
	fmt.Println(result.Content)

	return 0
}

func failed(err error) int {
	fmt.Fprintln(os.Stderr, err)

	return 1
}

// spied is what a server could find out about its parent.
type spied struct {
	UID          int
	Capabilities string
	// Switch is the error for starting programs as another user.
	Switch string
	Secret bool
	// Refused are the attempts that failed for lack of permission, Failed the others that failed.
	Refused, Failed []string
	Read            []string
}

// spy tries every way to look into the parent process.
func spy() spied {
	parent := "/proc/" + strconv.Itoa(os.Getppid()) + "/"
	found := spied{UID: os.Getuid(), Capabilities: capabilities(), Switch: fmt.Sprint(mcp.CheckUser("65534:65534"))}
	record := func(way string, err error) {
		switch {
		case err == nil:
			found.Read = append(found.Read, way)
		case errors.Is(err, fs.ErrPermission):
			found.Refused = append(found.Refused, way)
		default:
			found.Failed = append(found.Failed, way+": "+err.Error())
		}
	}
	for _, name := range []string{"environ", "maps", "smaps", "auxv", "io"} {
		data, err := os.ReadFile(parent + name)
		record(name, err)
		found.Secret = found.Secret || strings.Contains(string(data), "the secret of the guard")
	}
	memory, err := os.Open(parent + "mem")
	record("mem", err)
	if err == nil {
		_ = memory.Close()
	}
	for _, name := range []string{"fd", "fdinfo", "map_files"} {
		_, err := os.ReadDir(parent + name)
		record(name, err)
	}
	for _, name := range []string{"fd/0", "cwd", "root", "exe"} {
		_, err := os.Readlink(parent + name)
		record(name, err)
	}
	var buffer [1]byte
	_, err = unix.ProcessVMReadv(os.Getppid(), []unix.Iovec{{Base: &buffer[0], Len: 1}}, []unix.RemoteIovec{{Base: 0x400000, Len: 1}}, 0)
	record("process_vm_readv", err)
	record("ptrace", unix.PtraceSeize(os.Getppid()))

	return found
}

// capabilities returns the capabilities of this process in the kernel's format.
func capabilities() string {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err.Error()
	}
	_, after, _ := strings.Cut(string(status), "CapPrm:\t")
	number, _, _ := strings.Cut(after, "\n")

	return number
}

const noCapabilities = "0000000000000000"

func spyTool(context.Context, *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) {
	data, err := json.Marshal(spy())

	return text(string(data)), err
}

// accountTool reports the user that the server runs as, and whether it can read another user's file.
func accountTool(context.Context, *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) {
	groups, err := os.Getgroups()
	if err != nil {
		return nil, err
	}
	directory, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	_, readErr := os.ReadFile(os.Getenv("SECRET_FILE"))
	_, parentErr := os.ReadFile("/proc/" + strconv.Itoa(os.Getppid()) + "/environ")
	data, err := json.Marshal(runningAs{
		Pid: os.Getpid(), UID: os.Getuid(), Gid: os.Getgid(), Groups: groups, Home: os.Getenv("HOME"), User: os.Getenv("USER"), Directory: directory,
		Capabilities: capabilities(),
		File:         errors.Is(readErr, fs.ErrPermission), Parent: errors.Is(parentErr, fs.ErrPermission),
	})

	return text(string(data)), err
}

type runningAs struct {
	Pid, UID, Gid                       int
	Groups                              []int
	Home, User, Directory, Capabilities string
	// File and Parent report that reading was refused.
	File, Parent bool
}

// spyOn runs a guard, and returns what its server could read.
func spyOn(t *testing.T, protected string, ambient ...uintptr) spied {
	t.Helper()
	binary, dir := reachable(t)
	process := exec.CommandContext(t.Context(), binary)
	process.Dir = dir
	process.Env = []string{roleVariable + "=guard", "PROTECTED=" + protected, "TARSY_TEST_SECRET=the secret of the guard", "PATH=" + os.Getenv("PATH")}
	if os.Geteuid() == 0 {
		// Root reads everything.
		process.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}, AmbientCaps: ambient}
	}
	var stderr strings.Builder
	process.Stderr = &stderr
	out, err := process.Output()
	require.NoError(t, err, stderr.String())
	var found spied
	require.NoError(t, json.Unmarshal(out, &found), string(out))
	require.NotZero(t, found.UID)

	return found
}

func TestStdioServerCannotReadProcessThatStartedIt(t *testing.T) {
	t.Parallel()
	t.Run("without protection", func(t *testing.T) {
		t.Parallel()
		found := spyOn(t, "no")
		require.True(t, found.Secret, "the test tells nothing on this machine: %+v", found)
		require.Subset(t, found.Read, []string{"environ", "maps", "fd", "fd/0", "cwd", "exe"})
	})
	t.Run("with protection", func(t *testing.T) {
		t.Parallel()
		found := spyOn(t, "yes")
		require.False(t, found.Secret)
		require.Empty(t, found.Read)
		require.Empty(t, found.Failed)
		require.Len(t, found.Refused, 15)
	})
	t.Run("with capabilities", func(t *testing.T) {
		t.Parallel()
		if err := mcp.CheckUser("65534:65534"); err != nil {
			t.Skip("needs root: ", err)
		}
		found := spyOn(t, "yes", unix.CAP_SETUID)
		require.Equal(t, noCapabilities, found.Capabilities)
		require.Contains(t, found.Switch, "may not start programs as another user")
		require.Empty(t, found.Read)
	})
}

func TestStdioServerRunsAsConfiguredUser(t *testing.T) {
	t.Parallel()
	if err := mcp.CheckUser("65534:65534"); err != nil {
		t.Skip("needs root: ", err)
	}
	binary, dir := reachable(t)
	secret := filepath.Join(dir, "secret")
	require.NoError(t, os.WriteFile(secret, []byte("of the server"), 0o600))
	account, err := user.LookupId(strconv.Itoa(nobody))
	require.NoError(t, err)
	ids, err := account.GroupIds()
	require.NoError(t, err)
	var groups []int
	for _, id := range ids {
		number, err := strconv.Atoi(id)
		require.NoError(t, err)
		groups = append(groups, number)
	}
	slices.Sort(groups)
	gid, err := strconv.Atoi(account.Gid)
	require.NoError(t, err)
	want := runningAs{
		UID: nobody, Gid: gid, Groups: groups, Home: account.HomeDir, User: account.Username, Directory: "/", Capabilities: noCapabilities,
		File: true, Parent: true,
	}
	grouped := want
	grouped.Gid, grouped.Groups = 12345, nil
	unknown := grouped
	unknown.UID, unknown.User, unknown.Home = 54321, "54321", "/"
	for setting, want := range map[string]runningAs{
		account.Username: want, "65534": want, account.Username + ":12345": grouped, "54321:12345": unknown,
	} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			server := mcp.ServerConfig{Transport: mcp.Transport{
				Type: mcp.TransportStdio, Command: binary, User: setting, Env: map[string]string{roleVariable: "spy", "SECRET_FILE": secret},
			}}
			tools := open(t, mcp.Config{
				Limits: mcp.Limits{BackoffMax: -1, Exit: 100 * time.Millisecond}, Servers: map[string]mcp.ServerConfig{"proc": server},
			}, tarsy.MCPServerSelection{Name: "proc"})
			require.Empty(t, tools.Unavailable())
			var got runningAs
			require.NoError(t, json.Unmarshal([]byte(call(t, tools, "proc__account", "").Content), &got))
			process := got.Pid
			got.Pid = 0
			slices.Sort(got.Groups)
			require.Equal(t, want, got)
			require.NoError(t, tools.Close())
			requireGone(t, process)
		})
	}
}

func TestUserThatCannotBeUsedIsReported(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]string{
		"tarsy-no-such-user":      `user "tarsy-no-such-user" does not exist`,
		"nobody:tarsy-no-such":    `group "tarsy-no-such" does not exist`,
		"54321":                   "its group has to be given: 54321:<group>",
		":0":                      `user "" does not exist`,
		"nobody:":                 `group "" does not exist`,
		"4294967295:4294967295":   `user "4294967295" does not exist`,
		"-1:-1":                   `user "-1" does not exist`,
		"54321:99999999999999999": "does not exist",
	} {
		require.ErrorContains(t, mcp.CheckUser(setting), want)
		server := mcp.ServerConfig{Transport: mcp.Transport{Type: mcp.TransportStdio, Command: "true", User: setting}}
		tools := open(t, mcp.Config{Limits: fast, Servers: map[string]mcp.ServerConfig{"proc": server}}, tarsy.MCPServerSelection{Name: "proc"})
		require.Contains(t, tools.Unavailable()["proc"], want, "a server that is checked nowhere does not start either")
	}
}
