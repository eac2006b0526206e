// Package fuzz contains the fuzz targets: one for each input that another program or a
// person writes. A target asserts what holds for any bytes, not only that the code does
// not panic. Inputs that failed once are kept in testdata/fuzz, which every test run
// tries.
//
//	make fuzz TIME=10m
package fuzz
