// Package rules holds the fourteen rules of a planning workflow, H01 to H13, and
// everything that is known about planning: where its files are, what they hold, and the
// configuration. docs/internals/guards.md has the rules' tables.
//
// Each rule has a file that begins with its ID. For H04, h04_spec.go has
//
//   - h04, the definition: event, matcher, switch, timeout;
//   - specRows, the conditions of the table, for people;
//   - runH04, which the frame calls: it reads the facts and decides;
//   - specFacts, the facts, and the method of that name, which reads them;
//   - specFacts.decide, the table: a pure function of the facts and the configuration.
//
// In H03, H05 and H13 the function that the frame calls also makes changes. H06 and H12
// share summaryFacts: summary.go reads them, h06_inject.go has their table.
// H11a and H11b share their first rows and facts in h11_stop.go. tables_test.go has a test
// for each table.
//
// The other files are shared by several rules: binds.go decides where the rules apply,
// config.go has everything that can be configured, place.go finds the feature directory,
// state.go, lockfile.go, audit.go, budget.go and document.go read and write its files.
//
// Patterns are compiled in the functions that use them: every hook is a process of its
// own, and most events need none of the patterns.
package rules
