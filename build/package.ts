// npm run package [-- PLATFORM… --download-url URL --out FOLDER]: kvup as one executable per platform, and the archives of it.
// --download-url says from where the archives are going to be downloaded; without it there is no manifest for krew.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { pack } from './package/archive.ts'
import { carriesProgram, machineOf, writeExecutable } from './package/executable.ts'
import { type KrewArchive, krewManifest } from './package/krew.ts'
import {
  type LocalRuntime,
  missing,
  nodeVersion,
  PackageError,
  type Platform,
  runtimeIn,
  runtimes,
} from './package/runtimes.ts'
import { bundledPackages, lockedSbom, type Sbom, sbomOf } from './package/sbom.ts'

const root = path.dirname(import.meta.dirname)
const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string }
const caches = process.env['XDG_CACHE_HOME'] || path.join(homedir(), '.cache')
const cache = path.join(caches, 'kvup-package')

/** What is the same for all platforms of one run. */
interface Build {
  out: string
  builder: string
  licence: string
  locked: Sbom
  made: number
}

/** One platform, packed. */
interface Packaged {
  platform: Platform
  archive: string
  sums: readonly (readonly [file: string, sha256: string])[]
  megabytes: readonly [program: number, archive: number]
  machine: string
  signature: string
}

async function main(): Promise<void> {
  const { values, positionals } = typed()
  const wanted = positionals.length === 0 ? Object.keys(runtimes) : positionals
  const platforms = wanted.map(ensurePlatform)
  const url = downloadUrl(values['download-url'])
  const out = path.resolve(values.out)
  const made = timeOfCommit()
  mkdirSync(out, { recursive: true })
  for (const name of readdirSync(out)) if (isOurs(name)) rmSync(path.join(out, name), { recursive: true })
  const { program: builder, licence } = await runtimeIn(cache, runtimes[ensureBuilds()])
  const build: Build = { out, builder, licence, locked: lockedSbom(), made }
  const done: Packaged[] = []
  for (const platform of platforms) {
    done.push(await packaged(platform, build))
    console.log(lineOf(done.at(-1)!))
  }
  writeFileSync(
    path.join(out, 'sha256sums.txt'),
    done
      .flatMap(({ sums }) => sums)
      .map(([file, sum]) => `${sum}  ${file}\n`)
      .join(''),
  )
  if (url === undefined)
    console.log('kvup.yaml (krew): missing, for --download-url does not say where the archives will be')
  else
    writeFileSync(
      path.join(out, 'kvup.yaml'),
      krewManifest(
        version,
        done.map((one) => krewArchive(one, url)),
      ),
    )
  for (const [platform, reason] of Object.entries(missing)) console.log(`${platform} is missing: ${reason}`)
  console.log(`Node ${nodeVersion} inside. No executable is signed by anybody: compare sha256sums.txt`)
}

function typed() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: { out: { type: 'string', default: 'packages' }, 'download-url': { type: 'string' } },
    })
  } catch (error) {
    throw new PackageError((error as Error).message)
  }
}

/** What an earlier run left in the folder: nothing else in it is deleted. */
const isOurs = (name: string): boolean =>
  Object.hasOwn(runtimes, name) || /^(?:kubectl-kvup_v.+|kvup\.yaml|sha256sums\.txt)$/.test(name)

function ensurePlatform(name: string): Platform {
  if (Object.hasOwn(runtimes, name)) return name as Platform
  const reason = missing[name]
  throw new PackageError(
    reason === undefined
      ? `there is no platform ${name}; there are ${Object.keys(runtimes).join(', ')}`
      : `${name} is missing: ${reason}`,
  )
}

function ensureBuilds(): Platform {
  const here = `${process.platform}-${process.arch}`
  if (Object.hasOwn(runtimes, here)) return here as Platform
  throw new PackageError(`kvup cannot be packaged on ${here}; it can on ${Object.keys(runtimes).join(', ')}`)
}

function downloadUrl(url: string | undefined): string | undefined {
  if (url === undefined) return undefined
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new PackageError(`--download-url ${url} is no address that starts with https:// or http://`)
  return url.replace(/\/+$/, '')
}

/** Seconds since 1970: what SOURCE_DATE_EPOCH says, else when the commit was made. */
function timeOfCommit(): number {
  const said = process.env['SOURCE_DATE_EPOCH']
  if (said !== undefined && !/^\d{1,11}$/.test(said))
    throw new PackageError(`SOURCE_DATE_EPOCH is ${said}, which is no number of seconds`)
  if (said !== undefined) return Number(said)
  const { status, stdout } = spawnSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new PackageError('git does not say when the commit was made; set SOURCE_DATE_EPOCH')
  return Number(stdout.trim())
}

async function packaged(platform: Platform, build: Build): Promise<Packaged> {
  const runtime = runtimes[platform]
  const folder = path.join(build.out, platform)
  const program = programOf(platform)
  const file = path.join(folder, program)
  mkdirSync(folder)
  const local: LocalRuntime = await runtimeIn(cache, runtime)
  writeExecutable(build.builder, local.program, file)
  const signature = platform === 'darwin-arm64' ? signedAdHoc(file) : 'unsigned'
  const machine = ensureMachine(file, runtime.machine)
  addTexts(folder, build.licence)
  writeFileSync(
    path.join(folder, 'sbom.cdx.json'),
    `${JSON.stringify(sbomOf(build.locked, bundledPackages(), runtime, build.made), null, 2)}\n`,
  )
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
  const { os, arch } = krewNames(platform)
  const stem = `kubectl-kvup_v${version}_${os}_${arch}`
  const archive = `${stem}${platform === 'win32-x64' ? '.zip' : '.tar.gz'}`
  await pack(path.join(build.out, archive), { folder, files, programs: [program], made: build.made })
  copyFileSync(path.join(folder, 'sbom.cdx.json'), path.join(build.out, `${stem}.cdx.json`))
  return {
    platform,
    archive,
    sums: [archive, `${stem}.cdx.json`, `${platform}/${program}`].map(
      (name) => [name, sha256Of(path.join(build.out, name))] as const,
    ),
    megabytes: [megabytesOf(file), megabytesOf(path.join(build.out, archive))],
    machine,
    signature,
  }
}

function ensureMachine(file: string, wanted: string): string {
  const machine = machineOf(file)
  if (machine !== wanted) throw new PackageError(`${file} is for ${machine}, not for ${wanted}`)
  if (!carriesProgram(file)) throw new PackageError(`${file} carries no program: it would start as Node`)
  return machine
}

/** Without a signature an arm64 Mac starts nothing; this one names nobody. Where Go is missing the listing says what is left to do. */
function signedAdHoc(file: string): string {
  const cwd = path.join(import.meta.dirname, 'package', 'ad-hoc-sign')
  const { status, stderr, error } = spawnSync('go', ['run', '.', file], { cwd, encoding: 'utf8' })
  if (error !== undefined)
    return 'unsigned; Go is missing here, so it does not start until `codesign -s - kvup` was run on a Mac'
  if (status !== 0) throw new PackageError(`${file} could not be signed: ${stderr.trim()}`)
  return 'signed ad hoc, by nobody; not started on a Mac'
}

const from = (name: string): string => path.join(root, name)

/** What goes with the program: licences, completions, man pages. */
function addTexts(folder: string, licenceOfNode: string): void {
  copyFileSync(from('LICENSE'), path.join(folder, 'LICENSE'))
  copyFileSync(from('dist/third-party-licences.txt'), path.join(folder, 'third-party-licences.txt'))
  copyFileSync(licenceOfNode, path.join(folder, 'licence-node.txt'))
  cpSync(from('completions'), path.join(folder, 'completions'), { recursive: true })
  cpSync(from('docs/man'), path.join(folder, 'man'), { recursive: true })
}

const programOf = (platform: Platform): string => (platform === 'win32-x64' ? 'kvup.exe' : 'kvup')

function krewNames(platform: Platform): { os: string; arch: string } {
  const [os = '', arch = ''] = platform.split('-')
  return { os: os === 'win32' ? 'windows' : os, arch: arch === 'x64' ? 'amd64' : arch }
}

function krewArchive({ platform, archive, sums }: Packaged, url: string): KrewArchive {
  const [, sha256 = ''] = sums.find(([file]) => file === archive) ?? []
  return { ...krewNames(platform), uri: `${url}/${archive}`, sha256, program: programOf(platform) }
}

const sha256Of = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex')
const megabytesOf = (file: string): number => Math.round(statSync(file).size / 1e6)

function lineOf({ platform, archive, megabytes: [program, packed], machine, signature }: Packaged): string {
  return `${platform}: ${program} MB, ${machine}, ${signature} → ${archive}, ${packed} MB`
}

try {
  await main()
} catch (error) {
  if (!(error instanceof PackageError)) throw error
  console.error(`error: ${error.message}`)
  process.exitCode = 1
}
