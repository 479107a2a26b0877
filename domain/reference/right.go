package reference

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"reckon/domain/expression"
)

// checkedSource is the beginning of the source of a right answer that the independent checker must confirm.
const checkedSource = "checked"

// parseRight reads what stands behind "= ": value, ways to compare it, and behind the last " | " where it comes from.
func parseRight(text string) (Right, error) {
	bar := strings.LastIndex(text, " | ")
	if bar < 0 {
		return Right{}, errors.New("not `= value | source`")
	}
	value, source := strings.TrimSpace(text[:bar]), strings.TrimSpace(text[bar+len(" | "):])
	if value == "" || source == "" {
		return Right{}, errors.New("value and source must both be there: `= value | source`")
	}
	right := Right{Way: ByValue, Source: source, Checked: source == checkedSource || strings.HasPrefix(source, checkedSource+" ") || strings.HasPrefix(source, checkedSource+",")}
	value, err := right.modifiers(value)
	if err != nil {
		return right, err
	}
	right.Text = value
	switch word, rest, _ := strings.Cut(value, " "); {
	case value == "plot":
		right.Way = ByPlot
	case word == "message":
		err = right.message(strings.TrimSpace(rest))
	case word == "job" && strings.HasPrefix(strings.TrimSpace(rest), "{"):
		err = right.job(strings.TrimSpace(rest))
	case word == "text" && strings.HasPrefix(strings.TrimSpace(rest), `"`):
		err = right.text(strings.TrimSpace(rest))
	default:
		if right.Value, err = expression.Parse(value); err != nil {
			err = fmt.Errorf("the value cannot be read: %w", err)
		}
	}
	switch {
	case err != nil:
		return right, err
	case right.Way != ByValue && (right.Checked || right.AnyOrder || right.Tolerance != nil && right.Value == nil && right.Way != ByJob):
		return right, fmt.Errorf("a %s is compared as it is: it cannot be checked, and has no order or tolerance", right.Way)
	case right.AnyOrder && !right.Value.IsCall("List"):
		return right, errors.New("any-order is for lists")
	}
	return right, nil
}

// modifiers takes " any-order" and " ~ tolerance" from the end of a value.
func (r *Right) modifiers(value string) (string, error) {
	for {
		if rest, ok := strings.CutSuffix(value, " any-order"); ok && !r.AnyOrder {
			value, r.AnyOrder = strings.TrimSpace(rest), true
			continue
		}
		tilde := strings.LastIndex(value, " ~ ")
		if tilde < 0 || r.Tolerance != nil {
			return value, nil
		}
		tree, err := expression.Parse(value[tilde+len(" ~ "):])
		if err != nil {
			return value, nil // ~ is an operator of the value
		}
		number, ok := exactNumber(tree)
		if !ok {
			return value, nil
		}
		if number.Sign() <= 0 || number.Cmp(big.NewRat(1, 2)) > 0 {
			return value, errors.New("the tolerance must be over 0 and at most 1/2")
		}
		value, r.Tolerance = strings.TrimSpace(value[:tilde]), number
	}
}

// message reads "Power::infy" or "Power::infy value".
func (r *Right) message(text string) error {
	r.Way = ByMessage
	name, value, has := strings.Cut(text, " ")
	symbol, tag, ok := strings.Cut(name, "::")
	if !ok || symbol == "" || tag == "" {
		return fmt.Errorf("%q is not the name of a message: Symbol::tag", name)
	}
	r.Text = name
	if has {
		var err error
		if r.Value, err = expression.Parse(value); err != nil {
			return fmt.Errorf("behind the message's name stands the value that comes with it: %w", err)
		}
		r.Text = name + " " + strings.TrimSpace(value)
	}
	return nil
}

// text reads a string of the language.
func (r *Right) text(quoted string) error {
	r.Way = ByText
	tree, err := expression.Parse(quoted)
	if err != nil || tree.Kind != expression.String {
		return fmt.Errorf("%.60s is not one string", quoted)
	}
	r.Text = tree.Text
	return nil
}
