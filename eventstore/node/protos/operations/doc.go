// Package operations has the messages of the service by which clients operate a node. All else is generated from operations.proto by `make protos`.
package operations
