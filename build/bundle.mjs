// src/main.ts and src/open.ts -> dist/, split, minified, with source maps. `tsc` only checks types.
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { rolldown } from 'rolldown'
import { chunksOf } from './chunks.ts'
import { licencesOf, packagesOf } from './licences.ts'
import { leftOut } from './left-out.mjs'
import { ownModules } from './own-modules.mjs'

const root = path.dirname(import.meta.dirname)
const { version } = JSON.parse(await readFile(`${root}/package.json`, 'utf8'))
const out = `${root}/dist`
const fresh = `${out}.${process.pid}`

/** Every command needs the first, and every one that asks a cluster the second. */
const first = {
  start: ['src/main.ts'],
  cluster: ['src/open.ts', 'src/lib/kube/http/http-cluster.ts', 'src/lib/kube/http/secure-sockets.ts'],
}

const modules = new Map()
const graph = {
  name: 'graph',
  moduleParsed: ({ id, code, importedIds: imports, dynamicallyImportedIds: dynamic }) =>
    void modules.set(id, { size: Buffer.byteLength(code ?? ''), imports, dynamic }),
}

let chunks
const chunkOf = (id) => (chunks ??= chunksOf(sorted(modules), inRoot(first))).get(id) ?? null
/** They are parsed side by side, and two builds of one commit shall be the same. */
const sorted = (found) => new Map([...found].toSorted(([one], [other]) => (one < other ? -1 : 1)))
const inRoot = (groups) =>
  Object.fromEntries(
    Object.entries(groups).map(([name, files]) => [name, files.map((file) => path.join(root, file))]),
  )

// On stderr: what is built for is not built of it.
process.stderr.write('building dist/ …\n')
const bundle = await rolldown({
  cwd: root,
  input: { main: 'src/main.ts', open: 'src/open.ts' },
  platform: 'node',
  plugins: [ownModules, leftOut, graph],
  transform: { target: 'node22.19', define: { KVUP_VERSION: JSON.stringify(version) } },
  preserveEntrySignatures: 'allow-extension',
  // A demo and a completion have a cluster of their own at hand, which is no reason for the others to wait for it.
  checks: { ineffectiveDynamicImport: false },
})
const { output } = await bundle.write({
  dir: fresh,
  format: 'esm',
  minify: true,
  keepNames: true,
  sourcemap: true,
  codeSplitting: {
    includeDependenciesRecursively: false,
    groups: [{ name: chunkOf, debugName: 'by who needs them' }],
  },
})
await bundle.close()
refuseRounds(output)
// Node looks for what kind of module each file is: found beside it, that saves a tenth of the start of a command.
await writeFile(`${fresh}/package.json`, '{"type":"module"}\n')
await writeFile(`${fresh}/third-party-licences.txt`, `${licencesOf(bundled(output))}\n`)
await writeFile(`${fresh}/third-party.json`, `${JSON.stringify(packagesOf(bundled(output)))}\n`)
// A program that starts meanwhile finds the old one or the new one.
await rm(out, { recursive: true, force: true })
await rename(fresh, out)

/** Where the code in these files comes from. */
function bundled(files) {
  return files.flatMap(({ moduleIds = [] }) => moduleIds)
}

/** Of two files that import each other one would run before what it needs is there. */
function refuseRounds(files) {
  const imports = new Map(files.map((file) => [file.fileName, file.imports ?? []]))
  const done = new Set()
  const visit = (name, way) => {
    if (way.includes(name)) throw new Error(`these files import each other: ${[...way, name].join(' -> ')}`)
    if (done.has(name) || !imports.has(name)) return
    for (const next of imports.get(name)) visit(next, [...way, name])
    done.add(name)
  }
  for (const name of imports.keys()) visit(name, [])
}
