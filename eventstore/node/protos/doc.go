// Package protos has the messages of the services that the official Go client does not
// bring: users, operations and monitoring. Each .proto names where its facts are from.
//
// The line below takes minutes when its tools are compiled for the first time, so
// `make generate` leaves it out, and `make protos` runs it.
package protos

//go:generate go run github.com/bufbuild/buf/cmd/buf@v1.50.0 generate
