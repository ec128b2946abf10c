package pgtest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// environment is the configuration in environment variables.
type environment struct {
	url    string // of a server that is not ours
	binDir string
	stock  bool
	major  int // 0 for any
	run    string
}

func readEnvironment(lookup func(string) string) (environment, error) {
	wanted := environment{url: lookup("TARSY_TEST_DATABASE_URL"), binDir: lookup("TARSY_PG_BIN"), run: lookup("TARSY_TEST_RUN")}
	if strings.Trim(wanted.run, "0123456789") != "" {
		return wanted, fmt.Errorf("TARSY_TEST_RUN is %q: set it to the number of the process that runs the tests, or unset it", wanted.run)
	}
	switch kind := lookup("TARSY_TEST_POSTGRES"); kind {
	case "":
	case "stock":
		wanted.stock = true
	default:
		return wanted, fmt.Errorf("TARSY_TEST_POSTGRES is %q: set it to stock, or unset it", kind)
	}
	if wanted.stock && wanted.url != "" {
		return wanted, errors.New("TARSY_TEST_POSTGRES and TARSY_TEST_DATABASE_URL name different servers: unset one of them")
	}
	if text := lookup("TARSY_TEST_POSTGRES_MAJOR"); text != "" {
		var err error
		if wanted.major, err = strconv.Atoi(text); err != nil {
			return wanted, fmt.Errorf("TARSY_TEST_POSTGRES_MAJOR is %q: set it to a major version such as 18", text)
		}
	}
	return wanted, nil
}

// checkMajor rejects a server of another major version than requested, so that a run of the tests on several versions does not
// test the same one repeatedly.
func (e environment) checkMajor(ctx context.Context, url string) error {
	if e.major == 0 {
		return nil
	}
	connection, err := pgx.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("connect to the test server: %w", err)
	}
	defer connection.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing was left undone on it
	var number int
	if err := connection.QueryRow(ctx, "SELECT current_setting('server_version_num')::int").Scan(&number); err != nil {
		return fmt.Errorf("ask the test server for its version: %w", err)
	}
	const perMajor = 10_000 // 180004 is 18.4
	if found := number / perMajor; found != e.major {
		return fmt.Errorf("the test server is PostgreSQL %d, and TARSY_TEST_POSTGRES_MAJOR asks for %d: "+
			"name the programs of that version in TARSY_PG_BIN", found, e.major)
	}
	return nil
}
