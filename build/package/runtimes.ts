import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { extract } from 'tar'
import pinned from './runtimes.json' with { type: 'json' }

/** A platform that kvup is packaged for, in the words of Node: what it runs on, and what is known of that runtime. */
export type Platform = keyof typeof pinned.runtimes

/** A runtime of Node as this repository pins it: where it comes from, and the digests that it must have. */
export interface Runtime {
  package: string
  /** Of the package, as a registry names it: `sha512-…`. */
  integrity: string
  /** Where the executable lies in the package. */
  program: string
  /** Of the executable. */
  sha256: string
  /** What its header must say, in the words of `machineOf`. */
  machine: string
}

/** The one version of all runtimes, without a v. */
export const nodeVersion = pinned.node
/** All runtimes by platform. */
export const runtimes: Readonly<Record<Platform, Runtime>> = pinned.runtimes
/** Platforms that people ask for and that cannot be packaged, each with the reason. */
export const missing: Readonly<Record<string, string>> = pinned.missing

/** A sentence for a person: no stack trace is printed for it. */
export class PackageError extends Error {}

/** What is at hand of a runtime. */
export interface LocalRuntime {
  program: string
  licence: string
}

/**
 * The runtime in `cache`, fetched by npm where it is not there. Whether it comes from there or from the registry, what does not have the
 * pinned digest is refused and not kept.
 */
export async function runtimeIn(
  cache: string,
  runtime: Runtime,
  pack: PackRuntime = packRuntime,
): Promise<LocalRuntime> {
  const folder = path.join(cache, `${runtime.package}-${nodeVersion}`)
  if (!existsSync(folder)) await fetchRuntime(folder, runtime, pack)
  const program = path.join(folder, runtime.program)
  ensureDigest(program, runtime)
  return { program, licence: path.join(folder, 'LICENSE') }
}

/** Puts the archive of a package into a folder. */
export type PackRuntime = (name: string, folder: string) => void

async function fetchRuntime(folder: string, runtime: Runtime, pack: PackRuntime): Promise<void> {
  mkdirSync(path.dirname(folder), { recursive: true })
  const fresh = mkdtempSync(`${folder}.`)
  try {
    pack(`${runtime.package}@${nodeVersion}`, fresh)
    const [archive] = readdirSync(fresh)
    if (archive === undefined) throw new PackageError(`npm brought nothing for ${runtime.package}`)
    const file = path.join(fresh, archive)
    const integrity = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`
    if (integrity !== runtime.integrity)
      throw new PackageError(
        `${runtime.package} ${nodeVersion} is not what is pinned: ${integrity} instead of ${runtime.integrity}`,
      )
    const wanted = new Set([`package/${runtime.program}`, 'package/LICENSE'])
    await extract({ file, cwd: fresh, strip: 1, filter: (name) => wanted.has(name) })
    rmSync(file)
    renameSync(fresh, folder)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}

function packRuntime(name: string, folder: string): void {
  const { status, stderr, error } = spawnSync(
    'npm',
    ['pack', '--silent', name, '--pack-destination', folder],
    {
      encoding: 'utf8',
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  if (status !== 0)
    throw new PackageError(
      `${name} could not be fetched: ${error?.message ?? (stderr.trim() || `npm ended with ${status}`)}`,
    )
}

function ensureDigest(program: string, runtime: Runtime): void {
  const sha256 = createHash('sha256').update(readFileSync(program)).digest('hex')
  if (sha256 !== runtime.sha256)
    throw new PackageError(
      `${program} is not what is pinned: sha256 ${sha256} instead of ${runtime.sha256}. Delete its folder, and look who changed it`,
    )
}
