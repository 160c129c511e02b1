import { expect, test } from 'vitest'
import { saveBackup } from '../../src/lib/upgrade/methods/prepared-manifest.ts'
import type { Context } from '../../src/context.ts'
import { changeOf } from '../../src/lib/manifests/apply-manifest.ts'
import { example, liveOperator } from '../lib/manifests/example.ts'

const wanted = example().operator
const changes = [
  changeOf(
    wanted,
    liveOperator([], (live) => Object.assign(live.metadata, { labels: { old: 'yes' } })),
  ),
]
const origin = { file: 'backup.yaml', from: 'v1.7.0', to: 'v1.8.4', uid: 'u-1' }

const failing = (code: string) => Promise.reject(Object.assign(new Error(`${code}: no`), { code }))

function disk(files: Record<string, string>) {
  const notes: string[] = []
  const world = {
    readText: (file: string) =>
      files[file] === undefined ? failing('ENOENT') : Promise.resolve(files[file]),
    writeText: async (file: string, text: string) => void (files[file] = text),
  }
  const cx = { world, printer: { note: (line: string) => notes.push(line) } } as unknown as Context
  return { files, notes, world, cx }
}

test('is written once: the file of the first run is kept', async () => {
  const { cx, files, notes } = disk({})
  await saveBackup(changes, origin, cx)
  const first = files['backup.yaml']
  expect(first).toContain('kind: Deployment')
  await saveBackup([], { ...origin, to: 'v1.8.5' }, cx)
  expect(files['backup.yaml']).toBe(first)
  expect(notes).toEqual([
    'backup.yaml exists already and is not overwritten: it has the objects from before the first run',
  ])
})

test.each([
  ['empty', ''],
  ['of somebody else', 'precious: yes\n'],
  ['half of one', '# head\n# KubeVirt u-1 at v1.7.0\n---\nkind: Depl'],
  ['of another cluster', '# head\n# KubeVirt u-2 at v1.7.0\n# The end.\n'],
  ['of another version', '# head\n# KubeVirt u-1 at v1.6.0\n# The end.\n'],
])('a file that is %s is neither overwritten nor called the way back', async (_, text) => {
  const { cx, files } = disk({ 'backup.yaml': text })
  await expect(saveBackup(changes, origin, cx)).rejects.toMatchObject({ exitCode: 2, reason: 'backup' })
  expect(files['backup.yaml']).toBe(text)
})

test.each(['EROFS', 'ENOSPC', 'EISDIR'])('a disk that says %s is no bug of kvup', async (code) => {
  const { cx, world } = disk({})
  world.writeText = () => failing(code)
  const error = await saveBackup(changes, origin, cx).catch((e: unknown) => e)
  expect(error).toMatchObject({ exitCode: 2, remedy: [expect.stringContaining('--backup FILE')] })
  expect((error as Error).message).toContain('Nothing was changed')
})
