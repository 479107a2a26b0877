// Package monitoring has the messages of the service by which clients follow a node's figures. All else is generated from monitoring.proto by `make protos`.
package monitoring
