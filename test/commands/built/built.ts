import { execFileSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const changedAt = (file: string): number =>
  statSync(`${root}${file}`, { throwIfNoEntry: false })?.mtimeMs ?? 0

/** Before the tests that start the program: builds it where a source is newer than what was built. `npm test` has done so. */
export function setup(): void {
  const sources = readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' }).map(
    (file) => `src/${file}`,
  )
  const newest = Math.max(...['package.json', 'build/bundle.mjs', ...sources].map(changedAt))
  if (changedAt('dist/main.js') < newest)
    execFileSync(process.execPath, ['build/bundle.mjs'], { cwd: root, stdio: 'inherit' })
  console.log(`where runs are killed is drawn by the seed KVUP_SEED=${process.env['KVUP_SEED']}`)
}
