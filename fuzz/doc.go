// Package fuzz holds the fuzz targets: one for everything that this program reads
// and somebody else wrote. It has no code of its own. A target says what holds for
// any bytes, not only that they do not panic; a file in testdata/fuzz is an input
// that is always tried, and one that once failed is kept there.
//
//	make fuzz TIME=10m
package fuzz
