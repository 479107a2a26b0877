package workbench

import (
	"slices"
	"strings"
	"testing"

	"reckon/domain/certificate"
	"reckon/internal/httpkit"
)

// TestUnseenCharactersAreShown: two texts that differ look different.
func TestUnseenCharactersAreShown(t *testing.T) {
	t.Parallel()
	for _, r := range "\u00ad\u034f\u115f\u3164\ufe0f\u2800\u200b\u202e\u00a0\u2028\U000e0041\x00\x7f" {
		if shown := string(visible("a" + string(r) + "b")); !strings.Contains(shown, "U+") {
			t.Errorf("%U is shown as %q", r, shown)
		}
	}
	const seen = "a é π \n\t<b>"
	if shown := string(visible(seen)); shown != "a é π \n\t&lt;b&gt;" {
		t.Errorf("%q", shown)
	}
}

func TestBrief(t *testing.T) {
	t.Parallel()
	if long := brief(strings.Repeat("π", 1000)); long != strings.Repeat("π", maxBrief)+"…" {
		t.Errorf("%d bytes", len(long))
	}
	if short := strings.Repeat("π", maxBrief); brief(short) != short {
		t.Error("a short text is cut")
	}
}

// TestCheckCommand: a command is printed only where a shell gives every name to the kernel as it is.
func TestCheckCommand(t *testing.T) {
	t.Parallel()
	for name, printed := range map[string]bool{"Nat.add_comm": true, "«a,b»": true, "«a b».c": true, "a'": false, "«\u202eb»": false, "«a\nb»": false} {
		if got := checkCommand([]certificate.Declaration{{Name: name}, {Name: "thm"}}); (got != "") != printed || printed && got != "reckon lean check FILE --declarations '"+name+",thm'" {
			t.Errorf("%q: %q", name, got)
		}
	}
	if got := checkCommand(nil); got != "" {
		t.Error(got)
	}
}

// TestNotJSON: where a circuit that is meant as JSON ends to be JSON, in lines and columns that count from 1.
func TestNotJSON(t *testing.T) {
	t.Parallel()
	for text, at := range map[string]string{
		`{"qubits":2,"gates":[{"gate":"h","target":0}]`:       "line 1, column 46:",
		"{\n \"qubits\": 2,\n \"gates\": [}\n}":               "line 3, column 12:",
		"{\n \"qubits\": 2\n \"gates\": []\n}\n":              "line 3, column 2:",
		"{\"é\": ]}":                                          "line 1, column 7:",
		`{"qubits":1,"gates":[]} x`:                           "line 1, column 25:",
		`{"qubits":1,"gates":[]}`:                             "",
		"OPENQASM 3.0;\nqubit q;":                             "",
		"  {\"qubits\":1,\n\"gates\":[{\"gate\":\"h\"   \n\n": "line 2, column 21:",
	} {
		if got := notJSON(text); at == "" && got != "" || !strings.Contains(got, at) {
			t.Errorf("%s: %q, want %q", text, got, at)
		}
	}
}

// TestPrices: an amount in a currency's smallest unit is written in its unit.
func TestPrices(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		minor    int64
		currency string
		want     string
	}{
		{12_000, "USD", ">120.00 USD<"}, {5, "EUR", ">0.05 EUR<"}, {-250, "GBP", ">-2.50 GBP<"}, {1_234_567, "JPY", ">1234567 JPY<"}, {1_500, "BHD", ">1.500 BHD<"},
		{7, "nothing<", " of the smallest unit of nothing&lt;"},
	} {
		if got := string(price(c.minor, c.currency)); !strings.Contains(got, c.want) {
			t.Errorf("%d %s: %s", c.minor, c.currency, got)
		}
	}
}

// TestProblemsSayItOnce: what the detail says is not repeated for its field, and seconds are written as people do.
func TestProblemsSayItOnce(t *testing.T) {
	t.Parallel()
	r := refusal{Problem: *httpkit.InvalidRequest.Problem("limit must be at most 5").WithField("query.limit", "must be at most 5").WithField("query.q", "is too long"), Wait: "58638"}
	if further := r.Further(); len(further) != 1 || further[0].Location != "q" {
		t.Errorf("%+v", further)
	}
	if said := (&refusal{Problem: *httpkit.InvalidRequest.Problem("query.from must be a date; body.x[1] too; my.body too")}).Said(); said != "from must be a date; x[1] too; my.body too" {
		t.Errorf("%q", said)
	}
	if r.Patience() != 58_638_000 || (&refusal{}).Patience() != 0 {
		t.Errorf("%d", r.Patience())
	}
}

// TestAbout: a certificate that was refused for a name is about that name too.
func TestAbout(t *testing.T) {
	t.Parallel()
	c := certificate.Record{}
	c.Declarations = []certificate.Declaration{{Name: "foo"}}
	if got := aboutInWords(c); !slices.Equal(got, []string{"foo"}) {
		t.Errorf("%q", got)
	}
	for refused, want := range map[string][]string{"fooo": {"foo", "fooo"}, "foo": {"foo"}, "": {"foo"}} {
		if c.Refusal = (&certificate.Refusal{Declaration: refused}); !slices.Equal(aboutInWords(c), want) {
			t.Errorf("%q: %q", refused, aboutInWords(c))
		}
	}
}
