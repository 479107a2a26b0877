package check

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"reckon/domain/lean/term"
)

// lineOf is the line of the export that declares n, from 1; 0 when n is not declared.
func (j *judge) lineOf(n term.Name) int {
	if unit, ok := j.reach.unitOf[n]; ok {
		return j.file.Declarations[unit].Line
	}
	return 0
}

// resolveNames returns the declared names that Options asks for; missing is the refusal of the first one not found.
func (j *judge) resolveNames() (names []term.Name, missing *Refusal) {
	if j.opts.All {
		for i := range j.file.Declarations {
			if d := &j.file.Declarations[i]; d.Kind == term.Inductive {
				for k := range d.Block.Types {
					names = append(names, d.Block.Types[k].Name)
				}
			} else {
				names = append(names, d.Name)
			}
		}
		return names, nil
	}
	byDots := map[string][]term.Name{}
	var declared, theorems []string
	seen := map[term.Name]bool{}
	for i := range j.file.Declarations {
		for _, n := range namesOf(&j.file.Declarations[i]) {
			if !seen[n] {
				seen[n] = true
				text := j.file.Store.NameString(n)
				byDots[text] = append(byDots[text], n)
				declared = append(declared, text)
				if j.file.Declarations[i].Kind == term.Theorem {
					theorems = append(theorems, text)
				}
			}
		}
	}
	for _, asked := range j.opts.Declarations {
		found := byDots[asked]
		if strings.Contains(asked, "«") { // as rendered, which another name may spell with quotation marks of its own
			if n, ok := j.names.Read(asked); ok && seen[n] && !slices.Contains(found, n) {
				found = append(found, n)
			}
		}
		switch {
		case len(found) == 1:
			names = append(names, found[0])
		case missing != nil:
		case len(found) > 1:
			missing = &Refusal{Declaration: asked, Class: AmbiguousDeclaration, File: j.opts.FileName, Message: j.ambiguityMessage(found)}
		default:
			shown := func(dotted string) string { return j.names.Text(byDots[dotted][0]) }
			missing = &Refusal{Declaration: asked, Class: MissingDeclaration, File: j.opts.FileName, Message: missingMessage(asked, declared, theorems, shown)}
		}
	}
	return names, missing
}

// missingMessage names the nearest declaration and the theorems of the file: the last ones, because an exporter writes what it was asked for
// after what that rests on. shown renders a name.
func missingMessage(asked string, declared, theorems []string, shown func(string) string) string {
	const mostTheorems, longestName = 10, 200
	message := "the export does not declare it"
	near, distance := nearest(asked, declared)
	if 2*distance > utf8.RuneCountInString(asked) && len(theorems) > 0 { // no slip of the pen: a theorem was meant
		near, _ = nearest(asked, theorems)
	}
	if near != "" {
		message += "; the nearest declared name is " + shown(near)
	}
	var last []string
	for _, name := range theorems[max(0, len(theorems)-mostTheorems):] {
		if len(name) <= longestName {
			last = append(last, shown(name))
		}
	}
	switch {
	case len(theorems) == 0:
		return message + "; the export has no theorem"
	case len(last) < len(theorems):
		return fmt.Sprintf("%s; the export has %d theorems, the last are %s", message, len(theorems), strings.Join(last, ", "))
	}
	return message + "; the theorems of the export are " + strings.Join(last, ", ")
}

// ambiguityMessage lists, for several names whose components join to the same text, the unambiguous spelling of each.
func (j *judge) ambiguityMessage(found []term.Name) string {
	const most = 4
	var forms []string
	for _, n := range found[:min(len(found), most)] {
		forms = append(forms, j.names.Quoted(n))
	}
	return "several declarations have this name when their components are joined by dots; ask for one of " + strings.Join(forms, ", ")
}
