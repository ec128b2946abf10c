// Package cluster is a small simulated Kubernetes cluster behind a real MCP server, which the demo's agents investigate.
// All its answers are fixed, so a demo and a golden file read the same every time.
//
// It has six stories: checkout in shop is OOM-killed since release v2.31; payments-api in payments cannot start since a
// change to its ConfigMap; the certificate ingress-tls in shop is about to expire; batch-reports in reporting was busy in
// its nightly window, as it should be; catalog-search in shop waits for database connections held by a reindex; and node-f,
// the only node for the pods of media, is down since its disk filled up. Some of its output contains secrets, none of them
// real. It knows nothing about alerts, agents or TARSy.
package cluster
