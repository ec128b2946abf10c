package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/joho/godotenv"
)

// dotEnvName is the file of a configuration directory whose variables count where the environment has none of the name.
const dotEnvName = ".env"

// readDotEnv reads the variables next to the configuration. Only the configuration can name them: flags are read before.
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
		// What the parser says may quote a secret.
		return fmt.Errorf("%s: lines must be NAME=value, with quotes around values that have spaces, # or $", path)
	}

	f.dotEnv.Store(&variables)

	return nil
}
