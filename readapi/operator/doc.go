// Package operator serves the pages that an operator looks at the log, the read models and parked events by.
//
// It promises that its pages answer one browser only: the one that opened the printed link, which works once. A request by another
// host name, from another site or another port's page, or without the cookie learns and changes nothing. A GET changes nothing.
//
// It opens no store: what pages show comes from a Source, which is the operator's commands (cmd/reckon). No server of the API
// serves these pages.
package operator
