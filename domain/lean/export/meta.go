package export

import (
	"strconv"
	"strings"
)

// readMetaBody reads the value of "meta". Parts that are absent stay empty; a part that is there must be well-formed.
func (d *parser) readMetaBody() *Error {
	m := &Meta{}
	d.meta = m
	targets := map[string]map[string]*string{
		"exporter": {"name": &m.ExporterName, "version": &m.ExporterVersion},
		"lean":     {"version": &m.LeanVersion, "githash": &m.LeanGitHash},
		"format":   {"version": &m.FormatVersion},
	}
	return d.scan.object(func(key []byte) *Error {
		part, ok := targets[string(key)]
		if !ok {
			return d.scan.skipValue()
		}
		return d.scan.object(func(key []byte) *Error {
			target, ok := part[string(key)]
			if !ok {
				return d.scan.skipValue()
			}
			text, err := d.string()
			*target = text
			return err
		})
	})
}

// readMeta checks the first line.
func (d *decoder) readMeta() *Error {
	if d.kind != metaRecord {
		return fail(BadMeta, "the first line is no meta record")
	}
	if d.meta.FormatVersion == "" {
		return fail(BadMeta, "the meta record has no format version")
	}
	major, minor, ok := parseVersion(d.meta.FormatVersion)
	if !ok {
		return fail(BadMeta, "%q is no version", d.meta.FormatVersion)
	}
	d.file.Meta = *d.meta
	if major != 3 || minor != 1 {
		return fail(FormatWindow, "the format version %s is outside %s", d.meta.FormatVersion, FormatWindowText)
	}
	return nil
}

// parseVersion reads major.minor.patch; a pre-release of 3.1.0 precedes it and is outside the window, so suffixes are
// not taken.
func parseVersion(text string) (major, minor int, ok bool) {
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return 0, 0, false
	}
	var numbers [3]int
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 10, 31)
		if err != nil || len(p) > 1 && p[0] == '0' {
			return 0, 0, false
		}
		numbers[i] = int(n)
	}
	return numbers[0], numbers[1], true
}
