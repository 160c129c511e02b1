import fs from 'node:fs'
import path from 'node:path'
import zlib from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { replayText } from './replay-text.ts'

const recorded = (name: string) =>
  fs.readFileSync(path.join(import.meta.dirname, 'recorded', `${name}.ndjson.gz`))
const replay = (bytes: Uint8Array) => replayText('x.ndjson.gz', () => bytes)
const packed = (text: string) => zlib.gzipSync(text)
const changed = (name: string, change: (line: string, t: number) => string) =>
  packed(
    zlib
      .gunzipSync(recorded(name))
      .toString()
      .split('\n')
      .map((line) => (line === '' ? line : change(line, (JSON.parse(line) as { t: number }).t)))
      .join('\n'),
  )

test('a recording that is as it has to be: each change of the verdict, the real operator beside it, exit 0', () => {
  const { text, code } = replay(recorded('operator-v1.6.0-v1.7.0'))
  expect(code).toBe(0)
  expect(text).toContain('   169.1  KubeVirt itself: done')
  expect(text).toContain('   169.1  kvup: Healthy, doubts: handler-roll-to-come')
  expect(text).toContain(
    'done at 169.1 s: settled 0.0 s behind it; doubts until its end at 289.5 s: handler-roll-to-come',
  )
  expect(text).toMatch(/never done before KubeVirt, and never more than 5 s behind it$/)
})

test('into v1.9.0 there is no doubt, though its virt-template pods bear no label kubevirt.io', () => {
  const { text, code } = replay(recorded('operator-v1.8.4-v1.9.0'))
  expect({ code, doubts: text.includes('doubts') }).toEqual({ code: 0, doubts: false })
  expect(text).toContain('done at 111.2 s: settled 0.0 s behind it')
})

test('a component that Kubernetes never counts as updated is told as late, exit 1', () => {
  const bytes = changed('operator-v1.8.4-v1.9.0', (line) =>
    line.includes('"kind":"Deployment"') && line.includes('"name":"virt-exportproxy"')
      ? line
          .replaceAll('"readyReplicas":2', '"readyReplicas":0')
          .replaceAll('"readyReplicas":1', '"readyReplicas":0')
      : line,
  )
  const { text, code } = replay(bytes)
  expect(code).toBe(1)
  expect(text).toContain("LATE: more than 5 s behind KubeVirt's own done at 111.2 s")
})

describe('bad input is a plain error, exit 2', () => {
  const lines = zlib.gunzipSync(recorded('badtag-v1.8.4-v1.8.5')).toString().split('\n')
  const without = (kind: string) => lines.filter((line) => !line.includes(`"kind":"${kind}"`)).join('\n')
  test.each([
    ['nothing', new Uint8Array(), /it is empty$/],
    ['an empty recording', packed(''), /nothing was recorded$/],
    ['text that is not compressed', Buffer.from('{"t":1}\n'), /not compressed with gzip/],
    [
      'half of one',
      recorded('badtag-v1.8.4-v1.8.5').subarray(0, 9000),
      /cut off: the recorder was not ended/,
    ],
    [
      'a damaged one',
      Buffer.concat([recorded('badtag-v1.8.4-v1.8.5').subarray(0, 20), Buffer.alloc(500, 7)]),
      /cannot be unpacked|cut off/,
    ],
    ['no KubeVirt', packed(without('KubeVirt')), /there is no KubeVirt in it$/],
    ['no JSON', packed('{"t":1,\n'), /line 1 is no JSON$/],
    ['JSON of something else', packed('{"kind":"List","items":[]}\n'), /line 1 is no line of a recording/],
    [
      'an object without a name',
      packed('{"t":1,"type":"ADDED","object":{"kind":"Pod"}}\n'),
      /line 1 is no line of a/,
    ],
    ['no wall-clock time', packed('{"t":1,"note":"x"}\n'), /line 1 has no wall-clock time/],
    [
      'a name with an escape',
      packed('{"t":1,"at":"2026-11-22T00:00:00Z","note":"\\u001b[31m"}\n'),
      /no KubeVirt in it$/,
    ],
  ])('%s', (_name, bytes, expected) => {
    const { text, code } = replay(bytes)
    expect(code).toBe(2)
    expect(text).toMatch(/^error: x\.ndjson\.gz cannot be judged: /)
    expect(text).toMatch(expected)
    expect(text).not.toContain('\n')
  })

  test('two KubeVirts', () => {
    const second = lines
      .filter((line) => line.includes('"kind":"KubeVirt"'))
      .slice(0, 1)
      .map((line) => line.replaceAll('"name":"kubevirt"', '"name":"other"'))
    expect(replay(packed([...lines.filter(Boolean), ...second].join('\n')))).toMatchObject({
      code: 2,
      text: expect.stringContaining('the cluster has 2 KubeVirts (kubevirt/kubevirt, kubevirt/other)'),
    })
  })

  test('a file that is not there', () => {
    const gone = replayText('gone.gz', () => fs.readFileSync('/nowhere/gone.gz'))
    expect(gone).toMatchObject({ code: 2, text: expect.stringContaining('ENOENT') })
  })
})
