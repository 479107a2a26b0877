package reference

import "strings"

// Summary describes an entry, or a name without an entry, in a sentence.
func (x *Index) Summary(row Row) string {
	if entry := x.entry(row); entry != nil {
		return entry.Summary
	}
	if row.Status == Blocked {
		return "A name of the language for what is not available here."
	}
	if row.NotImplemented {
		return "A name of the language that the engine in force does not implement."
	}
	return "A name that the engine has; nobody has written an entry for it yet."
}

// Why is why a row has its status; empty where its examples say it.
func (r Row) Why() string {
	switch {
	case r.Reason != "" || r.Status != Unsupported:
		return r.Reason
	case r.NotImplemented:
		return "The engine in force does not implement it."
	}
	return "The engine has it, and no example shows yet that it works."
}

// Tags are an entry's; of a name alone none.
func (x *Index) Tags(row Row) []string {
	if entry := x.entry(row); entry != nil {
		return append([]string{}, entry.Tags...)
	}
	return []string{}
}

// Forms are the forms in which a symbol is called; of a name alone none.
func (x *Index) Forms(row Row) []string {
	forms := []string{}
	if entry := x.entry(row); entry != nil {
		for _, usage := range entry.Usage {
			forms = append(forms, usage.Form)
		}
	}
	return forms
}

// entry is a row's entry in the source; nil: none.
func (x *Index) entry(row Row) *Entry {
	if n, ok := x.byName[nameKey(row.Kind, row.Name)]; ok {
		return x.documents[n].entry
	}
	return nil
}

// nameKey is where an entry is found by its name: symbols as they are written, tasks in any case.
func nameKey(kind Kind, name string) string {
	if kind == Task {
		return "task " + strings.ToLower(name)
	}
	return name
}
