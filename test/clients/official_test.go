package clients

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reckon/test/e2e"
	"reckon/test/python"
	"reckon/test/sweep"
)

// foreignKeys is a key set of nobody's that this test knows: RFC 8037, appendix A.2.
const foreignKeys = `{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}`

// TestOfficialClients: what make clients writes is used for a real flow, with the check of receipts. In the notebook's example too.
func TestOfficialClients(t *testing.T) {
	t.Parallel()
	sweep.Only(t, "foreign tools install their packages anew")
	const told = "the story is told"
	data := e2e.DataFolder(t)
	server := e2e.Start(t, data, "--config", e2e.GenerousPlans(t, data))
	account := server.NewAccount("clients@example.com")
	to := t.TempDir()
	t.Run("Python", func(t *testing.T) {
		interpreter := python.With(t, "httpx==0.28.1\nattrs==26.1.0\ncryptography==46.0.3\nipython==9.6.0\n")
		run(t, ".", true, nil, "../../docs/clients/generate.sh", to, "python")
		if page, err := os.ReadFile(filepath.Join(to, "python", "README.md")); err != nil || !strings.Contains(string(page), "from reckon.checked import Reckon") {
			t.Errorf("the page of the client is the generator's: %v\n%s", err, page)
		}
		keys := filepath.Join(to, "keys.json")
		if err := os.WriteFile(keys, []byte(foreignKeys), 0o600); err != nil {
			t.Fatal(err)
		}
		environment := []string{"PYTHONPATH=" + filepath.Join(to, "python"), "IPYTHONDIR=" + filepath.Join(to, "ipython")}
		if said := run(t, ".", false, environment, interpreter, "official/story.py", server.URL, account.Token, "../../docs/and_swap.ndjson", keys); !strings.Contains(said, told) {
			t.Error(said)
		}
	})
	t.Run("TypeScript", func(t *testing.T) {
		needNode(t)
		run(t, ".", true, nil, "../../docs/clients/generate.sh", to, "typescript")
		if said := run(t, ".", false, nil, "node", "official/story.mjs", filepath.Join(to, "typescript", "made", "checked.js"), server.URL, account.Token); !strings.Contains(said, told) {
			t.Error(said)
		}
	})
}
