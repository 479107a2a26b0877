package access

import (
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"reckon/eventstore/node/eventlog"
)

// Action is what somebody wants to do with a stream.
type Action uint8

// The actions, with the keys of an access control list that name who may.
const (
	Read      Action = iota + 1 // $r
	Write                       // $w
	Delete                      // $d
	MetaRead                    // $mr
	MetaWrite                   // $mw
)

var keys = map[Action]string{Read: "$r", Write: "$w", Delete: "$d", MetaRead: "$mr", MetaWrite: "$mw"}

// Roles that the protocol names.
const (
	Everyone = "$all" // everybody who is authenticated
	Admins   = "$admins"
	Ops      = "$ops"
)

// Streams and keys that hold access control.
const (
	SettingsStream   = "$settings"
	UsersStream      = "$users"
	userStreamPrefix = "$user-"
	aclKey           = "$acl"
	userStreamACL    = "$userStreamAcl"
	systemStreamACL  = "$systemStreamAcl"
)

// Need is the right that an operation needs.
type Need struct {
	Action Action
	Stream string
}

// NeedOf returns the right that reading, writing or deleting a stream needs: for the
// stream of another one's metadata, the right to that one's metadata.
func NeedOf(action Action, stream string) Need {
	if !eventlog.IsMetaStream(stream) {
		return Need{action, stream}
	}
	base := stream[len(eventlog.MetaStream("")):]
	switch action {
	case Read:
		return Need{MetaRead, base}
	case Write:
		return Need{MetaWrite, base}
	default:
		return Need{action, stream} // nobody may delete it
	}
}

func (n Need) String() string {
	return map[Action]string{Read: "read of", Write: "write to", Delete: "deletion of", MetaRead: "read of the metadata of", MetaWrite: "write to the metadata of"}[n.Action] +
		" stream " + eventlog.Quoted(n.Stream)
}

// Watched returns the streams of the log on which the right depends.
func (n Need) Watched() [2]string { return [2]string{eventlog.MetaStream(n.Stream), SettingsStream} }

// IsSecret reports whether a stream holds users, and is for $admins only whatever a list says.
func IsSecret(stream string) bool {
	for eventlog.IsMetaStream(stream) {
		stream = stream[len(eventlog.MetaStream("")):]
	}
	return stream == UsersStream || strings.HasPrefix(stream, userStreamPrefix)
}

// Allowed reports whether a principal has a right in the log as the view shows it. A nil
// principal, who is nobody, has none.
func Allowed(view *eventlog.View, p *Principal, n Need) (bool, error) {
	switch {
	case p == nil:
		return false, nil
	case p.Is(Admins):
		return true, nil
	case IsSecret(n.Stream), eventlog.IsMetaStream(n.Stream), n.Stream == SettingsStream && n.Action != Read:
		return false, nil
	}
	roles, err := rolesOf(view, n)
	return slices.ContainsFunc(roles, p.Is), err
}

// errMalformed means that access control cannot be read, and that nobody but $admins has a right by it.
var errMalformed = errors.New("the access control list cannot be read")

// rolesOf returns who may: by the stream's own list, else by the defaults in the settings, else by the built-in ones.
func rolesOf(view *eventlog.View, n Need) ([]string, error) {
	if n.Action == MetaWrite {
		// the list of a tombstoned stream can no longer be read
		if info, err := view.Stream(n.Stream); err != nil || info.Tombstoned {
			return nil, err
		}
	}
	own, kind, err := ownList(view, n.Stream)
	switch {
	case errors.Is(err, errMalformed):
		return nil, nil
	case err != nil:
		return nil, err
	}
	if roles, set := own[n.Action]; set {
		return roles, nil
	}
	if n.Stream == eventlog.AllStream && kind == systemStreamACL {
		return nil, nil // the defaults of system streams do not open everything
	}
	defaults, err := defaultList(view, kind)
	switch {
	case errors.Is(err, errMalformed):
		return nil, nil
	case err != nil:
		return nil, err
	}
	if roles, set := defaults[n.Action]; set {
		return roles, nil
	}
	if kind == userStreamACL {
		return []string{Everyone}, nil
	}
	return nil, nil
}

// list is who may, for the actions that an access control list names.
type list map[Action][]string

// ownList returns the list in a stream's metadata, and which defaults complete it.
func ownList(view *eventlog.View, stream string) (own list, kind string, err error) {
	kind = userStreamACL
	if strings.HasPrefix(stream, "$") {
		kind = systemStreamACL
	}
	record, found, err := newest(view, eventlog.MetaStream(stream))
	if err != nil || !found {
		return nil, kind, err
	}
	var metadata map[string]jsontext.Value
	if record.Type != eventlog.MetadataType || json.Unmarshal(record.Data, &metadata) != nil || metadata == nil {
		return nil, kind, errMalformed
	}
	raw, set := metadata[aclKey]
	if !set {
		return nil, kind, nil
	}
	var named string
	if json.Unmarshal(raw, &named) == nil && (named == userStreamACL || named == systemStreamACL) {
		return nil, named, nil
	}
	own, err = parseList(raw)
	return own, kind, err
}

// defaultList returns the list of the settings for streams of a kind.
func defaultList(view *eventlog.View, kind string) (list, error) {
	record, found, err := newest(view, SettingsStream)
	if err != nil || !found {
		return nil, err
	}
	var settings map[string]jsontext.Value
	if json.Unmarshal(record.Data, &settings) != nil || settings == nil {
		return nil, errMalformed
	}
	raw, set := settings[kind]
	if !set {
		return nil, nil
	}
	return parseList(raw)
}

// parseList reads a list: an object whose values are a role or several. Keys that are no action's are ignored.
func parseList(raw jsontext.Value) (list, error) {
	var object map[string]jsontext.Value
	if json.Unmarshal(raw, &object) != nil || object == nil {
		return nil, errMalformed
	}
	parsed := list{}
	for action, key := range keys {
		value, set := object[key]
		if !set {
			continue
		}
		var one string
		var several []string
		switch value.Kind() {
		case '"':
			if json.Unmarshal(value, &one) != nil {
				return nil, errMalformed
			}
			several = []string{one}
		case '[':
			if json.Unmarshal(value, &several) != nil {
				return nil, errMalformed
			}
		default:
			return nil, errMalformed
		}
		parsed[action] = several
	}
	return parsed, nil
}

// newest returns the newest record of a stream; false when a read shows none.
func newest(view *eventlog.View, stream string) (eventlog.Record, bool, error) {
	info, err := view.Stream(stream)
	if err != nil || info.Tombstoned || !info.Exists() {
		return eventlog.Record{}, false, err
	}
	return view.Event(stream, uint64(info.Last))
}
