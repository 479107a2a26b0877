package check

import (
	"fmt"
	"slices"
	"strings"

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
	var declared []string
	seen := map[term.Name]bool{}
	for i := range j.file.Declarations {
		for _, n := range namesOf(&j.file.Declarations[i]) {
			if !seen[n] {
				seen[n] = true
				text := j.file.Store.NameString(n)
				byDots[text] = append(byDots[text], n)
				declared = append(declared, text)
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
			missing = &Refusal{Declaration: asked, Class: MissingDeclaration, File: j.opts.FileName,
				Message: "the export does not declare it"}
			if near := nearest(asked, declared); near != "" {
				missing.Message = fmt.Sprintf("the export does not declare it; the nearest declared name is %s", j.names.Text(byDots[near][0]))
			}
		}
	}
	return names, missing
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
