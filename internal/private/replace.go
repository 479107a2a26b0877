package private

import (
	"errors"
	"os"
	"path/filepath"

	"reckon/internal/disk"
)

// ReplaceFile replaces a file, or makes it, as a whole and readable by its owner only. It is on the disk when it returns; of several
// processes that do so at once, one is the last.
func ReplaceFile(path string, content []byte) error {
	folder := filepath.Dir(path)
	file, err := os.CreateTemp(folder, filepath.Base(path)+"-*.new") // 0600
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return disk.SyncFolder(folder)
}
