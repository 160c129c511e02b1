import { expect, test } from 'vitest'
import { sanitise } from '../../../src/lib/output/terminal.ts'
import { reply, tinyServer } from '../../lib/kube/http/tiny-server.ts'
import { kvup } from '../in-process.ts'

const text = 'oops \u001b]0;OWNED\u0007 \u001b[2J\nGET https://forged 200 in 1 ms'
const annotations = { note: '\u009b31m \u202e evil \u001b[2J', proxy: 'http://u:sekret@proxy:3128' }
const list = {
  apiVersion: 'kubevirt.io/v1',
  kind: 'KubeVirtList',
  metadata: { resourceVersion: '1' },
  items: [{ metadata: { name: 'kubevirt', namespace: 'kubevirt', annotations } }],
}

test.each(['8', '9'])(
  'trust M9: -v %s writes nothing that a terminal acts on, and no line of ours',
  async (v) => {
    const server = await tinyServer((asked, response) => {
      if (asked.path.endsWith('/kubevirts')) return reply(response, 200, list)
      response.writeHead(500, { 'content-type': 'text/plain' })
      response.end(text)
    })
    const { stderr, stdout } = await kvup(['status', '-v', v, '-s', server.url, '--request-timeout', '1s'])
    await server.close()
    expect(stderr).toContain('Response body: ')
    expect(stderr).toContain('evil')
    expect(stderr).toContain('oops')
    expect((stderr + stdout).replaceAll('\n', '')).toBe(sanitise(stderr + stdout).replaceAll('\n', ''))
    expect(stderr).not.toMatch(/^GET https:\/\/forged/mu)
    expect(stderr).not.toContain('sekret')
  },
)
