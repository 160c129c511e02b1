import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { kvup } from '../in-process.ts'

/** Flow style, anchors, a folded text: what only a whole YAML parser reads. */
const text = `
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: &at "http://127.0.0.1:1"}}]
users: [{name: u, user: {}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: >-
  x
`

test('a kubeconfig that only a whole YAML parser can read is read by the program as it is built', async () => {
  const kubeconfig = join(mkdtempSync(join(tmpdir(), 'kvup-')), 'config')
  writeFileSync(kubeconfig, text)
  expect(await kvup(['status'], { kubeconfig })).toMatchObject({
    code: 8,
    stderr: expect.stringContaining('http://127.0.0.1:1') as string,
  })
})
