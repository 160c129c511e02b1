import { isBuiltin } from 'node:module'

/**
 * Node's own modules as `process.getBuiltinModule` hands them out, and of them only what is named. An ESM import copies all
 * exports first, which loads what nobody asked for: `import 'node:util'` alone takes 10 ms, half of what bare Node does.
 */
export const ownModules = {
  name: 'own-modules',
  setup(build) {
    build.onResolve({ filter: /^[a-z0-9_:/]+$/ }, ({ path, kind, importer }) => {
      if (!isBuiltin(path) || kind === 'dynamic-import') return undefined
      const namespace = kind === 'require-call' ? 'required' : 'imported'
      // One for each importer: what several share becomes a file of its own, and each file takes its time to open.
      return { path, suffix: `?${importer}`, namespace, sideEffects: false }
    })
    build.onLoad({ filter: /^/, namespace: 'required' }, ({ path }) => ({
      contents: `module.exports = ${own(path)}`,
    }))
    build.onLoad({ filter: /^/, namespace: 'imported' }, async ({ path, suffix }) => ({
      contents: isLate(path, suffix) ? late(path) : await imported(path),
    }))
  },
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
