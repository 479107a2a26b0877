package reference

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"

	"reckon/domain/expression"
)

// Bounds of a search.
const (
	MaxQueryBytes = 200 // what is longer is cut
	maxQueryWords = 12
)

// Query is a search. Zero values exclude nothing.
type Query struct {
	Text   string
	Kind   Kind
	Status Status
	Offset int
	Limit  int
}

// Index finds entries of the reference. It is made once and never changes.
type Index struct {
	documents []document
	byName    map[string]int // by nameKey

	words      sync.Once   // the fields below are made for the first search: a process that is asked nothing starts without them
	vocabulary []string    // sorted
	letters    []uint64    // lettersOf the words of the vocabulary
	postings   [][]posting // by word of the vocabulary
	phrases    []phrase    // sorted by text: whole names, and names of other systems
}

// document is the searched text of an entry.
type document struct {
	row    Row
	entry  *Entry // nil: the name alone is known
	factor float64
	used   float64 // logarithm of how many other entries name it: what is used much is looked for much
	text   string  // of the entry, in small letters
}

// posting says that a word stands in a document, and how much that says.
type posting struct {
	document int
	weight   float64
}

// phrase is a complete name in small letters.
type phrase struct {
	text     string
	document int
	weight   float64
	letters  uint64 // lettersOf text
}

// Weights of where a word stands, and of how names are met. A whole name is worth more than any words together; otherwise their ratios decide.
const (
	inName, inTask, inElsewhere, inTags, inSummary, inUsage = 10, 8, 7, 5, 3, 1.5

	wholeName, wholeElsewhere, lastOfElsewhere = 1000.0, 700.0, 400.0
	wholeOperator                              = 440.0 // below every whole name elsewhere (450 to 700)
	stemmed, beginning, misspelt               = 0.9, 0.7, 0.5

	numericalForm               = 760
	nameBeginning, nameMisspelt = 0.15, 0.3
	together                    = 8 // all words stand side by side
	perUse                      = 0.04
)

// factorOf is the factor that lowers entries which do not work here.
func factorOf(row Row, entry *Entry) float64 {
	switch {
	case entry == nil && row.NotImplemented:
		return 0.2
	case entry == nil:
		return 0.4
	case row.Status == Blocked || row.Status == Unsupported:
		return 0.7
	}
	return 1
}

// NewIndex makes an index of rows, with what the source says of them.
func NewIndex(rows []Row, entries []Entry) *Index {
	x := &Index{byName: map[string]int{}}
	written := map[string]*Entry{}
	for i := range entries {
		written[string(entries[i].Kind)+entries[i].Name] = &entries[i]
	}
	uses := countUses(entries)
	for n, row := range rows {
		entry := written[string(row.Kind)+row.Name]
		d := document{row: row, entry: entry, factor: factorOf(row, entry), used: 1 + perUse*math.Log2(1+float64(uses[row.Name]))}
		d.factor *= d.used
		if entry != nil {
			d.text = entry.text()
		}
		x.documents = append(x.documents, d)
		x.byName[nameKey(row.Kind, row.Name)] = n
	}
	return x
}

// readWords makes what searches a text.
func (x *Index) readWords() {
	words := map[string]map[int]float64{}
	for n := range x.documents {
		x.addWords(words, n)
		x.addPhrases(n)
	}
	x.sort(words)
}

// addWords notes the words of a document, each with the weight of the best place it stands in.
func (x *Index) addWords(words map[string]map[int]float64, n int) {
	add := func(text string, parts bool, weight float64) {
		for i, word := range wordsOf(text, parts) {
			if parts && i > 0 {
				addWord(words, word, n, weight*0.8)
				continue
			}
			addWord(words, word, n, weight)
		}
	}
	d := x.documents[n]
	if d.row.Kind == Task {
		add(d.row.Name, false, inTask)
	} else {
		add(d.row.Name, true, inName)
	}
	if d.entry == nil {
		return
	}
	for _, name := range d.entry.Elsewhere {
		add(name, false, inElsewhere)
	}
	for _, tag := range d.entry.Tags {
		add(tag, false, inTags)
	}
	add(d.entry.Summary, false, inSummary)
	for _, usage := range d.entry.Usage {
		add(usage.About, false, inUsage)
	}
	for _, symbol := range d.entry.Symbols {
		add(symbol, false, inSummary)
	}
}

// exactForm is the name without the N that makes a numerical form of it: NDSolve, NSum.
func exactForm(name string) (string, bool) {
	rest, ok := strings.CutPrefix(name, "N")
	return rest, ok && len(rest) > 2 && rest[0] >= 'A' && rest[0] <= 'Z'
}

func addWord(words map[string]map[int]float64, word string, n int, weight float64) {
	put := func(word string, weight float64) {
		of := words[word]
		if of == nil {
			of = map[int]float64{}
			words[word] = of
		}
		of[n] = max(of[n], weight)
	}
	put(word, weight)
	if short := stem(word); short != word {
		put(short, weight*stemmed)
	}
}

// addPhrases notes the names that a document has here and elsewhere.
func (x *Index) addPhrases(n int) {
	d := x.documents[n]
	add := func(text string, weight float64) {
		text = strings.ToLower(text)
		x.phrases = append(x.phrases, phrase{text, n, weight * d.used, lettersOf(text)})
	}
	add(d.row.Name, wholeName)
	if exact, ok := exactForm(d.row.Name); ok && d.row.Kind == Function {
		add(exact, numericalForm)
	}
	if d.row.Kind == Function {
		for alias, name := range Aliases {
			if name == d.row.Name {
				add(alias, wholeElsewhere)
			}
		}
		for sign, name := range operators {
			if name == d.row.Name {
				add(sign, wholeOperator)
			}
		}
	}
	if d.entry == nil {
		return
	}
	for i, name := range d.entry.Elsewhere {
		first := wholeElsewhere - 25*float64(min(i, 10)) // those named first are meant first
		add(name, first)
		if dot := strings.LastIndexByte(name, '.'); dot >= 0 && dot+1 < len(name) {
			add(name[dot+1:], lastOfElsewhere)
		}
	}
}

func (x *Index) sort(words map[string]map[int]float64) {
	for word := range words {
		x.vocabulary = append(x.vocabulary, word)
	}
	slices.Sort(x.vocabulary)
	x.postings = make([][]posting, len(x.vocabulary))
	x.letters = make([]uint64, len(x.vocabulary))
	for i, word := range x.vocabulary {
		x.letters[i] = lettersOf(word)
		for n, weight := range words[word] {
			x.postings[i] = append(x.postings[i], posting{n, weight})
		}
		slices.SortFunc(x.postings[i], func(a, b posting) int { return a.document - b.document })
	}
	slices.SortFunc(x.phrases, func(a, b phrase) int { return cmp.Or(strings.Compare(a.text, b.text), a.document-b.document) })
}

// Find answers the rows that a query finds, best first, from its offset on, and how many there are in all. Without words it lists all rows in order.
func (x *Index) Find(q Query) (found []Row, total int) {
	scores := x.scores(q.Text)
	var hits []int
	for n, d := range x.documents {
		if (q.Kind == "" || d.row.Kind == q.Kind) && (q.Status == "" || d.row.Status == q.Status) && (scores == nil || scores[n] > 0) {
			hits = append(hits, n)
		}
	}
	if scores != nil {
		slices.SortStableFunc(hits, func(a, b int) int {
			return cmp.Or(cmp.Compare(scores[b], scores[a]), len(x.documents[a].row.Name)-len(x.documents[b].row.Name))
		})
	}
	total = len(hits)
	for _, n := range hits[min(max(q.Offset, 0), total):min(max(q.Offset, 0)+max(q.Limit, 0), total)] {
		found = append(found, x.documents[n].row)
	}
	return found, total
}

// scores gives each document what it is worth for a text; nil for a text without words.
func (x *Index) scores(text string) []float64 {
	x.words.Do(x.readWords)
	if len(text) > MaxQueryBytes {
		text = strings.ToValidUTF8(text[:MaxQueryBytes], "")
	}
	text = strings.TrimSpace(text)
	asked := askedWords(text)
	if len(asked) == 0 && text == "" {
		return nil
	}
	scores := make([]float64, len(x.documents))
	matched := make([]int, len(x.documents))
	for _, word := range asked {
		for n, score := range x.match(word) {
			scores[n] += score
			matched[n]++
		}
	}
	for n := range scores {
		if matched[n] > 0 {
			part := float64(matched[n]) / float64(len(asked))
			if len(asked) > 1 && strings.Contains(x.documents[n].text, strings.ToLower(text)) {
				scores[n] += together
			}
			scores[n] *= part * part * x.documents[n].factor
		}
	}
	x.addNames(scores, text)
	return scores
}

// askedWords are the words of a query that say something; all of them where none does.
func askedWords(text string) []string {
	all := wordsOf(text, false)
	all = all[:min(len(all), maxQueryWords)]
	said := slices.DeleteFunc(slices.Clone(all), func(word string) bool { return stopWords[word] })
	if len(said) == 0 {
		said = all
	}
	slices.Sort(said)
	return slices.Compact(said)
}

// match answers the documents in which a word stands, or one that begins with it, or where there is none, one that resembles it.
func (x *Index) match(word string) map[int]float64 {
	found := map[int]float64{}
	x.take(found, word, 1)
	if short := stem(word); short != word {
		x.take(found, short, stemmed)
	}
	for i, _ := slices.BinarySearch(x.vocabulary, word); i < len(x.vocabulary) && strings.HasPrefix(x.vocabulary[i], word); i++ {
		x.takeAt(found, i, beginning*float64(len(word))/float64(len(x.vocabulary[i])))
	}
	if limit := tolerated(word); len(found) == 0 && limit > 0 {
		letters := lettersOf(word)
		for i, other := range x.vocabulary {
			if tooFar(letters, x.letters[i], limit) {
				continue
			}
			if d := distance(word, other, limit); d <= limit {
				x.takeAt(found, i, misspelt/float64(d*d))
			}
		}
	}
	return found
}

func (x *Index) take(found map[int]float64, word string, quality float64) {
	if i, ok := slices.BinarySearch(x.vocabulary, word); ok {
		x.takeAt(found, i, quality)
	}
}

// takeAt adds what a word of the vocabulary says: more where it stands in few documents.
func (x *Index) takeAt(found map[int]float64, i int, quality float64) {
	rarity := math.Log(1 + float64(len(x.documents))/float64(len(x.postings[i])))
	for _, p := range x.postings[i] {
		found[p.document] = max(found[p.document], p.weight*quality*rarity)
	}
}

// addNames adds what whole names say: the text is one, begins one, or resembles one.
func (x *Index) addNames(scores []float64, text string) {
	best := map[int]float64{}
	folded := strings.ToLower(text)
	note := func(p phrase, quality float64) { best[p.document] = max(best[p.document], p.weight*quality) }
	at, exact := slices.BinarySearchFunc(x.phrases, folded, func(p phrase, text string) int { return strings.Compare(p.text, text) })
	for i := at; i < len(x.phrases) && strings.HasPrefix(x.phrases[i].text, folded); i++ {
		p := x.phrases[i]
		if p.text == folded {
			note(p, min(1, 2*x.documents[p.document].factor)) // the name of what is not implemented may be another's elsewhere
			continue
		}
		note(p, nameBeginning*float64(len(folded))/float64(len(p.text))*x.documents[p.document].factor)
	}
	if n, ok := x.byName[text]; ok {
		best[n] = 2 * wholeName // the case is right too
	}
	if dot := strings.LastIndexByte(folded, '.'); !exact && dot >= 0 { // np.sin
		x.noteLast(folded[dot+1:], note)
	}
	if limit := tolerated(folded); !exact && limit > 0 {
		letters := lettersOf(folded)
		for _, p := range x.phrases {
			if tooFar(letters, p.letters, limit) {
				continue
			}
			if d := distance(folded, p.text, limit); d <= limit {
				note(p, nameMisspelt/float64(d)*x.documents[p.document].factor)
			}
		}
	}
	for n, score := range best {
		scores[n] += score
	}
}

// noteLast notes the names that are what stands behind the last point of a text.
func (x *Index) noteLast(last string, note func(phrase, float64)) {
	at, _ := slices.BinarySearchFunc(x.phrases, last, func(p phrase, text string) int { return strings.Compare(p.text, text) })
	for ; last != "" && at < len(x.phrases) && x.phrases[at].text == last; at++ {
		note(x.phrases[at], lastOfElsewhere/wholeName*x.documents[x.phrases[at].document].factor)
	}
}

// text is an entry's text in small letters.
func (e *Entry) text() string {
	parts := slices.Concat([]string{e.Name, e.Summary}, e.Tags, e.Elsewhere)
	for _, usage := range e.Usage {
		parts = append(parts, usage.About)
	}
	return strings.ToLower(strings.Join(parts, "\n"))
}

// countUses counts the entries that name each symbol, their own excepted: to see, as what a task is done with, or in an example.
func countUses(entries []Entry) map[string]int {
	uses := map[string]int{}
	for _, e := range entries {
		named := map[string]bool{}
		for _, name := range append(slices.Clone(e.See), e.Symbols...) {
			named[name] = true
		}
		for _, example := range e.Examples {
			words, _ := expression.Tokens(example.Input)
			for _, word := range words {
				named[word.Name] = true
			}
		}
		delete(named, e.Name)
		for name := range named {
			uses[name]++
		}
	}
	return uses
}

// Lookup answers the row of a symbol, with its context or without, or of a task in any case, and what the source says of it; entry is nil
// where it says nothing.
func (x *Index) Lookup(name string) (row Row, entry *Entry, ok bool) {
	n, ok := x.byName[strings.TrimPrefix(name, "System`")]
	if !ok {
		n, ok = x.byName[nameKey(Task, name)]
	}
	if !ok {
		return Row{}, nil, false
	}
	return x.documents[n].row, x.documents[n].entry, true
}

// Suggest answers names of symbols that are probably meant by one that there is not.
func (x *Index) Suggest(name string, most int) []string {
	rows, _ := x.Find(Query{Text: name, Kind: Function, Limit: most})
	names := make([]string, len(rows))
	for i, row := range rows {
		names[i] = row.Name
	}
	return names
}
