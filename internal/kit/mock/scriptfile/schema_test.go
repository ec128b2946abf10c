package scriptfile_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/mock/scriptfile"
)

func TestPublishedSchemaIsCurrent(t *testing.T) {
	t.Parallel()

	golden(t, filepath.Join("..", "..", "..", "..", "docs", "script.schema.json"), string(scriptfile.Schema()))
}

// validate decodes YAML as an editor does and validates it against the schema.
func validate(t *testing.T, text string) error {
	t.Helper()

	var schema jsonschema.Schema

	require.NoError(t, json.Unmarshal(scriptfile.Schema(), &schema))

	resolved, err := schema.Resolve(nil)
	require.NoError(t, err)

	asJSON, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return err
	}

	var value any

	require.NoError(t, json.Unmarshal(asJSON, &value))

	return resolved.Validate(value)
}

// samples returns the documents of a file in testdata, which are separated by ---.
func samples(t *testing.T, name string) []string {
	t.Helper()

	text, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)

	return strings.Split(string(text), "---\n")
}

func TestSchemaAcceptsValidFiles(t *testing.T) {
	t.Parallel()

	for _, text := range samples(t, "right.samples") {
		_, err := scriptfile.Parse("right.yaml", []byte(text))
		require.NoError(t, err, text)
		require.NoError(t, validate(t, text), text)
	}
}

func TestSchemaRefusesInvalidFiles(t *testing.T) {
	t.Parallel()

	for _, text := range samples(t, "wrong.samples") {
		_, err := scriptfile.Parse("wrong.yaml", []byte(text))
		require.Error(t, err, text)
		require.Error(t, validate(t, text), text)
	}
}

func TestProblemsBeyondSchemaAreRefused(t *testing.T) {
	t.Parallel()

	for _, text := range samples(t, "subtle.samples") {
		_, err := scriptfile.Parse("subtle.yaml", []byte(text))
		require.Error(t, err, text)
		require.NoError(t, validate(t, text), text)
	}
}
