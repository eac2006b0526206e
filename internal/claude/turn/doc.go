// Package turn reads why a turn of the agent ends: because the person said stop, because the
// agent asks the person something, or because another agent is still working. Every hook
// that may keep a turn from ending decides by these functions, so that they agree.
//
// The functions know four words for stop and English for a part, and understand nothing else: a reminder is given
// once per state of progress, so that what they miss costs one. Other words for stop are configured.
package turn
