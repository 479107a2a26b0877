// Package streamsv2 has the messages of the service by which clients append to several streams at once. All else is generated from streamsv2.proto by `make protos`.
package streamsv2
