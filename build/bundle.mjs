// src/main.ts and src/open.ts -> dist/, split, minified, with source maps. `tsc` only checks types.
import { rm, readFile } from 'node:fs/promises'
import { build } from 'esbuild'

const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'))
const out = new URL('../dist/', import.meta.url).pathname
await rm(out, { recursive: true, force: true })
await build({
  entryPoints: { main: 'src/main.ts', open: 'src/open.ts' },
  outdir: out,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node22.19',
  minify: true,
  keepNames: true,
  sourcemap: true,
  legalComments: 'linked',
  define: { KVUP_VERSION: JSON.stringify(version) },
  banner: {
    js: "import { createRequire as __kvupRequire } from 'node:module'; const require = __kvupRequire(import.meta.url);",
  },
})
