package main

import (
	"fmt"
	"strings"

	"reckon/internal/payments"
	"reckon/internal/private"
)

// maxPaymentSecretsBytes is the most that is read of a file with secrets.
const maxPaymentSecretsBytes = 4096

// paymentProvider is the provider whose calls the secrets in a file sign; nil without a file.
func paymentProvider(file string) (payments.Provider, error) {
	if file == "" {
		return nil, nil
	}
	content, err := private.ReadFile(file, maxPaymentSecretsBytes)
	if err == nil {
		var signed *payments.Signed
		if signed, err = payments.NewSigned(strings.Fields(string(content))...); err == nil {
			return signed, nil
		}
	}
	return nil, fmt.Errorf("secret of the payment webhook (--payment-secret-file): %w", err)
}
