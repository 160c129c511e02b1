// The pages that are made from the code: docs/commands, docs/man and docs/rbac.md. A test fails when they are stale.
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { generatedFolders, referencePages } from './reference/pages.ts'

for (const folder of generatedFolders) {
  await mkdir(folder, { recursive: true })
  for (const name of await readdir(folder)) await rm(`${folder}/${name}`)
}
for (const [file, text] of await referencePages()) {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
}
