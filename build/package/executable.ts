import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { PackageError } from './runtimes.ts'

const root = path.dirname(path.dirname(import.meta.dirname))

/**
 * Writes kvup as one executable: `base`, a runtime of Node, with the files of bin/ and dist/ as a file system of its own, so that each
 * command still loads what it needs and no more. `builder` is the same version of Node for the machine that builds.
 */
export function writeExecutable(builder: string, base: string, output: string): void {
  const folder = mkdtempSync(path.join(tmpdir(), 'kvup-package-'))
  try {
    const modules = path.join(folder, 'package.json')
    writeFileSync(modules, '{"type":"module"}\n')
    const config = path.join(folder, 'config.json')
    writeFileSync(
      config,
      JSON.stringify({
        main: path.join(import.meta.dirname, 'main.mjs'),
        mainFormat: 'module',
        executable: base,
        output,
        useVfs: true,
        disableExperimentalSEAWarning: true,
        // No NODE_OPTIONS: what is in the environment must not put code or flags into the program.
        execArgvExtension: 'none',
        assets: { 'package.json': modules, ...assets() },
      }),
    )
    const { status, stderr, error } = spawnSync(builder, ['--build-sea', config], { encoding: 'utf8' })
    if (status !== 0)
      throw new PackageError(`Node could not build ${output}: ${error?.message ?? stderr.trim()}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  chmodSync(output, 0o755)
}

/** What the program reads of itself, by the name that it has inside. */
function assets(): Record<string, string> {
  const files = ['bin', 'dist'].flatMap((folder) =>
    readdirSync(path.join(root, folder))
      .filter((name) => name.endsWith('.js') || name === 'package.json')
      .map((name) => `${folder}/${name}`),
  )
  return Object.fromEntries(files.toSorted().map((name) => [name, path.join(root, name)]))
}

/** What the header of an executable says that it runs on: `ELF x86-64`, `ELF aarch64`, `Mach-O arm64`, `PE x86-64`; else `unknown`. */
export function machineOf(file: string): string {
  const head = headOf(file)
  if (head.readUInt32BE(0) === 0x7f454c46 && head[4] === 2) return elf.get(head.readUInt16LE(18)) ?? 'unknown'
  if (head.readUInt32LE(0) === 0xfeedfacf) return mach.get(head.readUInt32LE(4)) ?? 'unknown'
  if (head.toString('latin1', 0, 2) !== 'MZ') return 'unknown'
  const at = head.readUInt32LE(60)
  const isPe = at + 6 <= head.length && head.toString('latin1', at, at + 4) === 'PE\0\0'
  return isPe ? (pe.get(head.readUInt16LE(at + 4)) ?? 'unknown') : 'unknown'
}

const elf = new Map([
  [62, 'ELF x86-64'],
  [183, 'ELF aarch64'],
])
const mach = new Map([
  [0x0100000c, 'Mach-O arm64'],
  [0x01000007, 'Mach-O x86-64'],
])
const pe = new Map([
  [0x8664, 'PE x86-64'],
  [0xaa64, 'PE arm64'],
])

function headOf(file: string): Buffer {
  const head = Buffer.alloc(4096)
  const opened = openSync(file, 'r')
  try {
    readSync(opened, head, 0, head.length, 0)
  } finally {
    closeSync(opened)
  }
  return head
}

/** By this mark a runtime of Node knows whether it carries a program; a digit behind it says so. */
const mark = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2:'

/** Whether an executable carries a program: Node's own starts as Node. */
export function carriesProgram(file: string): boolean {
  const content = readFileSync(file)
  const at = content.indexOf(mark)
  return at >= 0 && content[at + mark.length] === '1'.charCodeAt(0)
}
