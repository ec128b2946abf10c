package cli_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/cli"
	"tarsy.dev/tarsy/internal/licenses"
)

func TestLicensesOfPartsAreListed(t *testing.T) {
	t.Parallel()

	got := tarsyWith(t, nil, "", "licenses")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Regexp(t, `^KIND +NAME +VERSION +LICENCE\n`, got.stdout)
	require.Regexp(t, `\ngo +github.com/jackc/pgx/v5 +v5\.\S+ +MIT\n`, got.stdout)
	require.Regexp(t, `\nnpm +react +\d+\.\S+ +MIT\n`, got.stdout)
	require.Regexp(t, `\ndata +gitleaks rules +v\S+ +MIT\n`, got.stdout)
	require.NotContains(t, got.stdout, "Permission is hereby granted")
}

func TestLicensesArePrintedInFull(t *testing.T) {
	t.Parallel()

	got := tarsyWith(t, nil, "", "licenses", "--text")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Equal(t, licenses.Text(), got.stdout)

	for _, text := range []string{"Permission is hereby granted", "Apache License", "Mozilla Public License Version 2.0", "SIL OPEN FONT LICENSE"} {
		require.Contains(t, got.stdout, text)
	}
}

func TestLicensesArePrintedAsJSON(t *testing.T) {
	t.Parallel()

	for _, args := range [][]string{{"licenses", "-o", "json"}, {"licenses", "-o", "json", "--text"}} {
		var parts []licenses.Part

		require.NoError(t, json.Unmarshal([]byte(tarsyWith(t, nil, "", args...).stdout), &parts))
		require.Greater(t, len(parts), 100)

		for _, p := range parts {
			require.NotEmpty(t, p.License)
			require.Equal(t, len(args) == 4, len(p.Texts) > 0, p.Name)
		}
	}
}
