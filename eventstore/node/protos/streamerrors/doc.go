// Package streamerrors has the details of the errors of package streamsv2. All else is generated from streamerrors.proto by `make protos`.
package streamerrors
