package orphans

import (
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
)

// family is the job that this process and all that it starts from Adopt on are in.
var family = sync.OnceValue(func() windows.Handle {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil || windows.AssignProcessToJobObject(job, windows.CurrentProcess()) != nil {
		return 0
	}
	return job
})

// Adopt keeps together what this program starts.
func Adopt() { family() }

// EndAll ends by force what this program has started since Adopt, and what that has.
func EndAll() {
	var in struct {
		assigned, listed uint32
		ids              [1024]uintptr
	}
	const processIDList = 3
	err := windows.QueryInformationJobObject(family(), processIDList, uintptr(unsafe.Pointer(&in)), uint32(unsafe.Sizeof(in)), nil)
	if err != nil {
		return
	}
	for _, id := range in.ids[:min(int(in.listed), len(in.ids))] {
		if int(id) == os.Getpid() {
			continue
		}
		if h, err := windows.OpenProcess(windows.PROCESS_TERMINATE|windows.SYNCHRONIZE, false, uint32(id)); err == nil {
			_ = windows.TerminateProcess(h, 1)
			_, _ = windows.WaitForSingleObject(h, 1000)
			_ = windows.CloseHandle(h)
		}
	}
}
