// Package switches finds what keeps the client from running hooks: settings of the person,
// the project and the organisation, variables of the environment, and options of the
// client's command line.
//
// It reads no settings that an organisation serves or sets by device management, because
// only the client has them.
//
// Everything here was measured with client 2.1.329 (facts 110 to 114 of
// docs/client-facts.md).
package switches
