package dump

import (
	"archive/zip"
	"compress/flate"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// archive is a backup that is being written, under a temporary name until it is complete.
type archive struct {
	file *os.File
	path string
	zip  *zip.Writer
}

// checkAbsent returns an error if a file exists, so that it is not overwritten.
func checkAbsent(path string) error {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}

	if err != nil {
		return fmt.Errorf("look for the file of the backup: %w", err)
	}

	return fmt.Errorf("%s exists: choose another name, or replace it with --force", path)
}

// createArchive creates a file that only its owner can read.
func createArchive(path string) (*archive, error) {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".partial-*")
	if err != nil {
		return nil, fmt.Errorf("create the file of the backup: %w", err)
	}

	writer := zip.NewWriter(file)
	// Most of the rows are JSON and prose, which even the fastest level compresses well.
	writer.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) { return flate.NewWriter(out, flate.BestSpeed) })

	return &archive{file: file, path: path, zip: writer}, nil
}

func (a *archive) entry(name string) (io.Writer, error) {
	return a.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Now().UTC()})
}

// finish writes the manifest and renames the file to its final name. It returns the file's size.
func (a *archive) finish(m *Manifest) (int64, error) {
	out, err := a.entry(manifestName)
	if err == nil {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(m)
	}

	if err == nil {
		err = a.zip.Close()
	}

	if err == nil {
		err = a.file.Sync()
	}

	var size int64

	if info, statErr := a.file.Stat(); statErr == nil {
		size = info.Size()
	}

	if err = errors.Join(err, a.file.Close()); err == nil {
		err = os.Rename(a.file.Name(), a.path)
	}

	if err == nil {
		err = syncDir(filepath.Dir(a.path))
	}

	if err != nil {
		return 0, fmt.Errorf("write the file of the backup: %w", err)
	}

	return size, nil
}

// discard removes an unfinished file. After finish it does nothing.
func (a *archive) discard() {
	_ = a.file.Close()
	_ = os.Remove(a.file.Name())
}

func syncDir(path string) error {
	directory, err := os.Open(path)
	if err != nil {
		return err
	}

	return errors.Join(directory.Sync(), directory.Close())
}

// backup is a file that is open for a restore.
type backup struct {
	path     string
	zip      *zip.ReadCloser
	manifest *Manifest
}

// openBackup opens a file, reads its manifest and checks that the tables in it are there.
func openBackup(path string) (*backup, error) {
	reader, err := zip.OpenReader(path)
	if errors.Is(err, zip.ErrFormat) || errors.Is(err, zip.ErrAlgorithm) {
		return nil, fmt.Errorf("%s %w", path, errNoBackup)
	}

	if err != nil {
		return nil, fmt.Errorf("open the backup: %w", err)
	}

	opened := &backup{path: path, zip: reader}
	if err := opened.readManifest(); err != nil {
		_ = reader.Close()

		return nil, fmt.Errorf("%s %w", path, err)
	}

	return opened, nil
}

func (b *backup) readManifest() error {
	file, err := b.zip.Open(manifestName)
	if err != nil {
		return errNoBackup
	}
	defer file.Close() //nolint:errcheck // it was only read

	if b.manifest, err = readManifest(file); err != nil {
		return err
	}

	for _, t := range b.manifest.Tables {
		entry, err := b.zip.Open(t.entry())
		if err != nil {
			return fmt.Errorf("is damaged: the table %s is missing", t.Name)
		}

		_ = entry.Close()
	}

	return nil
}

func (b *backup) close() { _ = b.zip.Close() }

// ReadManifest returns the manifest of a backup, without restoring it.
func ReadManifest(path string) (*Manifest, error) {
	opened, err := openBackup(path)
	if err != nil {
		return nil, err
	}
	defer opened.close()

	return opened.manifest, nil
}
