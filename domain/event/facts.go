package event

// Address is where an event stands, and whose it is.
type Address struct {
	Stream  string // empty: the event does not say of which of its kind
	Account string // whose it is, and who alone may see it; empty: it names none
}

// Facts are what an event type says of its events beside their fields. decider.On and decider.Undecided declare them.
type Facts struct {
	Address func(Event) Address
	// NewPast returns the past of a stream of this kind that has no events.
	NewPast func() Past
	// Given is the field that has the time at which the event's command was given; empty where the type has none.
	Given func(Event) Reading
	// Begins tells whether an event begins something for its account, which nobody may do for one that is closed.
	Begins func(Event) bool
	// Free are the fields from which nothing else in a log follows, each with the reason. A field is here if that is so of one event of
	// the type; of others it may be compared.
	Free map[string]string
}

// Past is what the events of one stream have led to.
type Past interface {
	// Take folds the stream's next event. It returns how the event contradicts those before it, or nil.
	Take(Event, Metadata) *Illegal
	// Fold folds the stream's next event and judges nothing.
	Fold(Event)
	// Slim returns the past without what no judgement needs.
	Slim() Past
	// Copy returns a past that goes on apart from this one.
	Copy() Past
	// Key is equal for pasts of streams that are judged alike from here on, once they are slim; nil where each stream has its own.
	Key() any
	// Shown is what people are shown of the state; nil where the stream has none.
	Shown() any
	// Live tells whether the stream holds something that goes on until it is ended, and that a closed account must not have.
	Live() bool
}

// Illegal says that the decider of a stream decides otherwise than an event says.
type Illegal struct {
	Refused error // the command that leads to the event is refused; nil: it is not
	Instead Event // what the decider decides; nil: nothing, or it refuses
}

// Reading is a field that holds a time, by its JSON name, with its value.
type Reading struct{ Field, Value string }

// Fact adds to what a type says of itself.
type Fact interface{ describe(*Type) }

type fact func(*Type)

func (f fact) describe(t *Type) { f(t) }

// Given declares the field, by its JSON name, that has the time at which the command was given.
func Given[E Event](field string, of func(E) string) Fact {
	return fact(func(t *Type) {
		t.Given = func(e Event) Reading { return Reading{field, of(e.(E))} }
	})
}

// Begins declares that every event of the type begins something for its account.
func Begins() Fact { return fact(func(t *Type) { t.Begins = func(Event) bool { return true } }) }

// BeginsIf declares which events of the type begin something for their account.
func BeginsIf[E Event](begins func(E) bool) Fact {
	return fact(func(t *Type) { t.Begins = func(e Event) bool { return begins(e.(E)) } })
}

// Free declares fields, by their paths below the event, from which nothing else in a log follows, each with the reason.
type Free map[string]string

func (f Free) describe(t *Type) { t.Free = f }

// describe makes an upcast the next one of a type: that from its newest version so far.
func (u Upcast) describe(t *Type) { t.upcasts, t.Version = append(t.upcasts, u), t.Version+1 }

// Describe declares the event type E by its golden example, with its facts. Its version is one more than the number of upcasts.
func Describe[E Event](sample E, address func(E) Address, newPast func() Past, facts ...Fact) Type {
	t := Of(sample)
	t.Facts = &Facts{
		Address: func(e Event) Address { return address(e.(E)) }, NewPast: newPast,
		Given: func(Event) Reading { return Reading{} }, Begins: func(Event) bool { return false },
	}
	for _, f := range facts {
		f.describe(&t)
	}
	return t
}

// Reasons why nothing else in a log follows from a field, which several types have.
const (
	Chosen    = "its owner or the operator chose it, and nothing repeats it"
	OfProcess = "says which process did it, or how it is reached"
)
