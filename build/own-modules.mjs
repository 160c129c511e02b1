import { isBuiltin } from 'node:module'

/**
 * Node's own modules as `process.getBuiltinModule` hands them out, and of them only what is named. An ESM import copies all
 * exports first, which loads what nobody asked for: `import 'node:util'` alone takes 10 ms, half of what bare Node does.
 */
export const ownModules = {
  name: 'own-modules',
  resolveId: {
    filter: { id: /^[a-z0-9_:/]+$/ },
    handler(path, importer, { kind }) {
      if (!isBuiltin(path) || kind === 'dynamic-import') return undefined
      // One for each importer, in whose file it then lies.
      return { id: `\0${kind === 'require-call' ? 'required' : 'imported'}:${path}?${importer}` }
    },
  },
  load: {
    filter: { id: /^\0(?:required|imported):/ },
    async handler(id) {
      const { how, path, importer } = /^\0(?<how>\w+):(?<path>[^?]+)\?(?<importer>.*)$/.exec(id).groups
      return { code: await codeOf(how, path, importer), moduleType: 'js', moduleSideEffects: false }
    },
  },
}

async function codeOf(how, path, importer) {
  if (how === 'required') return `module.exports = ${own(path)}`
  return isLate(path, importer) ? late(path) : imported(path)
}

const own = (path) => `process.getBuiltinModule(${JSON.stringify(path)})`

/** commander can start other programs as subcommands; ours are all inside. */
const isLate = (path, importer) => path === 'node:child_process' && /[/\\]commander[/\\]/.test(importer)

const late = (path) => `export default { spawn: (...all) => ${own(path)}.spawn(...all) }`

/** The calls are pure, so that each name that is not imported goes. */
async function imported(path) {
  const names = Object.keys(await import(path)).filter((name) => name !== 'default')
  return [
    `const own = ${own(path)}, named = (name) => own[name]`,
    'export default own',
    ...names.map((name) => `export const ${name} = /* @__PURE__ */ named('${name}')`),
  ].join('\n')
}
