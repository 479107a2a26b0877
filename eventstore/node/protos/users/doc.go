// Package users has the messages of the service by which clients manage users. All else is generated from users.proto by `make protos`.
package users
