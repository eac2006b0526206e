# Installs fsmtx @VERSION@: fsmtx.exe and fsmtx-tools.exe into %USERPROFILE%\.local\bin, or into FSMTX_BIN.
#
#   powershell -ExecutionPolicy Bypass -File install.ps1            install
#   powershell -ExecutionPolicy Bypass -File install.ps1 -Check     download and verify, install nothing
#
# The SHA-256 digests of the archives are in this script. Nothing of an archive is unpacked or run
# before its digest is the one below. FSMTX_FROM names another place for the archives: a URL, or a
# directory. Nothing outside the target directory is changed.
param([switch]$Check)
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue' # it makes a download slow

$version = '@VERSION@'
$from = if ($env:FSMTX_FROM) { $env:FSMTX_FROM } else { '@URL@' }
$digests = @'
@DIGESTS@
'@

$machine = if ($env:PROCESSOR_ARCHITEW6432) { $env:PROCESSOR_ARCHITEW6432 } else { $env:PROCESSOR_ARCHITECTURE }
switch ($machine) {
    'AMD64' { $arch = 'amd64' }
    'ARM64' { $arch = 'arm64' }
    default { throw "there is no program for $machine; fsmtx runs on AMD64 and ARM64" }
}
$name = "fsmtx_${version}_windows_$arch"
$want = ''
foreach ($line in $digests -split "`r?`n") {
    if ($line -match '^([0-9a-f]{64})  (.+)$' -and $Matches[2] -eq "$name.zip") { $want = $Matches[1] }
}
if (-not $want) { throw "this script has no digest for $name.zip; take the script of another release" }

if ($env:FSMTX_BIN) { $bin = $env:FSMTX_BIN }
elseif ($env:USERPROFILE) { $bin = Join-Path $env:USERPROFILE '.local\bin' }
else { throw 'neither FSMTX_BIN nor USERPROFILE is set; set FSMTX_BIN to the directory for the programs' }
if (-not [IO.Path]::IsPathRooted($bin)) { throw "FSMTX_BIN is $bin, which is not an absolute path" }

$scratch = Join-Path ([IO.Path]::GetTempPath()) ('fsmtx.' + [Guid]::NewGuid().ToString('N'))
New-Item -ItemType Directory -Path $scratch | Out-Null
try {
    $archive = Join-Path $scratch "$name.zip"
    if ($from -match '^https?://') {
        [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12
        Invoke-WebRequest -UseBasicParsing -Uri "$from/$name.zip" -OutFile $archive
    } else {
        Copy-Item -LiteralPath (Join-Path $from "$name.zip") -Destination $archive
    }
    $have = (Get-FileHash -Algorithm SHA256 -LiteralPath $archive).Hash
    if ($have -ne $want) {
        throw "$name.zip is not the archive of this release: its SHA-256 is $have, want $want; nothing was unpacked or installed"
    }
    if ($Check) {
        Write-Output "verified $name.zip"
        return
    }

    Expand-Archive -LiteralPath $archive -DestinationPath $scratch
    New-Item -ItemType Directory -Force -Path $bin | Out-Null
    foreach ($program in 'fsmtx-tools.exe', 'fsmtx.exe') {
        # A program that runs can be renamed, but not replaced; the next installation removes it.
        $target = Join-Path $bin $program
        Get-ChildItem -LiteralPath $bin -Filter "$program.old-*" | Remove-Item -Force -ErrorAction SilentlyContinue
        $old = "$target.old-" + [Guid]::NewGuid().ToString('N')
        $new = "$target.new"
        Copy-Item -Force -LiteralPath (Join-Path (Join-Path $scratch $name) $program) -Destination $new
        if (Test-Path -LiteralPath $target) { Move-Item -LiteralPath $target -Destination $old }
        try {
            Move-Item -LiteralPath $new -Destination $target
        } catch {
            if (Test-Path -LiteralPath $old) { Move-Item -LiteralPath $old -Destination $target }
            throw
        }
        Remove-Item -Force -LiteralPath $old -ErrorAction SilentlyContinue
    }
} finally {
    Remove-Item -Recurse -Force -LiteralPath $scratch -ErrorAction SilentlyContinue
}

Write-Output "installed fsmtx $version in $bin"
if (($env:PATH -split [IO.Path]::PathSeparator) -contains $bin) {
    Write-Output 'type fsmtx init in a project of yours'
} else {
    Write-Output "put it on your PATH: [Environment]::SetEnvironmentVariable('Path', '$bin;' + [Environment]::GetEnvironmentVariable('Path', 'User'), 'User')"
}
