package private

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// startBystander runs a harmless process as the given account, in a directory and under a name, and returns its pid.
func startBystander(t *testing.T, runner account, directory, name string) int {
	t.Helper()
	sleep, err := exec.LookPath("sleep")
	require.NoError(t, err)
	program, err := os.ReadFile(sleep)
	require.NoError(t, err)
	bin, err := os.MkdirTemp("", "tarsy-bystander-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(bin)) })
	require.NoError(t, os.Chmod(bin, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(bin, name), program, 0o755))
	command := exec.Command(filepath.Join(bin, name), "600")
	command.Dir, command.SysProcAttr = directory, runner.attributes()
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	return command.Process.Pid
}

// fakeInstallations creates <dir>/<version>/bin with programs that only print their version.
func fakeInstallations(t *testing.T, versions ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, version := range versions {
		bin := filepath.Join(dir, version, "bin")
		require.NoError(t, os.MkdirAll(bin, 0o755))
		script := "#!/bin/sh\necho 'postgres (PostgreSQL) " + version + "'\n"
		for _, program := range []string{"postgres", "initdb"} {
			require.NoError(t, os.WriteFile(filepath.Join(bin, program), []byte(script), 0o755))
		}
	}
	return dir
}

func TestDirectoryUnreachableForServerUser(t *testing.T) {
	t.Parallel()
	realBinaries(t)
	dir := filepath.Join(t.TempDir(), "data") // below a directory with mode 0700
	require.NoError(t, os.Mkdir(dir, 0o700))
	cleanUp(t, dir)
	server := open(t, dir)
	execSQL(t, server, databaseName, "CREATE TABLE kept AS SELECT 'still here' AS word")
	owner, err := ownerAccount(server.place.cluster)
	require.NoError(t, err)

	if os.Geteuid() != 0 {
		require.Equal(t, filepath.Join(dir, "postgres"), server.place.cluster, "an ordinary user reaches its own directory")
		require.Equal(t, os.Geteuid(), owner.uid)
		return
	}
	require.True(t, strings.HasPrefix(server.place.cluster, unreachableRoot+"/"), server.place.cluster)
	require.NotZero(t, owner.uid, "the server does not run as root")
	stop(t, server)
	again := open(t, dir)
	require.Equal(t, server.place.cluster, again.place.cluster)
	require.Equal(t, "still here", queryText(t, again.URL(), "SELECT word FROM kept"))
	stop(t, again)

	// Deleting a data directory deletes its password too; its database is kept and does not get in the way.
	require.NoError(t, os.RemoveAll(dir))
	var said []string
	afresh, err := Open(t.Context(), Config{
		Dir: dir, Settings: fastSettings(), Progress: func(line string) { said = append(said, line) },
	})
	require.NoError(t, err)
	stop(t, afresh)
	require.Contains(t, strings.Join(said, "\n"), "was kept in "+server.place.root+"-old-")
	kept, err := filepath.Glob(server.place.root + "-old-*")
	require.NoError(t, err)
	require.Len(t, kept, 1)
	require.NoError(t, os.RemoveAll(kept[0]))
}

func TestReachable(t *testing.T) {
	t.Parallel()
	base, err := os.MkdirTemp("", "tarsy-reach-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(base)) })
	inner := filepath.Join(base, "inner")
	require.NoError(t, os.Mkdir(inner, 0o755))
	stranger := account{uid: 54321, gid: 54321, switched: true}

	require.False(t, stranger.canReach(inner), "a directory above is closed")
	require.NoError(t, os.Chmod(base, 0o711))
	require.True(t, stranger.canReach(inner))
	require.True(t, account{}.canReach("/nowhere"), "an account that is ours needs no look")
}

func TestBinariesUnreachableForServerUserAreRefused(t *testing.T) {
	t.Parallel()
	installations := fakeInstallations(t, "16.4")
	stranger := account{name: "stranger", uid: 54321, gid: 54321, switched: true}
	_, err := finder{account: stranger}.find(filepath.Join(installations, "16.4", "bin"))
	require.ErrorContains(t, err, "stranger")
	require.ErrorContains(t, err, "cannot reach")
}
