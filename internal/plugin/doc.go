// Package plugin writes a plugin of the client that carries this program: the
// manifest, a marketplace of one, the hooks, the program itself and what skills
// go with them. The directory is complete; nothing else has to be installed.
//
// What a plugin holds is a value, a list of parts; writing it knows nothing of
// what the parts are for.
//
// It is not an editor: a file that somebody has changed is overwritten whole or
// not at all. Files are written one by one, each atomically. After a crash some
// are old or missing, and writing again completes them.
package plugin
