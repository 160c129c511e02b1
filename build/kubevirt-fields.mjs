// By the types of kubevirt.io/api: writes src/lib/releases/kubevirt-fields.json, the fields of the KubeVirt's spec.configuration that not every minor has,
// and src/simulator/api/kinds/kubevirt-spec.json, all that its spec has had in any of them.
// Needs Go, for its modules. A new minor: its release in `modules`, then `node build/kubevirt-fields.mjs`.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** One release of each minor that the module proxy has. */
const modules = 'v1.0.0 v1.1.1 v1.2.2 v1.3.1 v1.4.0 v1.5.0 v1.6.0 v1.7.0 v1.8.4 v1.9.0'.split(' ')
const minors = modules.map((version) => version.slice(0, version.lastIndexOf('.')))

/** By name, the fields of each struct: `[name, type, isMap]`. */
function structsOf(version) {
  const told = execFileSync('go', ['mod', 'download', '-json', `kubevirt.io/api@${version}`], {
    encoding: 'utf8',
  })
  const folder = `${JSON.parse(told).Dir}/core/v1/`
  const text = readdirSync(folder)
    .filter((name) => /^(?!zz_|.*_test).*\.go$/u.test(name))
    .map((name) => readFileSync(folder + name, 'utf8'))
    .join('\n')
  const field = /^\s+\w+\s+(map\[\w+\])?[*[\]]*([\w.]+)\s+`json:"(\w+)/gmu
  const structs = [...text.matchAll(/^type (\w+) struct \{\n(.*?)^\}/gmsu)]
  return new Map(
    structs.map(([, name, body]) => [
      name,
      [...body.matchAll(field)].map(([, map, type, json]) => [json, type, map !== undefined]),
    ]),
  )
}

/** `a.b`; `a.b.?` where the type of `a.b` is of another module, so that its fields are not known. */
const fieldsIn = (structs, type, path = '') =>
  (structs.get(type) ?? []).flatMap(([name, below, isMap]) =>
    [
      path + name,
      below.includes('.') ? [`${path}${name}.?`] : [],
      fieldsIn(structs, below, `${path}${name}.${isMap ? '*.' : ''}`),
    ].flat(),
  )

/** What is in a struct: `true` of a plain value, `any` of a type of another module, `{}` of keys that are anybody's. */
function treeOf(structs, type) {
  if (type.includes('.')) return 'any'
  const fields = structs.get(type)
  if (!fields) return true
  return Object.fromEntries(
    fields.map(([name, below, isMap]) => {
      const tree = treeOf(structs, below)
      return [name, isMap && typeof tree === 'object' ? { '*': tree } : isMap ? 'any' : tree]
    }),
  )
}

function merged(one, other) {
  if (typeof one !== 'object' || typeof other !== 'object') return other ?? one
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])]
  return Object.fromEntries(names.map((name) => [name, merged(one[name], other[name])]))
}

const spec = modules.reduce((all, version) => merged(all, treeOf(structsOf(version), 'KubeVirtSpec')), {})

const found = new Map()
for (const [index, version] of modules.entries())
  for (const path of fieldsIn(structsOf(version), 'KubeVirtConfiguration'))
    found.set(path, [...(found.get(path) ?? []), minors[index]])

const spanOf = (path) => found.get(path)?.join()
const parentOf = (path) => path.slice(0, Math.max(0, path.lastIndexOf('.'))).replace(/\.\*$/u, '')
const fields = [...found]
  .filter(([path, of]) => of.length < minors.length && spanOf(parentOf(path)) !== spanOf(path))
  .filter(([path]) => !path.endsWith('?') && !found.has(`${parentOf(path)}.?`))
  .map(([path, of]) => [path, of.at(-1) === minors.at(-1) ? [of[0]] : [of[0], of.at(-1)]])
const table = {
  source: 'types of kubevirt.io/api, by build/kubevirt-fields.mjs',
  fields: Object.fromEntries(fields),
}
function write(path, content) {
  const output = fileURLToPath(new URL(`../src/${path}`, import.meta.url))
  writeFileSync(output, `${JSON.stringify(content)}\n`)
  execFileSync('npx', ['oxfmt', output], { stdio: 'inherit' })
}
write('lib/releases/kubevirt-fields.json', table)
write('simulator/api/kinds/kubevirt-spec.json', { source: table.source, spec })
console.log(`${found.size} fields, ${fields.length} of them not in every minor`)
