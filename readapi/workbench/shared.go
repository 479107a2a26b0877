package workbench

import "html/template"

// What the operator's pages (readapi/operator) have in common with these: one style, one script, one way to show hostile text.
var (
	Stylesheet = read("assets/workbench.css")
	Script     = read("assets/workbench.js")
	Icon       = read("assets/icon.svg")
)

// Visible is a text of anybody's as markup that shows every character of it.
func Visible(text string) template.HTML { return visible(text) }
