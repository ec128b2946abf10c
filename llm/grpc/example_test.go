package grpc_test

import (
	"context"
	"fmt"
	"net"

	rpc "google.golang.org/grpc"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/grpc"
	"tarsy.dev/tarsy/llm/script"
)

// A gateway in Go is any llm.Client on a gRPC server. Here it is a script; yours would choose a model, track its costs, or keep
// the keys where TARSy does not see them.
func ExampleRegister() {
	model := script.New(script.Options{})
	model.Add(script.Reply{Text: "The pod ran out of memory."})

	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}

	server := rpc.NewServer(rpc.MaxRecvMsgSize(grpc.MaxMessageSize))
	grpc.Register(server, model)

	go func() { _ = server.Serve(listener) }()
	defer server.Stop()

	client, err := grpc.New(grpc.Config{Target: listener.Addr().String()})
	if err != nil {
		panic(err)
	}
	defer func() { _ = client.Close() }()

	answer, err := llm.Collect(client.Generate(context.Background(), &llm.Request{
		Model: "any", Messages: []llm.Message{{Role: llm.RoleUser, Content: "Why did it restart?"}},
	}), nil)
	fmt.Println(answer.Text, err)
	// Output: The pod ran out of memory. <nil>
}
