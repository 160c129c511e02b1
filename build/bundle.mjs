// src/main.ts and src/open.ts -> dist/, split, minified, with source maps. `tsc` only checks types.
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { build } from 'esbuild'
import { ownModules } from './own-modules.mjs'

const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'))
const out = new URL('../dist', import.meta.url).pathname
const fresh = `${out}.${process.pid}`
await build({
  entryPoints: { main: 'src/main.ts', open: 'src/open.ts' },
  outdir: fresh,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node22.19',
  minify: true,
  keepNames: true,
  plugins: [ownModules],
  sourcemap: true,
  legalComments: 'linked',
  define: { KVUP_VERSION: JSON.stringify(version) },
})
// Node looks for what kind of module each file is: found beside it, that saves a tenth of the start of a command.
await writeFile(`${fresh}/package.json`, '{"type":"module"}\n')
// A program that starts meanwhile finds the old one or the new one.
await rm(out, { recursive: true, force: true })
await rename(fresh, out)
