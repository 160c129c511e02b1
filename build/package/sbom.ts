import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { BundledPackage } from '../licences.ts'
import { nodeVersion, PackageError, type Runtime } from './runtimes.ts'

/** A part of a CycloneDX document, as npm writes it. */
interface Component {
  'bom-ref': string
  type: string
  name: string
  version: string
  scope?: string
  licenses?: readonly unknown[]
  [more: string]: unknown
}

/** A CycloneDX document: what one executable is made of. */
export interface Sbom {
  serialNumber: string
  metadata: { timestamp: string; component: Component; [more: string]: unknown }
  components: readonly Component[]
  dependencies?: readonly unknown[]
  [more: string]: unknown
}

const root = path.dirname(path.dirname(import.meta.dirname))

/** What npm says of every package that is locked here, in CycloneDX. */
export function lockedSbom(): Sbom {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only']
  const { status, stdout, stderr } = spawnSync('npm', args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  })
  if (status !== 0) throw new PackageError(`npm sbom failed: ${stderr.trim()}`)
  return JSON.parse(stdout) as Sbom
}

/** The packages whose code is in dist/, as the bundler saw them. */
export const bundledPackages = (): BundledPackage[] =>
  JSON.parse(readFileSync(path.join(root, 'dist', 'third-party.json'), 'utf8')) as BundledPackage[]

/**
 * The document of one executable: of what is locked only the packages that are bundled, and the runtime. It is the same for the same parts:
 * `made` (seconds since 1970) is the time of the commit, and the serial number a digest. Throws where a package is not locked, or has no licence.
 */
export function sbomOf(
  locked: Sbom,
  bundled: readonly BundledPackage[],
  runtime: Runtime,
  made: number,
): Sbom {
  const byName = new Map(
    locked.components.map((component) => [`${component.name}@${component.version}`, component]),
  )
  const components = bundled.map(({ name, version, license }) => {
    const found = byName.get(`${name}@${version}`)
    if (found === undefined)
      throw new PackageError(`${name} ${version} is bundled, but not locked: run npm ci`)
    const licenses = found.licenses ?? (license === undefined ? [] : [{ license: { name: license } }])
    if (licenses.length === 0) throw new PackageError(`${name} ${version} says nothing of its licence`)
    // Whether it is for development is said of the lock; in the executable it is there.
    return { ...found, scope: 'required', properties: [], licenses }
  })
  const content = {
    ...locked,
    metadata: {
      ...locked.metadata,
      timestamp: new Date(made * 1000).toISOString(),
      lifecycles: [{ phase: 'build' }],
      component: { ...locked.metadata.component, type: 'application', name: 'kvup' },
    },
    components: [...components, nodeComponent(runtime)],
    dependencies: [],
  }
  return { ...content, serialNumber: serialNumberOf(content) }
}

function nodeComponent(runtime: Runtime): Component {
  return {
    'bom-ref': `node@${nodeVersion}`,
    type: 'platform',
    name: 'node',
    version: nodeVersion,
    scope: 'required',
    purl: `pkg:npm/${runtime.package}@${nodeVersion}`,
    hashes: [{ alg: 'SHA-256', content: runtime.sha256 }],
    licenses: [{ license: { id: 'MIT' } }],
    description:
      'The executable that carries kvup, with what Node bundles; its licences are in licence-node.txt',
  }
}

function serialNumberOf(content: unknown): string {
  const hex = createHash('sha256')
    .update(JSON.stringify({ ...(content as Sbom), serialNumber: '' }))
    .digest('hex')
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ]
  return `urn:uuid:${parts.join('-')}`
}
