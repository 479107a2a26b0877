package audit

import (
	"path/filepath"
	"slices"
	"testing"

	"reckon/domain/audit"
	"reckon/domain/audit/audittest"
	"reckon/domain/transparency"
	"reckon/projections/auditor"
)

// TestACheckpointOfANodeWithoutItsChain: given the files of a log with a checkpoint of version 2 that leaves out the chain, the first or a later
// one, then the folder and its export show it, and the server of the folder, which shows no chain, does not.
func TestACheckpointOfANodeWithoutItsChain(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	for n, name := range []string{"first", "second"} {
		l := audittest.True()
		signed := l.Find("checkpoint.signed", n+1)
		e := signed.Event.(transparency.Signed)
		e.Chain, signed.Data = nil, nil
		signed.Event = e
		dir := filepath.Join(i.folder, name)
		i.write(t, dir, l.Stored(t))
		file := dir + exportSuffix
		exportTo(t, dir, file)
		place := uint64(l.Index(signed) + 1)
		found := func(source auditor.Source) bool {
			return slices.ContainsFunc(i.audit(t, source, given{keys: i.keys}).Findings, func(f audit.Finding) bool {
				return f.Kind == audit.KindCheckpointChain && f.Position == place
			})
		}
		if !found(auditor.Folder{Dir: dir}) || !found(auditor.Export{Path: file}) {
			t.Errorf("the %s checkpoint without a chain passes", name)
		}
		i.fromServer(t, dir, func(source auditor.Source) auditor.Report {
			if found(source) {
				t.Errorf("the %s checkpoint: a server shows no chain", name)
			}
			return auditor.Report{}
		})
	}
}
