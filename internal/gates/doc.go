// Package gates holds an agent to the steps of a workflow. [Frame.Update], [Frame.Call] and [Frame.Stop] decide about an
// update, a call of a tool and the end of a turn; the other methods of [Frame] are what a person and the client tell it.
//
// A decision is a value: it is made from a [state.State] and from facts about files and commands, and touches nothing. What it lacks
// is found out without the lock of the list, and then it is made again; what it says is carried out by [state.Store.Apply].
//
// Gates apply only to tasks that a hydration put into a list.
package gates
