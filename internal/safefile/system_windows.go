package safefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Descriptors are handles. Package os does not do for what is here: os.Root opens a directory so that nobody can rename or remove it,
// follows links, and has no link or rename between two roots; os.OpenFile opens a file so that nobody can remove it.

const (
	atCwd      = -100
	oDirectory = 1 << 40
	noFollow   = 1 << 41
	forSync    = 1 << 42 // for FlushFileBuffers, which wants a handle for writing, of a directory too
	forLook    = 1 << 43 // for its description only
	forTimes   = 1 << 44 // to set its times
	forMove    = 1 << 45 // to rename, link or remove it
	oThrough   = 1 << 46 // what is done by it is on the disk when the call returns, as with MOVEFILE_WRITE_THROUGH
)

// sharingWait is how long a call waits for a program that has a file open so that nobody else can open, rename or remove it: editors and
// virus scanners do that for moments. Tests shorten it.
var sharingWait = 2 * time.Second

// gaveUp is when a call waited in vain last, in nanoseconds since 1970. Those soon after it do not wait: an event reads a task file many
// times, and would wait as often.
var gaveUp atomic.Int64

// stat describes a file.
type stat struct {
	Dev, Ino uint64
	Nlink    uint64
	Mode     uint32
	Uid, Gid int // nobody's: files are protected by the access control lists of the directories above them
	Size     int64

	attributes uint32
}

func fstat(fd int, st *stat) error {
	if kind, err := windows.GetFileType(windows.Handle(fd)); err == nil && kind != windows.FILE_TYPE_DISK {
		*st = stat{Mode: syscall.S_IFCHR}
		return nil
	}
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(fd), &info); err != nil {
		return posix(err)
	}
	*st = stat{Dev: uint64(info.VolumeSerialNumber), Ino: uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow),
		Nlink: uint64(info.NumberOfLinks), Size: int64(info.FileSizeHigh)<<32 | int64(info.FileSizeLow), attributes: info.FileAttributes}
	st.Uid = os.Geteuid()
	switch {
	case isLink(windows.Handle(fd), info.FileAttributes):
		st.Mode = syscall.S_IFLNK | 0o777
	case info.FileAttributes&windows.FILE_ATTRIBUTE_DIRECTORY != 0:
		st.Mode = syscall.S_IFDIR | 0o777
	case info.FileAttributes&windows.FILE_ATTRIBUTE_READONLY != 0:
		st.Mode = syscall.S_IFREG | 0o444
	default:
		st.Mode = syscall.S_IFREG | 0o666
	}
	return nil
}

// isLink reports whether what is open stands for another name: a symbolic link or a junction. Other reparse points, such as those of
// OneDrive, are files.
func isLink(h windows.Handle, attributes uint32) bool {
	if attributes&windows.FILE_ATTRIBUTE_REPARSE_POINT == 0 {
		return false
	}
	var tag struct{ attributes, tag uint32 }
	const surrogate = 0x20000000
	err := windows.GetFileInformationByHandleEx(h, windows.FileAttributeTagInfo, (*byte)(unsafe.Pointer(&tag)), uint32(unsafe.Sizeof(tag)))
	return err != nil || tag.tag&surrogate != 0
}

// described is what Lstat returns: package os cannot compare its own descriptions of files that have been renamed since.
type described struct {
	fs.FileInfo
	stat stat
}

func (d *described) Sys() any { return &d.stat }

// describe describes what is open.
func describe(fd int, name string) (fs.FileInfo, error) {
	d := &described{}
	if err := fstat(fd, &d.stat); err != nil {
		return nil, err
	}
	again, err := duplicate(fd)
	if err != nil {
		return nil, posix(err)
	}
	f := os.NewFile(uintptr(again), name)
	defer f.Close()
	d.FileInfo, err = f.Stat()
	return d, err
}

func duplicate(fd int) (h windows.Handle, err error) {
	self := windows.CurrentProcess()
	err = windows.DuplicateHandle(self, windows.Handle(fd), self, &h, 0, false, windows.DUPLICATE_SAME_ACCESS)
	return h, err
}

// statOf returns what the system says of the file at a path that info describes.
func statOf(path string, info fs.FileInfo) (st stat, err error) {
	if d, ok := info.(*described); ok {
		return d.stat, nil
	}
	fd, err := openAt(atCwd, path, forLook|noFollow, 0)
	if err != nil {
		return st, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer closeFd(fd)
	return st, pathError("stat", path, fstat(fd, &st))
}

// Stat describes what is at a path, at the end of its links.
func Stat(path string) (fs.FileInfo, error) {
	fd, err := openAt(atCwd, path, forLook, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	defer closeFd(fd)
	return describe(fd, path)
}

// IsWritable returns why this process may not make files in a directory.
func IsWritable(dir string) error {
	fd, err := openAt(atCwd, dir, forSync, 0)
	if err == nil {
		err = closeFd(fd)
	}
	return err
}

// OthersMayWrite returns false: that is for the access control lists, which a directory has from those above it.
func OthersMayWrite(fs.FileInfo) bool { return false }

// SameFile reports whether two descriptions are of the same file.
func SameFile(a, b fs.FileInfo) bool { return os.SameFile(plain(a), plain(b)) }

func plain(info fs.FileInfo) fs.FileInfo {
	if d, ok := info.(*described); ok {
		return d.FileInfo
	}
	return info
}

// posix returns the error that other systems have for a cause, for those by which this program decides or advises.
func posix(err error) error {
	if status, ok := errors.AsType[windows.NTStatus](err); ok {
		switch status {
		case windows.STATUS_FILE_IS_A_DIRECTORY:
			return syscall.EISDIR
		case windows.STATUS_NOT_A_DIRECTORY:
			return syscall.ENOTDIR
		case windows.STATUS_REPARSE_POINT_ENCOUNTERED:
			return syscall.ELOOP
		case windows.STATUS_OBJECT_NAME_INVALID:
			return syscall.EINVAL
		}
		err = status.Errno()
	}
	errno, ok := errors.AsType[syscall.Errno](err)
	if !ok {
		return err
	}
	if known, ok := known[errno]; ok {
		return known
	}
	return errno
}

var known = map[syscall.Errno]syscall.Errno{
	windows.ERROR_DISK_FULL:            syscall.ENOSPC,
	windows.ERROR_HANDLE_DISK_FULL:     syscall.ENOSPC,
	windows.ERROR_DISK_QUOTA_EXCEEDED:  syscall.EDQUOT,
	windows.ERROR_FILE_TOO_LARGE:       syscall.EFBIG,
	windows.ERROR_TOO_MANY_OPEN_FILES:  syscall.EMFILE,
	windows.ERROR_WRITE_PROTECT:        syscall.EROFS,
	windows.ERROR_ACCESS_DENIED:        syscall.EACCES,
	windows.ERROR_NOT_SAME_DEVICE:      syscall.EXDEV,
	windows.ERROR_TOO_MANY_LINKS:       syscall.EMLINK,
	windows.ERROR_FILENAME_EXCED_RANGE: syscall.ENAMETOOLONG,
	windows.ERROR_CRC:                  syscall.EIO,
	windows.ERROR_IO_DEVICE:            syscall.EIO,
	windows.ERROR_INVALID_FUNCTION:     syscall.ENOTSUP,
	windows.ERROR_NOT_SUPPORTED:        syscall.ENOTSUP,
	windows.ERROR_DIRECTORY:            syscall.ENOTDIR,
}

// isHeld reports whether an error of replacing a file may say that it is read-only, or that another program has it open.
func isHeld(err error) bool {
	return errors.Is(err, syscall.EACCES) || errors.Is(err, windows.ERROR_SHARING_VIOLATION)
}

// InUse returns ErrInUse if another program has the file at a path open so that nobody can replace it, for longer than sharingWait.
func InUse(path string) error {
	fd, err := openAt(atCwd, path, forMove|noFollow, 0)
	if err == nil {
		closeFd(fd)
	}
	if isHeld(err) {
		return &fs.PathError{Op: "change", Path: path, Err: heldError{}}
	}
	return nil
}

// patiently repeats a call as long as another program keeps it from the file, for at most sharingWait; not at all if a call has waited in
// vain within the last sharingWait. How that shows beside a sharing violation is in also: a rename over a file that is open is denied.
func patiently(call func() error, also ...error) error {
	end := time.Now().Add(sharingWait)
	if last := time.Unix(0, gaveUp.Load()); time.Since(last) < sharingWait {
		end = last
	}
	for ; ; time.Sleep(10 * time.Millisecond) {
		err := call()
		held := errors.Is(err, windows.STATUS_SHARING_VIOLATION)
		wait := held || errors.Is(err, windows.STATUS_DELETE_PENDING) ||
			slices.ContainsFunc(also, func(one error) bool { return errors.Is(err, one) })
		switch {
		case !wait:
			return posix(err)
		case time.Now().Before(end):
			continue
		}
		gaveUp.Store(time.Now().UnixNano())
		if held {
			return heldError{}
		}
		return posix(err)
	}
}

// heldError is ErrInUse as what the system said of a file.
type heldError struct{}

func (heldError) Error() string { return ErrInUse.Error() }

func (heldError) Is(target error) bool {
	return target == ErrInUse || target == windows.ERROR_SHARING_VIOLATION
}

func (heldError) Hint() string { return "close it there, or wait, then try again" }

// object returns how the kernel is told a name relative to an open directory.
func object(dirfd int, name string) (*windows.OBJECT_ATTRIBUTES, error) {
	o := &windows.OBJECT_ATTRIBUTES{Attributes: windows.OBJ_CASE_INSENSITIVE}
	o.Length = uint32(unsafe.Sizeof(*o))
	name = filepath.FromSlash(name)
	switch {
	case dirfd == atCwd:
		full, err := syscall.FullPath(name)
		switch {
		case err != nil:
			return nil, err
		case strings.HasPrefix(full, `\\?\`):
			name = `\??\` + full[4:]
		case strings.HasPrefix(full, `\\.\`): // such as that of CON
			return nil, nameError(name[strings.LastIndexAny(name, `\/`)+1:])
		case strings.HasPrefix(full, `\\`):
			name = `\??\UNC` + full[1:]
		default:
			name = `\??\` + full
		}
	default:
		o.RootDirectory = windows.Handle(dirfd)
		if name = filepath.Clean(name); name == "." {
			name = ""
		} else if !fits(name) {
			return nil, nameError(name)
		}
	}
	text, err := windows.NewNTUnicodeString(name)
	o.ObjectName = text
	return o, err
}

// fits reports whether a name stays in its directory and every program can open it: it is not that of a device or a stream, and has no
// dot or space at the end of an element, which most calls take away.
func fits(name string) bool {
	return filepath.IsLocal(name) &&
		!slices.ContainsFunc(strings.Split(name, `\`), func(element string) bool { return strings.TrimRight(element, ". ") != element })
}

// nameError is EINVAL for a name that no file can have.
type nameError string

func (e nameError) Error() string {
	return fmt.Sprintf("on Windows no file can have the name %q", string(e))
}

func (nameError) Is(target error) bool { return target == syscall.EINVAL }

func (nameError) Hint() string {
	return "choose another: not that of a device such as CON, no colon, and no dot or space at the end"
}

// CheckNames returns an error for a path of which no file can have an element as its name.
func CheckNames(path string) error {
	if filepath.IsAbs(path) {
		path = path[len(filepath.VolumeName(path)):]
	}
	for _, name := range strings.FieldsFunc(path, isSeparator) {
		if name != "." && name != ".." && !fits(name) {
			return nameError(name)
		}
	}
	return nil
}

// AsOpened returns an absolute path by the names that the files have to which it leads: without a stream, as in "a.txt::$DATA", and
// without dots and spaces at the end of a name, and "/c/x" as C:\x, which the client makes of it.
func AsOpened(path string) string {
	volume := filepath.VolumeName(path)
	names := strings.FieldsFunc(path[len(volume):], isSeparator)
	if len(path) > len(volume)+1 && !os.IsPathSeparator(path[len(volume)+1]) && len(names) > 1 && len(names[0]) == 1 &&
		IsDir(strings.ToUpper(names[0])+`:\`) {
		volume, names = strings.ToUpper(names[0])+":", names[1:]
	}
	for i, name := range names {
		name, _, _ = strings.Cut(name, ":")
		if plain := strings.TrimRight(name, ". "); plain != "" {
			names[i] = plain
		}
	}
	return volume + `\` + strings.Join(names, `\`)
}

func openOnce(dirfd int, name string, flag int, _ uint32) (int, error) {
	if name == "" {
		return -1, syscall.ENOENT
	}
	o, err := object(dirfd, name)
	if err != nil {
		return -1, posix(err)
	}
	access, options, disposition := wanted(flag)
	var h windows.Handle
	err = patiently(func() error {
		return windows.NtCreateFile(&h, access, o, &windows.IO_STATUS_BLOCK{}, nil, windows.FILE_ATTRIBUTE_NORMAL,
			windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE, disposition, options, 0, 0)
	})
	if err != nil {
		return -1, err
	}
	if flag&noFollow != 0 && flag&(forLook|forMove) == 0 {
		var st stat
		if err := fstat(int(h), &st); err == nil && st.Mode&syscall.S_IFMT == syscall.S_IFLNK {
			_ = windows.CloseHandle(h)
			return -1, syscall.ELOOP
		}
	}
	return int(h), nil
}

// wanted returns what the flags of an open are for NtCreateFile.
func wanted(flag int) (access, options, disposition uint32) {
	access = windows.SYNCHRONIZE | windows.FILE_READ_ATTRIBUTES | windows.STANDARD_RIGHTS_READ
	options = windows.FILE_SYNCHRONOUS_IO_NONALERT | windows.FILE_OPEN_FOR_BACKUP_INTENT
	switch {
	case flag&forMove != 0:
		access |= windows.DELETE | windows.FILE_WRITE_ATTRIBUTES
	case flag&forTimes != 0:
		access |= windows.FILE_WRITE_ATTRIBUTES
	case flag&forLook != 0:
	case flag&forSync != 0:
		access |= windows.FILE_GENERIC_WRITE
	case flag&oDirectory != 0:
		access |= windows.FILE_LIST_DIRECTORY | windows.FILE_TRAVERSE
	case flag&os.O_RDWR != 0:
		access |= windows.FILE_GENERIC_READ | windows.FILE_GENERIC_WRITE
		options |= windows.FILE_NON_DIRECTORY_FILE
	case flag&os.O_WRONLY != 0:
		access |= windows.FILE_GENERIC_WRITE
		options |= windows.FILE_NON_DIRECTORY_FILE
	default:
		access |= windows.FILE_GENERIC_READ
	}
	if flag&os.O_APPEND != 0 {
		access &^= windows.FILE_WRITE_DATA
	}
	if flag&oDirectory != 0 {
		options |= windows.FILE_DIRECTORY_FILE
	}
	if flag&oThrough != 0 {
		options |= windows.FILE_WRITE_THROUGH
	}
	if flag&noFollow != 0 {
		options |= windows.FILE_OPEN_REPARSE_POINT
	}
	disposition = windows.FILE_OPEN
	switch {
	case flag&os.O_EXCL != 0:
		disposition, options = windows.FILE_CREATE, options|windows.FILE_OPEN_REPARSE_POINT
	case flag&os.O_CREATE != 0:
		disposition = windows.FILE_OPEN_IF
	}
	return access, options, disposition
}

func closeFd(fd int) error { return posix(windows.CloseHandle(windows.Handle(fd))) }

func readFd(fd int, p []byte) (int, error) {
	n, err := windows.Read(windows.Handle(fd), p)
	return n, posix(err)
}

func writeFd(fd int, p []byte) (int, error) {
	n, err := windows.Write(windows.Handle(fd), p)
	return n, posix(err)
}

func preadFd(fd int, p []byte, at int64) (int, error) {
	var n uint32
	err := windows.ReadFile(windows.Handle(fd), p, &n, &windows.Overlapped{Offset: uint32(at), OffsetHigh: uint32(at >> 32)})
	if errors.Is(err, windows.ERROR_HANDLE_EOF) {
		err = nil
	}
	return int(n), posix(err)
}

func truncate(fd int) error {
	if err := seekTo(fd, 0); err != nil {
		return err
	}
	return posix(windows.SetEndOfFile(windows.Handle(fd)))
}

func seekTo(fd int, at int64) error {
	_, err := windows.Seek(windows.Handle(fd), at, 0)
	return posix(err)
}

// chmod does nothing: modes have no meaning here.
func chmod(int, uint32) error { return nil }

func fileOf(fd int, path string, _ int) *os.File { return os.NewFile(uintptr(fd), path) }

// fsync makes a file, or the names in a directory, durable. Where directories cannot be flushed they are as durable as the file system
// makes them.
func fsync(fd int) error {
	err := posix(windows.FlushFileBuffers(windows.Handle(fd)))
	var st stat
	if err != nil && fstat(fd, &st) == nil && st.Mode&syscall.S_IFMT == syscall.S_IFDIR {
		return syscall.ENOTSUP
	}
	return err
}

func startWriteback(int) error { return nil }

func awaitWriteback(int) error { return nil }

// split opens the directory part of a name, so that the rest has one element. Its done closes what it opened.
func split(dirfd int, name string) (parent int, base string, done func(), err error) {
	name = filepath.Clean(filepath.FromSlash(name))
	base = filepath.Base(name)
	if !fits(base) {
		return -1, "", nil, syscall.EINVAL
	}
	if dirfd != atCwd && base == name {
		return dirfd, base, func() {}, nil
	}
	parent, err = openOnce(dirfd, filepath.Dir(name), oDirectory, 0)
	return parent, base, func() { _ = closeFd(parent) }, err
}

// Flags of FILE_RENAME_INFORMATION and FILE_DISPOSITION_INFORMATION, and the classes of the calls with them.
const (
	replaceIfExists = 1
	posixSemantics  = 2

	dispositionDelete, dispositionPosix, dispositionImageCheck, dispositionReadOnly = 1, 2, 4, 16

	renameClass, linkClass, dispositionClass = 10, 11, 13
	dispositionClassEx, renameClassEx        = 64, 65
)

// naming is FILE_RENAME_INFORMATION, which is FILE_LINK_INFORMATION too, with the name after it.
type naming struct {
	flags  uint32
	root   windows.Handle
	length uint32
}

// give gives what is open a name, by one of the classes above.
func give(h windows.Handle, class, flags uint32, dirfd int, name string) error {
	text, err := windows.UTF16FromString(name)
	if err != nil {
		return err
	}
	text = text[:len(text)-1]
	at := int(unsafe.Offsetof(naming{}.length)) + 4
	buf := make([]byte, max(at+2*len(text), int(unsafe.Sizeof(naming{})))+2)
	n := (*naming)(unsafe.Pointer(&buf[0]))
	n.flags, n.root, n.length = flags, windows.Handle(dirfd), uint32(2*len(text))
	for i, c := range text {
		buf[at+2*i], buf[at+2*i+1] = byte(c), byte(c>>8)
	}
	return windows.NtSetInformationFile(h, &windows.IO_STATUS_BLOCK{}, &buf[0], uint32(len(buf)), class)
}

// isUnknown reports whether the system, or the file system, does not know a form of a call.
func isUnknown(err error) bool {
	return errors.Is(err, windows.STATUS_INVALID_INFO_CLASS) || errors.Is(err, windows.STATUS_INVALID_PARAMETER) ||
		errors.Is(err, windows.STATUS_NOT_SUPPORTED) || errors.Is(err, windows.STATUS_NOT_IMPLEMENTED) ||
		errors.Is(err, windows.STATUS_INVALID_DEVICE_REQUEST)
}

// onNamed opens old and has do give it the name new.
func onNamed(oldfd int, old string, flag int, newfd int, new string, do func(h windows.Handle, dirfd int, base string) error) error {
	h, err := openOnce(oldfd, old, flag|forMove|noFollow, 0)
	if err != nil {
		return err
	}
	defer closeFd(h)
	parent, base, done, err := split(newfd, new)
	if err != nil {
		return err
	}
	defer done()
	return patiently(func() error { return do(windows.Handle(h), parent, base) }, windows.STATUS_ACCESS_DENIED)
}

func giving(class uint32) func(windows.Handle, int, string) error {
	return func(h windows.Handle, dirfd int, base string) error { return give(h, class, 0, dirfd, base) }
}

func linkAt(oldfd int, old string, newfd int, new string) error {
	return onNamed(oldfd, old, 0, newfd, new, giving(linkClass))
}

// renameAt replaces a file, also one that is open, where the file system can do that, or an empty directory.
func renameAt(oldfd int, old string, newfd int, new string) error {
	return onNamed(oldfd, old, oThrough, newfd, new, func(h windows.Handle, dirfd int, base string) error {
		err := give(h, renameClassEx, replaceIfExists|posixSemantics, dirfd, base)
		if isUnknown(err) || errors.Is(err, windows.STATUS_ACCESS_DENIED) {
			err = give(h, renameClass, replaceIfExists, dirfd, base)
		}
		if !errors.Is(err, windows.STATUS_ACCESS_DENIED) && !errors.Is(err, windows.STATUS_OBJECT_NAME_COLLISION) {
			return err
		}
		var st stat // a directory does not replace another one
		if fstat(int(h), &st) == nil && st.Mode&syscall.S_IFMT == syscall.S_IFDIR && removeAt(dirfd, base) == nil {
			return give(h, renameClass, 0, dirfd, base)
		}
		return err
	})
}

func renameNew(oldfd int, old string, newfd int, new string) error {
	return onNamed(oldfd, old, 0, newfd, new, giving(renameClass))
}

// removeAt removes a file, which may be open, or an empty directory. It does not follow a link.
func removeAt(dirfd int, name string) error {
	h, err := openOnce(dirfd, name, forMove|noFollow, 0)
	if err != nil {
		return err
	}
	defer closeFd(h)
	return patiently(func() error {
		flags := uint32(dispositionDelete | dispositionPosix | dispositionImageCheck | dispositionReadOnly)
		set := func(class uint32) error {
			return windows.NtSetInformationFile(windows.Handle(h), &windows.IO_STATUS_BLOCK{}, (*byte)(unsafe.Pointer(&flags)), 4, class)
		}
		err := set(dispositionClassEx)
		if isUnknown(err) {
			flags = 1
			err = set(dispositionClass)
		}
		return err
	}, windows.STATUS_ACCESS_DENIED, windows.STATUS_CANNOT_DELETE)
}

// MostOpen returns how many files may be Unsynced at a time.
func MostOpen() int { return 2048 }
