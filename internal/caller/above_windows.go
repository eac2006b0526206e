package caller

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf16"
	"unsafe"

	"golang.org/x/sys/windows"
)

// read looks at one process. Its parent is -1 if that has ended: here an orphan keeps the number of its parent, which another process may
// have by now, but not one that began before it.
func read(pid int) (p process, err error) {
	p = process{pid: pid, parent: -1}
	all, err := processes()
	if err != nil {
		return p, err
	}
	entry, ok := all[pid]
	if !ok {
		return p, fmt.Errorf("process %d: %w", pid, os.ErrNotExist)
	}
	p.comm = programOf(windows.UTF16ToString(entry.ExeFile[:]))
	p.began = beginOf(pid)
	p.hidden = p.began.IsZero()
	if above := int(entry.ParentProcessID); above > 0 && above != pid {
		if t := beginOf(above); !t.IsZero() && (p.hidden || !t.After(p.began)) {
			p.parent = above
		}
	}
	if pid == os.Getpid() {
		p.group, p.foreground = 1, 1
		p.terminal, p.session, p.beside = console(pid, maps.Clone(all))
		if starter, ok := all[p.parent]; ok && p.comm != "fsmtx" && programOf(windows.UTF16ToString(starter.ExeFile[:])) == "fsmtx" {
			if above, err := read(p.parent); err == nil { // fsmtx, which waits for this part of it
				if p.session == p.parent { // the console was opened for it
					p.session = pid
				}
				p.parent = above.parent
			}
		}
	}
	return p, nil
}

// processes returns the processes of the system.
func processes() (map[int]windows.ProcessEntry32, error) {
	h, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return nil, err
	}
	defer windows.CloseHandle(h)
	all := map[int]windows.ProcessEntry32{}
	entry := windows.ProcessEntry32{}
	entry.Size = uint32(unsafe.Sizeof(entry))
	for err = windows.Process32First(h, &entry); err == nil; err = windows.Process32Next(h, &entry) {
		all[int(entry.ProcessID)] = entry
	}
	return all, nil
}

// beginOf returns when a process began; the zero time if it has ended or cannot be looked at.
func beginOf(pid int) time.Time {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return time.Time{}
	}
	defer windows.CloseHandle(h)
	var from, to, kernel, user windows.Filetime
	if windows.GetProcessTimes(h, &from, &to, &kernel, &user) != nil || to.HighDateTime != 0 {
		return time.Time{}
	}
	return time.Unix(0, from.Nanoseconds())
}

// StartOf returns the start time of a process. A process that does not exist has an empty one.
func StartOf(pid int) string {
	t := beginOf(pid)
	if pid <= 0 || t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.0000000Z")
}

var (
	kernel32            = windows.NewLazySystemDLL("kernel32.dll")
	getConsoleWindow    = kernel32.NewProc("GetConsoleWindow")
	getConsoleProcesses = kernel32.NewProc("GetConsoleProcessList")
)

// console describes the console that this process is attached to. leader is the process that has been attached for longest, and beside is
// an agent that is attached as well. A console without a window belongs to nobody: an agent starts its programs in such a one.
func console(pid int, all map[int]windows.ProcessEntry32) (name string, leader int, beside string) {
	if window, _, _ := getConsoleWindow.Call(); window == 0 {
		return "", 0, ""
	}
	attached := make([]uint32, 256)
	n, _, _ := getConsoleProcesses.Call(uintptr(unsafe.Pointer(&attached[0])), uintptr(len(attached)))
	if n == 0 || int(n) > len(attached) {
		return "", 0, ""
	}
	var first time.Time
	for _, id := range attached[:n] {
		one := int(id)
		entry := all[one]
		p := process{pid: one, comm: programOf(windows.UTF16ToString(entry.ExeFile[:]))}
		p.args = Arguments(one)
		if program := agentOf(p); program != "" && one != pid {
			beside = p.String()
		}
	}
	for one := pid; one > 0 && len(all) > 0; {
		if t := beginOf(one); slices.Contains(attached[:n], uint32(one)) && !t.IsZero() && (first.IsZero() || t.Before(first)) {
			leader, first = one, t
		}
		above := int(all[one].ParentProcessID)
		delete(all, one) // a circle ends
		one = above
	}
	return fmt.Sprintf("console %d", leader), leader, beside
}

// Arguments returns the command line of a process, nil if it cannot be read.
func Arguments(pid int) []string {
	var line []uint16
	look(pid, func(p parameters) {
		line = p.text(uintptr(unsafe.Pointer(p.CommandLine.Buffer)), uintptr(p.CommandLine.Length))
	})
	args, err := windows.DecomposeCommandLine(string(utf16.Decode(line)))
	if line == nil || err != nil || len(args) == 0 {
		return nil
	}
	args[0] = filepath.ToSlash(args[0])
	return args
}

// envOf returns the environment with which a process was started, nil if it cannot be read.
func envOf(pid int) (env []string) {
	var all []uint16
	look(pid, func(p parameters) {
		if p.EnvironmentSize <= maxEnvironment {
			all = p.text(uintptr(p.Environment), p.EnvironmentSize)
		}
	})
	for one := range strings.SplitSeq(string(utf16.Decode(all)), "\x00") {
		if one == "" {
			break
		}
		env = append(env, one)
	}
	return env
}

// maxEnvironment bounds an environment, in bytes.
const maxEnvironment = 16 << 20

// parameters are what a process was started with. Its pointers are addresses in that process.
type parameters struct {
	windows.RTL_USER_PROCESS_PARAMETERS
	of windows.Handle
}

// look gives the parameters of a process; it does nothing if they cannot be read. (ProcessCommandLineInformation, which wine does not
// have, would not do for the environment.)
func look(pid int, use func(parameters)) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_INFORMATION|windows.PROCESS_VM_READ, false, uint32(pid))
	if err != nil {
		return
	}
	defer windows.CloseHandle(h)
	var info windows.PROCESS_BASIC_INFORMATION
	size := uint32(unsafe.Sizeof(info))
	if windows.NtQueryInformationProcess(h, windows.ProcessBasicInformation, unsafe.Pointer(&info), size, &size) != nil {
		return
	}
	var peb windows.PEB
	p := parameters{of: h}
	if p.read(uintptr(unsafe.Pointer(info.PebBaseAddress)), unsafe.Pointer(&peb), unsafe.Sizeof(peb)) &&
		p.read(uintptr(unsafe.Pointer(peb.ProcessParameters)), unsafe.Pointer(&p.RTL_USER_PROCESS_PARAMETERS),
			unsafe.Sizeof(p.RTL_USER_PROCESS_PARAMETERS)) {
		use(p)
	}
}

// read reads memory of the process.
func (p parameters) read(address uintptr, to unsafe.Pointer, size uintptr) bool {
	var read uintptr
	return address != 0 && windows.ReadProcessMemory(p.of, address, (*byte)(to), size, &read) == nil && read == size
}

// text returns so many bytes of the process's memory, nil if they cannot be read.
func (p parameters) text(address, size uintptr) []uint16 {
	text := make([]uint16, size/2)
	if len(text) == 0 || !p.read(address, unsafe.Pointer(&text[0]), size/2*2) {
		return nil
	}
	return text
}
