package checks

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// interpreters run the file that is named, in a language that is read here.
var interpreters = sync.OnceValue(func() map[string]bool { return words(`python python3 node bash sh zsh dash ksh`) })

// pythonModules are those that "python3 -m" runs and that only check.
var pythonModules = sync.OnceValue(func() map[string]bool {
	return words(`pytest unittest mypy flake8 pylint ruff black isort yapf bandit coverage`)
})

// cargoOwn are the subcommands that are part of cargo.
var cargoOwn = sync.OnceValue(func() map[string]bool { return words(`test check build`) })

// actsInCode are words of a program that may change, delete or send something, or run another program. To read more of it than its
// words is not tried: what has one of them is not known.
var actsInCode = sync.OnceValue(func() map[string]bool {
	return words(`rm rmdir rmtree rmsync remove removedirs unlink unlinksync delete rename renames move copy copyfile copytree copy2
	write writes writeln writelines writefile writefilesync createwritestream appendfile appendfilesync truncate ftruncate mkdir
	mkdirs makedirs mkdirsync chmod chown touch utime symlink link system popen subprocess exec execsync execfile execfilesync execv
	execve execvp spawn spawnsync posix_spawn child process_open proc_open shell_exec passthru fork forkpty eval shutil requests
	urllib urllib2 urllib3 http https http2 httpx aiohttp fetch axios got curl socket socketserver net tls dgram websocket smtplib
	ftplib telnetlib paramiko fabric boto boto3 push publish deploy upload install kill send sendall post put commit importlib runpy
	__import__ ctypes dlopen pickle marshal sqlite3 psycopg2 pymysql mysql redis dump savez save to_csv mailer lwp open3 pty
	multiprocessing asyncio worker_threads cluster vm require_relative instance_eval class_eval getattr globals setattr fix cp
	extract handler builtins dict__ __dict__`)
})

var (
	imports = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)\b(?:require\(?\s*|from\s+|import\(?\s*)['"]([^'"]+)|` +
			`^\s*from\s+([\w.]+)\s+import|^\s*import\s+([\w., ]+?)\s*(?:#.*)?$`)
	})
	harmlessImports = sync.OnceValue(func() map[string]bool {
		return words(`re sys json pathlib os csv collections itertools functools argparse typing math datetime glob fnmatch textwrap
	string ast tomllib configparser hashlib pytest unittest yaml difflib statistics enum dataclasses xml html unicodedata __future__
	time io fs path process url assert util js-yaml ajv glob semver yaml`)
	})
	opensToWrite = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\bopen\w*\(?[^)]*['"][rbt]*[wax+][bt+]*['"]|\bos\.replace\b|` +
			`\bReflect\b|\b(?:require|import)\(\s*[^'"\s]|\[['"][^\]]*\+`)
	})
	wordOfCode = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[A-Za-z_]\w*`) })
)

// allowsSource reports whether a file of the project that runs in a directory was read, and has nothing that acts.
func (r reader) allowsSource(file, interpreter, dir string) bool {
	text := r.read(file)
	first, _, _ := strings.Cut(text, "\n")
	if strings.HasPrefix(first, "#!") && interpreter == "" {
		named := strings.Fields(strings.TrimPrefix(first, "#!"))
		named = slices.DeleteFunc(named, func(w string) bool { return strings.HasPrefix(w, "-") || path.Base(w) == "env" })
		if len(named) != 1 {
			return false
		}
		interpreter = path.Base(named[0])
	}
	switch {
	case text == "", actsByName(strings.TrimSuffix(path.Base(file), path.Ext(file))), isForAnother(interpreter, path.Ext(file)):
		return false
	case interpreter == "", slices.Contains([]string{"sh", "bash", "dash", "ksh", "zsh"}, interpreter):
		return r.within("file "+file, func(r reader) bool { return r.allowsText(text, dir) })
	case !interpreters()[strings.TrimRight(interpreter, ".0123456789")]:
		return false
	}
	return r.looksInCode(text, file)
}

// isForAnother reports whether a file is, by its name, for another interpreter, as in node check.sh.
func isForAnother(interpreter, extension string) bool {
	of := map[string]string{".sh": "sh", ".bash": "sh", ".zsh": "sh", ".py": "py", ".js": "node", ".mjs": "node", ".cjs": "node"}[extension]
	return interpreter != "" && of != "" && !strings.Contains(interpreter, of)
}

// looksInCode reports whether nothing in the text of a program says that it acts, and it loads no other file of the project, and no
// library that does more than to read.
func (r reader) looksInCode(text, file string) bool {
	if opensToWrite().MatchString(text) {
		return false
	}
	for _, word := range wordOfCode().FindAllString(text, -1) {
		pieces := append(strings.FieldsFunc(strings.ToLower(snake(word)), isSeparator), strings.ToLower(word))
		if slices.ContainsFunc(pieces, func(piece string) bool { return actsInCode()[piece] }) {
			return false
		}
	}
	for _, m := range imports().FindAllStringSubmatch(text, -1) {
		for name := range strings.SplitSeq(m[1]+m[2]+m[3], ",") {
			name = strings.TrimPrefix(strings.TrimSpace(name), "node:")
			name, _, _ = strings.Cut(name, " ")
			name, _, _ = strings.Cut(name, "/")
			name, _, _ = strings.Cut(name, ".")
			if beside := path.Join(path.Dir(file), name); !harmlessImports()[name] || r.has(beside+".py") || r.isDir(beside) {
				return false
			}
		}
	}
	return true
}

// acts are words in the name of a target, a script or a file that say what it does whatever its text is.
var acts = sync.OnceValue(func() map[string]bool {
	return words(`deploy deployment publish unpublish release releases push upload send notify announce submit merge commit delete
	del remove drop destroy erase wipe purge prune clean cleanup clear reset revert rollback restore stop restart start serve server
	dev develop watch preview uninstall install upgrade update init migrate migration seed apply provision sync pull fetch download
	login approve bump fix autofix write format fmt rename backup import export prod production live staging setup bootstrap
	teardown down up enable disable invite pay transfer buy order`)
})

// isAct reports whether an argument of a script says that it acts.
func isAct(arg string) bool { return isHarmful(arg) || actsByName(arg) }

// actsByName reports whether a name says that it acts. What is called format:check looks.
func actsByName(name string) bool {
	pieces := strings.FieldsFunc(strings.ToLower(snake(name)), isSeparator)
	looks := slices.ContainsFunc(pieces, func(piece string) bool { return piece == "check" || piece == "verify" || piece == "test" })
	return slices.ContainsFunc(pieces, func(piece string) bool {
		return acts()[piece] && (!looks || piece != "format" && piece != "fmt" && piece != "release")
	})
}
