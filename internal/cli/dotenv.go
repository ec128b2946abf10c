package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/joho/godotenv"
)

// dotEnvName is the file in a configuration directory whose variables apply when the environment does not set them.
const dotEnvName = ".env"

// readDotEnv reads the variables next to the configuration. Only the configuration can refer to them, because flags are read earlier.
func (f *serverFlags) readDotEnv(configDir string) error {
	if configDir == "" {
		return nil
	}

	path := filepath.Join(directoryOf(configDir), dotEnvName)

	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		f.dotEnv.Store(nil)

		return nil
	} else if err != nil {
		return fmt.Errorf("read the variables of the configuration: %w", err)
	}

	variables, err := godotenv.UnmarshalBytes(text)
	if err != nil {
		// The parser's error could quote a secret.
		return fmt.Errorf("%s: lines must be NAME=value, with quotes around values that have spaces, # or $", path)
	}

	f.dotEnv.Store(&variables)

	return nil
}

// directoryOf returns the directory of the configuration, which may be given as a file.
func directoryOf(configDir string) string {
	if info, err := os.Stat(configDir); err == nil && !info.IsDir() {
		return filepath.Dir(configDir)
	}

	return configDir
}

// addWrittenVariables adds the variables that tarsy init wrote for the server to the environment, which takes precedence, so that checks
// find what the server will find. It returns the path of the file; empty if there is none or this user may not read it.
func (f *serverFlags) addWrittenVariables() string {
	if f.configDir == "" {
		return ""
	}

	path := initFiles{dir: directoryOf(f.configDir)}.variables()

	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}

	f.Env = append(slices.Clip(f.Env), writtenVariables(string(text))...)

	return path
}

// writtenVariables returns the variables of a file that shells can read, as NAME=value. Lines of other forms are left out.
func writtenVariables(text string) []string {
	var all []string

	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)

		if name, value, quoted := strings.Cut(line, "='"); quoted && strings.HasSuffix(value, "'") && !strings.HasPrefix(line, "#") {
			all = append(all, strings.TrimPrefix(name, "export ")+"="+strings.ReplaceAll(strings.TrimSuffix(value, "'"), `'\''`, "'"))

			continue
		}

		variables, err := godotenv.Unmarshal(line)
		if err != nil {
			continue
		}

		for name, value := range variables {
			all = append(all, name+"="+value)
		}
	}

	return all
}
