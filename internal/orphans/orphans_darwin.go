package orphans

import "golang.org/x/sys/unix"

// adoptOrphans does nothing: this system gives orphans to its first process.
func adoptOrphans(bool) error { return nil }

// zombie is the state of a process that has ended and of which nobody has asked for the status.
const zombie = 5

// members returns the processes of the system.
func members() (all []member) {
	infos, _ := unix.SysctlKinfoProcSlice("kern.proc.all")
	for _, info := range infos {
		all = append(all, memberOfInfo(&info))
	}
	return all
}

func memberOf(pid int) (m member, ok bool) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return m, false
	}
	return memberOfInfo(info), true
}

func memberOfInfo(info *unix.KinfoProc) member {
	at := info.Proc.P_starttime
	return member{
		pid: int(info.Proc.P_pid), parent: int(info.Eproc.Ppid), group: int(info.Eproc.Pgid), ended: info.Proc.P_stat == zombie,
		began: uint64(at.Sec)*1e6 + uint64(at.Usec), name: unix.ByteSliceToString(info.Proc.P_comm[:]),
	}
}
