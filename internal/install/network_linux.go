package install

import "golang.org/x/sys/unix"

// networkFS names the network file system that path is on, "" if it is on none.
func networkFS(path string) string {
	var info unix.Statfs_t
	if unix.Statfs(path, &info) != nil {
		return ""
	}
	return map[int64]string{unix.NFS_SUPER_MAGIC: "NFS", unix.SMB_SUPER_MAGIC: "SMB", unix.SMB2_SUPER_MAGIC: "SMB",
		unix.CIFS_SUPER_MAGIC: "CIFS", unix.AFS_SUPER_MAGIC: "AFS"}[int64(info.Type)]
}
