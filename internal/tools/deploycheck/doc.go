// Package deploycheck checks the deployment files with the parsers of the programs that read them: Helm, BuildKit, Compose and GoReleaser.
// It is a separate module, because these require hundreds of modules that the product does not need. make lint-deploy runs it.
package deploycheck
