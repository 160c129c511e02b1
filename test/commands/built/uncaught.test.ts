import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { kvup } from './program.ts'

/** Thrown where nobody can catch it, as a library's callback does it. */
const thrower = `data:text/javascript,${encodeURIComponent(`setTimeout(() => { throw new Error('out of the blue') }, 600)`)}`

test('what a callback throws is told as a bug, without a stack, with exit 1 and one document', async () => {
  const silent = createServer(() => undefined)
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const server = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
  const kubeconfig = join(mkdtempSync(join(tmpdir(), 'kvup-')), 'config')
  const at = { name: 'x', cluster: { server }, user: {}, context: { cluster: 'x', user: 'x' } }
  writeFileSync(
    kubeconfig,
    JSON.stringify({ clusters: [at], users: [at], contexts: [at], 'current-context': 'x' }),
  )
  const env = { NODE_OPTIONS: `--import=${thrower}` }
  const { code, stdout, stderr } = await kvup(['status', '-o', 'json'], { kubeconfig, env })
  silent.close()
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining('this is a bug in kvup') as string,
  })
  expect(stderr).toContain('out of the blue')
  expect(stderr).not.toContain('    at ')
  expect(JSON.parse(stdout)).toMatchObject({ kind: 'Status', status: 'failed' })
})
