package workbench

import (
	"strings"
	"testing"

	"reckon/domain/certificate"
)

// TestUnseenCharactersAreShown: two texts that differ look different.
func TestUnseenCharactersAreShown(t *testing.T) {
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
	if long := brief(strings.Repeat("π", 1000)); long != strings.Repeat("π", maxBrief)+"…" {
		t.Errorf("%d bytes", len(long))
	}
	if short := strings.Repeat("π", maxBrief); brief(short) != short {
		t.Error("a short text is cut")
	}
}

// TestCheckCommand: a command is printed only where a shell gives every name to the kernel as it is.
func TestCheckCommand(t *testing.T) {
	for name, printed := range map[string]bool{"Nat.add_comm": true, "«a,b»": true, "«a b».c": true, "a'": false, "«\u202eb»": false, "«a\nb»": false} {
		if got := checkCommand([]certificate.Declaration{{Name: name}, {Name: "thm"}}); (got != "") != printed || printed && got != "reckon lean check FILE --declarations '"+name+",thm'" {
			t.Errorf("%q: %q", name, got)
		}
	}
	if got := checkCommand(nil); got != "" {
		t.Error(got)
	}
}
