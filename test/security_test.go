package test

import (
	"go/ast"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"
)

// testName is a test as docs/security.md names it.
var testName = regexp.MustCompile("`(Test[A-Z][A-Za-z0-9]*|Benchmark[A-Z][A-Za-z0-9]*)`")

// TestSecurityClaims: every claim of the threat model names what holds it, and that exists.
func TestSecurityClaims(t *testing.T) {
	t.Parallel()
	exists := map[string]bool{}
	for _, file := range sources(t) {
		for _, d := range file.tree.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && file.test {
				exists[f.Name.Name] = true
			}
		}
	}
	page, err := os.ReadFile("../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	_, model, found := strings.Cut(string(page), "<!-- claims -->\n")
	model, _, ended := strings.Cut(model, "<!-- end of claims -->")
	if !found || !ended {
		t.Fatal("the page has no claims")
	}
	claims := 0
	for line := range strings.Lines(model) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") || strings.TrimSpace(cells[len(cells)-1]) == "held by" {
			continue
		}
		claims++
		names := testName.FindAllStringSubmatch(cells[len(cells)-1], -1)
		if len(names) == 0 {
			t.Errorf("nothing holds: %s", cells[0])
		}
		for _, name := range names {
			if !exists[name[1]] {
				t.Errorf("%s does not exist; it is to hold: %s", name[1], cells[0])
			}
		}
	}
	if claims < 30 {
		t.Errorf("%d claims: the page is read wrong", claims)
	}
}

// secretName is what holds a secret, or what is derived from one and compared with what a client sent.
var secretName = regexp.MustCompile(`(?i)^(.*password|.*secret|.*signature|mac|.*cookie\.?value)$`)

// TestSecretsAreComparedInConstantTime: no secret is compared with == or !=, but with a constant, which is no secret.
func TestSecretsAreComparedInConstantTime(t *testing.T) {
	t.Parallel()
	name := func(e ast.Expr) string {
		switch e := e.(type) {
		case *ast.Ident:
			return e.Name
		case *ast.SelectorExpr:
			return e.Sel.Name
		}
		return ""
	}
	seen := 0
	for _, file := range sources(t) {
		if file.test {
			continue
		}
		ast.Inspect(file.tree, func(n ast.Node) bool {
			c, ok := n.(*ast.BinaryExpr)
			if !ok || c.Op != token.EQL && c.Op != token.NEQ {
				return true
			}
			for _, sides := range [][2]ast.Expr{{c.X, c.Y}, {c.Y, c.X}} {
				if !secretName.MatchString(name(sides[0])) {
					continue
				}
				seen++
				if _, constant := sides[1].(*ast.BasicLit); !constant && name(sides[1]) != "nil" {
					t.Errorf("%s compares %s, a secret, byte by byte", file.file, name(sides[0]))
				}
			}
			return true
		})
	}
	if seen == 0 {
		t.Error("no comparison with an empty secret: the walk is wrong")
	}
}
