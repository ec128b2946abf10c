package deploycheck_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/require"
)

// composed loads the compose file like docker compose, from a copy that includes the file of keys.
func composed(t *testing.T, environment map[string]string) (*types.Project, error) {
	t.Helper()

	dir := filepath.Join(t.TempDir(), "deploy", "compose")
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join(root, "deploy", "compose"))))
	require.NoError(t, os.Rename(filepath.Join(dir, "tarsy.env.example"), filepath.Join(dir, "tarsy.env")))

	return loader.LoadWithContext(t.Context(), types.ConfigDetails{
		WorkingDir: dir, ConfigFiles: []types.ConfigFile{{Filename: filepath.Join(dir, "compose.yaml")}}, Environment: environment,
	})
}

func TestComposeServerIsLockedDownAndWaitsForItsDatabase(t *testing.T) {
	t.Parallel()

	project, err := composed(t, map[string]string{"TARSY_DATABASE_PASSWORD": "secret"})
	require.NoError(t, err)

	server, database := project.Services["tarsy"], project.Services["database"]
	require.True(t, server.ReadOnly)
	require.Equal(t, "65532:65532", server.User)
	require.Equal(t, []string{"ALL"}, server.CapDrop)
	require.Contains(t, server.SecurityOpt, "no-new-privileges:true")
	require.Equal(t, types.ServiceConditionHealthy, server.DependsOn["database"].Condition)
	require.Equal(t, types.HealthCheckTest{"CMD", "/usr/local/bin/tarsy", "smoke", "--ready"}, server.HealthCheck.Test)
	require.NotNil(t, database.HealthCheck)
	require.Regexp(t, `^postgres:\d+`, database.Image)
	require.Empty(t, database.Ports, "the database is for the server only")

	for _, port := range server.Ports {
		require.Equal(t, "127.0.0.1", port.HostIP)
	}

	for _, volume := range server.Volumes {
		require.True(t, volume.ReadOnly, volume.Target)
	}

	require.Equal(t, "secret", *server.Environment["PGPASSWORD"])
	require.Equal(t, "secret", *database.Environment["POSTGRES_PASSWORD"])
	require.NotContains(t, *server.Environment["TARSY_DATABASE_URL"], "secret")
}

func TestComposeRefusesToStartWithoutPassword(t *testing.T) {
	t.Parallel()

	_, err := composed(t, nil)
	require.ErrorContains(t, err, "TARSY_DATABASE_PASSWORD")
}
