package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Report is how far Install is.
type Report struct {
	Notice string // what people must know, once; empty when only the figures have changed
	Doing  string // now
	// Bytes are on disk so far, of about AllBytes. They grow until the end.
	Bytes, AllBytes int64
	Elapsed         time.Duration
}

// Bounds of an installation. The pinned packages are a fraction of them: what goes on for longer is something else, and its hashes would
// be looked at in the end only.
var maxInstallBytes int64 = 1 << 30

const maxInstallTime = 30 * time.Minute

// errEndless ends an installation at its bounds.
var errEndless = errors.New("still downloading after " + maxInstallTime.String() + " or 1 GiB")

// reporter tells how far an installation is. It is safe for concurrent use.
type reporter struct {
	tell   func(Report)
	folder string // that is measured
	begun  time.Time

	mu  sync.Mutex
	now Report
}

func newReporter(tell func(Report), folder string, allBytes int64) *reporter {
	if tell == nil {
		tell = func(Report) {}
	}
	return &reporter{tell: tell, folder: folder, begun: time.Now(), now: Report{AllBytes: allBytes}}
}

// notice tells what people must know.
func (r *reporter) notice(format string, arguments ...any) {
	r.update(func(now *Report) { now.Notice = fmt.Sprintf(format, arguments...) })
}

// wheelName is name and version of a wheel, with where it lies and the machines it is for (PEP 427).
var wheelName = regexp.MustCompile(`(?:\S*/)?([^/\s-]+-[^/\s-]+)-\S+\.whl`)

// doing tells what is done now.
func (r *reporter) doing(what string) { r.update(func(now *Report) { now.Doing = what }) }

// heard tells what pip prints, as far as it says what it does.
func (r *reporter) heard(line string) {
	for begins, does := range map[string]string{"Downloading ": "downloading ", "Using cached ": "from the cache: ", "Installing collected packages: ": "unpacking ", "WARNING: ": "pip: "} {
		if rest, is := strings.CutPrefix(line, begins); is {
			r.doing(does + wheelName.ReplaceAllString(rest, "$1"))
		}
	}
}

// measure looks at the disk, and returns errEndless where that is too much.
func (r *reporter) measure() error {
	bytes := bytesBelow(r.folder)
	r.update(func(now *Report) { now.Bytes = max(now.Bytes, min(bytes, now.AllBytes)) })
	if bytes > maxInstallBytes {
		return errEndless
	}
	return nil
}

// bytesBelow is the size of all files below a folder, which may be worked on meanwhile.
func bytesBelow(folder string) (bytes int64) {
	_ = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // it has gone
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}

func (r *reporter) update(change func(*Report)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.now)
	r.now.Elapsed = time.Since(r.begun)
	r.tell(r.now)
	r.now.Notice = ""
}
