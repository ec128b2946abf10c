package cli

import (
	"github.com/spf13/cobra"

	"tarsy.dev/tarsy/internal/client"
)

// defaultServer is where tarsy serve listens by default.
const defaultServer = "http://127.0.0.1:8080"

// connection is the flags of commands that talk to a server.
type connection struct {
	server string
	token  string
}

func connectionFlags(cmd *cobra.Command) *connection {
	c := &connection{}
	cmd.Flags().StringVar(&c.server, "server", defaultServer, "address of the server")
	cmd.Flags().StringVar(&c.token, "token", "", "API key, if the server requires one")
	withEnv(cmd.Flags(), "server", "TARSY_SERVER")
	withEnv(cmd.Flags(), "token", "TARSY_TOKEN")

	return c
}

func (c *connection) open() (*client.Client, error) {
	return client.New(client.Config{Server: c.server, Token: c.token, UserAgent: userAgent()})
}
