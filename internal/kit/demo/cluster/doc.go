// Package cluster is a small simulated Kubernetes cluster behind a real MCP server: what the demo's agents look at.
// Everything it answers is fixed, so that a demo and a golden file read the same every time.
//
// It tells six stories: checkout in shop is killed for its memory since release v2.31; payments-api in payments cannot
// start since a change of its ConfigMap; the certificate ingress-tls in shop is about to expire; batch-reports in
// reporting was busy in its nightly window, as it should be; catalog-search in shop waits for database connections that
// a reindex holds; and node-f, the only node for the pods of media, is down since its disk was full. Some of what it shows
// holds secrets, none of them real. It knows nothing of alerts, agents or TARSy.
package cluster
