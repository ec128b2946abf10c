package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// defaultLimit is how many items a list has.
const defaultLimit = 20

// listFlags are those of commands that list what the server has by page.
type listFlags struct {
	number int
	all    bool
}

// addListFlags adds the flags; items is what they are called.
func addListFlags(cmd *cobra.Command, items string) *listFlags {
	f := &listFlags{}
	cmd.Flags().IntVar(&f.number, "limit", defaultLimit, "number of "+items+" to list")
	cmd.Flags().BoolVar(&f.all, "all", false, "list all "+items)

	return f
}

// limit is how many items to ask for; 0 means all.
func (f *listFlags) limit() (int, error) {
	switch {
	case f.number < 1:
		return 0, usageError{fmt.Errorf("--limit must be at least 1, not %d", f.number)}
	case f.all:
		return 0, nil
	default:
		return f.number, nil
	}
}
