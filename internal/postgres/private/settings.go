package private

import (
	"context"
	"fmt"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

// defaultSettings are those of a small, durable and local server: socket only, every commit on disk.
func defaultSettings(socketDir string) map[string]string {
	return map[string]string{
		"listen_addresses":        "",
		"port":                    "5432", // only part of the socket's name
		"unix_socket_directories": socketDir,
		"password_encryption":     "scram-sha-256",
		"shared_buffers":          "128MB",
		"max_connections":         "200",
		"max_wal_size":            "1GB",
		"fsync":                   "on",
		"synchronous_commit":      "on",
		"autovacuum":              "on",
		"jit":                     "off", // the queries are short; compiling them takes longer than running them
		"timezone":                "UTC",
		"log_timezone":            "UTC",
		"log_min_messages":        "warning",
		"logging_collector":       "off", // the server's output goes to the file that we opened for it
		"log_line_prefix":         "%m [%p] ",
	}
}

// settings are those that the server is started with.
func (s *Server) settings(ctx context.Context, binaries Binaries, socketDir string) map[string]string {
	settings := defaultSettings(socketDir)
	if s.cfg.Stock {
		maps.DeleteFunc(settings, func(name, _ string) bool {
			return name != "listen_addresses" && name != "port" && name != "unix_socket_directories"
		})
	}
	maps.Copy(settings, s.cfg.Settings)
	if !s.cfg.Stock {
		s.compressWAL(ctx, binaries, settings)
	}
	return settings
}

// compressWAL enables lz4, a cheap compression of write-ahead log pages, which not every build has: it asks the server whether it
// accepts the setting.
func (s *Server) compressWAL(ctx context.Context, binaries Binaries, settings map[string]string) {
	if _, chosen := settings["wal_compression"]; chosen || binaries.Major < 15 || settings["full_page_writes"] == "off" {
		return
	}
	command := exec.CommandContext(ctx, binaries.program("postgres"),
		"-D", s.place.cluster, "-C", "wal_compression", "-c", "wal_compression=lz4")
	command.Env, command.Dir, command.SysProcAttr = environment(), s.place.cluster, s.place.account.attributes()
	if command.Run() == nil {
		settings["wal_compression"] = "lz4"
	}
}

var settingPattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.]*$`)

// flags converts settings to arguments of the server.
func flags(settings map[string]string) ([]string, error) {
	arguments := make([]string, 0, 2*len(settings))
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if !settingPattern.MatchString(name) || strings.ContainsRune(settings[name], 0) {
			return nil, fmt.Errorf("%q = %q is not a setting of PostgreSQL", name, settings[name])
		}
		arguments = append(arguments, "-c", name+"="+settings[name])
	}
	return arguments, nil
}
