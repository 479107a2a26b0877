package verifier

import (
	"encoding/hex"
	"math/big"
	"slices"
)

// fieldOrder is 2^255 - 19 (RFC 7748, section 4.1).
var fieldOrder = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 255), big.NewInt(19))

// smallOrder are the y coordinates of the points whose order divides 8 (RFC 8032, section 5.1): by such a key everyone can sign.
var smallOrder = []*big.Int{
	big.NewInt(0), big.NewInt(1), new(big.Int).Sub(fieldOrder, big.NewInt(1)),
	littleEndian("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"), littleEndian("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
}

func littleEndian(text string) *big.Int {
	raw, err := hex.DecodeString(text)
	if err != nil {
		panic(err)
	}
	slices.Reverse(raw)
	return new(big.Int).SetBytes(raw)
}

// isKey reports whether 32 bytes are a public key of Ed25519 in its only spelling, by which not everyone can sign.
func isKey(public []byte) bool {
	y := slices.Clone(public)
	y[31] &= 0x7f // the sign of x
	at := littleEndian(hex.EncodeToString(y))
	return at.Cmp(fieldOrder) < 0 && !slices.ContainsFunc(smallOrder, func(other *big.Int) bool { return at.Cmp(other) == 0 })
}
