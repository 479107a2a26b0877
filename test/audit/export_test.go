package audit

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"reckon/domain"
	"reckon/domain/audit"
	"reckon/domain/audit/audittest"
	"reckon/eventstore"
	"reckon/eventstore/export"
	"reckon/eventstore/node"
	"reckon/projections/auditor"
)

const exportSuffix = ".ndjson"

// exportTo writes the export of a log's folder.
func exportTo(t testing.TB, dir, file string) {
	t.Helper()
	_, err := export.ToFile(t.Context(), file, export.Folder(dir), export.Selection{}, func(uint64, uint64) error { return nil })
	must(t, err)
}

// exported writes lines of an export that somebody changed.
func (x *tamperer) exported(content []byte) string {
	path := x.dir() + exportSuffix
	must(x.t, os.WriteFile(path, content, 0o600))
	return path
}

// lines are those of the true export: line n is the event at position n, line 0 the first one, and the last one follows the events.
func (x *tamperer) lines() [][]byte {
	return bytes.SplitAfter(bytes.TrimSuffix(x.export, []byte("\n")), []byte("\n"))
}

// damagedAtLine: damage is at the event of a line; of the first one, which names the log, at its first event.
func damagedAtLine(n int) func(audit.Finding) bool {
	return damagedBy(audit.KindExport, uint64(max(n, 1)))
}

// flipExportByte flips a bit of a byte of an export.
func (x *tamperer) flipExportByte() tampering {
	content, offset := slices.Clone(x.export), x.random.IntN(len(x.export)-1) // what is left of a file without its last line end is cut
	content[offset] ^= 1 << x.random.IntN(8)
	line := bytes.Count(x.export[:offset], []byte("\n"))
	return tampering{what: fmt.Sprintf("byte %d, line %d of the export", offset, line), path: x.exported(content), found: damagedAtLine(line)}
}

// moveLines removes, repeats or exchanges lines of events.
func (x *tamperer) moveLines() tampering {
	lines := x.lines()
	n := 1 + x.random.IntN(len(lines)-3)
	what, at := "", n
	switch x.random.IntN(3) {
	case 0:
		lines, what = slices.Delete(lines, n, n+1), "removed"
	case 1:
		lines, what, at = slices.Insert(lines, n, lines[n]), "repeated", n+1
	default:
		lines[n], lines[n+1], what = lines[n+1], lines[n], "exchanged with the next"
	}
	return tampering{what: fmt.Sprintf("line %d of the export %s", n, what), path: x.exported(append(bytes.Join(lines, nil), '\n')), found: damagedAtLine(at)}
}

// cutExport cuts an export behind an event: as it is, or with a last line of what is left, which an anchor tells.
func (x *tamperer) cutExport() tampering {
	last := 1 + x.random.IntN(len(x.stored)-1)
	if x.random.IntN(2) == 0 {
		return tampering{what: fmt.Sprintf("export cut behind line %d", last), path: x.exported(bytes.Join(x.lines()[:last+1], nil)), found: damagedAtLine(last + 1)}
	}
	dir := x.dir()
	x.write(x.t, dir, x.stored[:last])
	path := dir + exportSuffix
	exportTo(x.t, dir, path)
	must(x.t, os.RemoveAll(dir))
	anchors := x.disk.anchors(every)
	return tampering{what: fmt.Sprintf("export ended behind line %d", last), path: path, given: given{anchors: anchors[len(anchors)-1:]},
		found: func(f audit.Finding) bool { return f.Kind == audit.KindAnchor && f.Position == uint64(last+1) }}
}

// TestEverySourceSaysTheSame: given a true log and a forged one, when they are read from their folder, from its export, from the server of
// the folder, and from the export of that server, then the reports are equal, but for the chain, which a server does not show.
func TestEverySourceSaysTheSame(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	forged := slices.Clone(i.stored)
	n := slices.IndexFunc(forged, func(s audit.Stored) bool { return s.Name == "receipt.sealed" })
	forged[n].Data = bytes.Replace(forged[n].Data, []byte(`"signature":"`), []byte(`"signature":"AAAA`), 1)
	i.write(t, filepath.Join(i.folder, "forged"), forged)
	for name, dir := range map[string]string{"true": i.disk.dir, "forged": filepath.Join(i.folder, "forged")} {
		g := given{keys: i.keys, readModels: i.readModels()}
		audited := func(source auditor.Source) auditor.Report { return i.audit(t, source, g) }
		file := filepath.Join(i.folder, name+"-folder"+exportSuffix)
		exportTo(t, dir, file)
		folder, ofFolder := audited(auditor.Folder{Dir: dir}), audited(auditor.Export{Path: file})
		if isFound(folder.Findings) != (name == "forged") || !folder.Chained || !folder.Tables {
			t.Fatalf("%s: %+v", name, folder)
		}
		if !reflect.DeepEqual(ofFolder, folder) {
			t.Errorf("%s: the export says\n%+v\nand the folder\n%+v", name, ofFolder, folder)
		}
		server, ofServer := i.fromServer(t, dir, audited)
		if !reflect.DeepEqual(ofServer, server) {
			t.Errorf("%s: the export of the server says\n%+v\nand the server\n%+v", name, ofServer, server)
		}
		folder.Chained, folder.Link, folder.Transparency.Chained, server.Chained = false, "", 0, false
		folder.Findings = slices.DeleteFunc(folder.Findings, func(f audit.Finding) bool { return f.Kind == audit.KindNoAnchor || f.Kind == audit.KindCheckpointChain })
		if !reflect.DeepEqual(server, folder) {
			t.Errorf("%s: the server says\n%+v\nand the folder\n%+v", name, server, folder)
		}
	}
}

// fromServer audits a log through a node, and its export from there.
func (i *installation) fromServer(t *testing.T, dir string, audited func(auditor.Source) auditor.Report) (server, ofServer auditor.Report) {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	n, err := node.Open(node.Config{Dir: dir, Logger: quiet})
	must(t, err)
	defer func() { must(t, n.Close(context.WithoutCancel(t.Context()))) }()
	store, err := eventstore.Connect(t.Context(), eventstore.Config{Connection: n.ConnectionString(), Catalogue: domain.Catalogue(), Logger: quiet})
	must(t, err)
	defer store.Close()
	client, err := eventstore.OpenClient(n.ConnectionString(), quiet)
	must(t, err)
	defer func() { must(t, client.Close()) }()
	file := dir + "-server" + exportSuffix
	_, err = export.ToFile(t.Context(), file, export.Server(client), export.Selection{}, func(uint64, uint64) error { return nil })
	must(t, err)
	return audited(auditor.Store{Store: store}), audited(auditor.Export{Path: file})
}

// TestPartsOfALogAreNotAudited: given the export of a stream, of a category, or of what came later, or an anchor for the export of a
// server, then the audit says what to do instead of judging.
func TestPartsOfALogAreNotAudited(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	for name, s := range map[string]export.Selection{"stream": {Stream: "keys"}, "category": {Category: "run"}, "later": {Since: 3}} {
		file := filepath.Join(i.folder, name+exportSuffix)
		_, err := export.ToFile(t.Context(), file, export.Folder(i.disk.dir), s, func(uint64, uint64) error { return nil })
		must(t, err)
		if _, err := (auditor.Export{Path: file}).Read(t.Context(), func(audit.Stored) error { return nil }); err == nil || !strings.Contains(err.Error(), "part of a log") {
			t.Errorf("%s: %v", name, err)
		}
	}
	file := filepath.Join(i.folder, "unchained"+exportSuffix)
	must(t, os.WriteFile(file, []byte("{\"format\":\"reckon-export\",\"version\":1,\"after\":0}\n"), 0o600))
	if _, err := (auditor.Export{Path: file, Anchors: i.disk.anchors(every)}).Read(t.Context(), func(audit.Stored) error { return nil }); err == nil || !strings.Contains(err.Error(), "hash chain") {
		t.Errorf("%v", err)
	}
}

// TestUsageOfADamagedLogIsNotCounted: given a log that cannot be read to its end, in a folder or an export, then no usage is counted of the
// part before.
func TestUsageOfADamagedLogIsNotCounted(t *testing.T) {
	t.Parallel()
	x := &tamperer{installation: newInstallation(t), t: t, random: rand.New(rand.NewPCG(*seed, 0))}
	usage := func(source auditor.Source) error {
		return auditor.ReadUsage(t.Context(), source, audit.Reader{Catalogue: domain.Catalogue(), Unmarshal: eventstore.Unmarshal}, audit.NewUsage(audittest.Alice, "", ""))
	}
	must(t, usage(sourceOf(x.disk.dir, nil)))
	for _, change := range []tampering{x.flipByte(), x.moveRecords(), x.flipExportByte(), x.moveLines()} {
		if err := usage(sourceOf(change.path, nil)); err == nil || !strings.Contains(err.Error(), "cannot be read to its end") {
			t.Errorf("%s: %v", change.what, err)
		}
	}
}
