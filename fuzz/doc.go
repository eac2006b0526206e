// Package fuzz contains the fuzz targets: one for each input that another program or a
// person writes. A target asserts what holds for any input, not only that the code does
// not panic. testdata/fuzz has the inputs that failed once; every test run tries them.
//
//	make fuzz TIME=10m
package fuzz
