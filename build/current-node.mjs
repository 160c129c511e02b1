// npm scripts run on the `node` dev dependency where the machine has an older Node. That package fills itself in
// an install script, which may be switched off: then this does it.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const recent = major > 22 || (major === 22 && minor >= 19)
const folder = fileURLToPath(new URL('../node_modules/node/', import.meta.url))
if (!recent && existsSync(folder) && !existsSync(`${folder}bin/node`)) {
  const { status } = spawnSync(process.execPath, ['installArchSpecificPackage.js'], {
    cwd: folder,
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(status ?? 1)
}
if (!recent && !existsSync(`${folder}bin/node`)) {
  console.error(`kvup needs Node 22.19 or newer; this is ${process.versions.node}. Run: npm ci`)
  process.exit(1)
}
