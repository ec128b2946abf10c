package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/joho/godotenv"
)

// dotEnvName is the file in a configuration directory whose variables apply when the environment does not set them.
const dotEnvName = ".env"

// readDotEnv reads the variables next to the configuration. Only the configuration can refer to them, because flags are read earlier.
func (f *serverFlags) readDotEnv(configDir string) error {
	if configDir == "" {
		return nil
	}

	if info, err := os.Stat(configDir); err == nil && !info.IsDir() {
		configDir = filepath.Dir(configDir)
	}

	path := filepath.Join(configDir, dotEnvName)

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
